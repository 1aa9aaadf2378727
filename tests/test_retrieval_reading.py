"""Collections and topics: every layout, odd bytes, broken markup, and the word that each gets."""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.io.table_files import layout_of
from amble.io.trec import qrels_text, run_text
from amble.retrieval.documents import Document, read_documents
from amble.retrieval.markup import parts, plain

Write = Callable[[str, str | bytes], str]


def read(*sources: object, **options: object) -> dict[str, str]:
    """Ids and texts, blanks made one."""
    return {doc.id: " ".join(doc.text.split()) for doc in read_documents(*sources, **options)}  # type: ignore[arg-type]


# ---- documents


def test_trec(write: Write) -> None:
    path = write(
        "docs.trec",
        "<DOC>\n<DOCNO> FT911-3 </DOCNO>\n<HEADLINE>Profit &amp; loss</HEADLINE>\n<TEXT>\n<P>one&hyph;two\n</P>"
        "three <F P=100>four</F>\n</TEXT>\n</DOC>\n"
        "<DOC><DOCNO>b</DOCNO>text outside of tags</DOC><doc><docno>c</docno></doc>",
    )
    assert read(path) == {"FT911-3": "Profit & loss one two three four", "b": "text outside of tags", "c": ""}
    assert read(path, fields=["headline"])["FT911-3"] == "Profit & loss"
    assert read(path, fields=["text"]) == {"FT911-3": "one two three four", "b": "text outside of tags", "c": ""}


def test_several_ids(write: Write) -> None:
    """The usual one counts, wherever it stands; none of them is text."""
    path = write("la", "<DOC><DOCID> 7 </DOCID><DOCNO> LA010189-0001 </DOCNO><P>word</P></DOC>")
    assert read(path) == {"LA010189-0001": "word"}
    assert read(write("o.jsonl", '{"id": "7", "docno": "x", "text": "word"}')) == {"x": "word"}


def test_xml_with_comments_and_verbatim_text(write: Write) -> None:
    path = write(
        "docs.xml",
        '<?xml version="1.0"?>\n<docs>\n<!-- not a document -->\n<document id="7">'
        "<text><![CDATA[a < b & c]]> <!-- gone --> 5 < 6</text></document>\n</docs>",
    )
    assert read(path) == {"7": "a < b & c 5 < 6"}


def test_json_lines(write: Write) -> None:
    path = write(
        "docs.jsonl",
        '{"_id": "x", "title": "Caffè", "text": "espresso", "metadata": {"n": 1}, "year": 1999}\n'
        '\n{"id": 12, "contents": "12"}\n',
    )
    assert read(path) == {"x": "Caffè espresso", "12": "12"}
    assert read(path, fields=["title"]) == {"x": "Caffè", "12": ""}


def test_dotted(write: Write) -> None:
    path = write(
        "CISI.ALL",
        ".X\n.I 1\n.T \nA title\n.A\nSomeone, A.\n.A\nAnother\n.W\nText that\n"
        ".NET begins with a dot\n.X\n1\t5\t1\n.I 2\n.W\nmore\n",
    )
    assert read(path) == {"1": "A title Someone, A. Another Text that .NET begins with a dot", "2": "more"}
    assert read(path, fields=["title", "text"])["1"] == "A title Text that .NET begins with a dot"


def test_tsv_and_compression(write: Write) -> None:
    path = write("docs.tsv.gz", gzip.compress(b"d1\tcaesar died in march\r\nd2\tthe long\tmarch\n"))
    assert read(path) == {"d1": "caesar died in march", "d2": "the long march"}


def test_folder_and_several(tmp_path: Path) -> None:
    for name, text in (("b/2.tsv", "y\ttwo"), ("a.tsv", "x\tone"), (".hidden", "nothing of ours")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert list(read(tmp_path)) == ["x", "y"]
    assert list(read(str(tmp_path / "b"), tmp_path / "a.tsv", {"z": "three"}, [("w", "four")])) == ["y", "x", "z", "w"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(amble.ReadError, match="a folder without files, expected a collection"):
        read(tmp_path / "empty")


def test_encodings(write: Write) -> None:
    latin = "d1\tcafé\n".encode("latin-1")
    path = write("latin.tsv", latin)
    with pytest.raises(amble.ReadError, match=r"latin\.tsv:1: byte 0xe9 \(character 7\) is not UTF-8, expected text"):
        read(path)
    assert read(path, encoding="latin-1") == {"d1": "café"}
    declared = write("d.xml", b"<?xml version='1.0' encoding='ISO-8859-1'?>\n<DOC><DOCNO>1</DOCNO>caf\xe9</DOC>")
    assert read(declared) == {"1": "café"}
    assert read(write("bom.tsv", b"\xef\xbb\xbfd1\tone")) == {"d1": "one"}
    with pytest.raises(amble.ReadError, match="UTF-16, expected UTF-8"):
        read(write("wide.tsv", "d1\tone".encode("utf-16")))
    for encoding in ("klingon", "utf-16", "rot13", "undefined", "punycode", "idna", "utf-7", "raw_unicode_escape"):
        with pytest.raises(amble.AmbleError, match=f"encoding '{encoding}'"):
            read(path, encoding=encoding)
        with pytest.raises(amble.AmbleError, match=f"d.xml:1: encoding '{encoding}'"):
            read(write("d.xml", f"<?xml version='1.0' encoding='{encoding}'?>\n<DOC><DOCNO>1</DOCNO>\\ud800</DOC>"))
    for encoding in ("\udcff", "a\0b"):
        with pytest.raises(amble.AmbleError, match="is unknown"):
            read(path, encoding=encoding)
    japanese = write("j.tsv", "d1\t日本 a~b\\n".encode("shift_jis"))
    assert read(japanese, encoding="shift_jis") == {"d1": "日本 a~b\\n"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "empty, expected documents"),
        (" \n\n", "empty, expected documents"),
        ("just words\n", r":1: found 'just words', expected <doc>, a JSON object, .I 1, or an id, a tab and text"),
        ("<DOC>\n<DOCNO>1</DOCNO>\n<DOC>", r":3: <DOC> inside the one of line 1, expected </doc> before it"),
        ("<DOC>\n<DOCNO>1</DOCNO>\n", r":1: <doc> is not closed before the end of the file \(line 2\)"),
        ("<DOC><DOCNO>1</DOCNO></DOC>\n</DOC>", r":2: </DOC> without <DOC> before it"),
        ("<DOC>\nwords\n</DOC>", ":1: a document without <docno>"),
        ("<DOC><DOCNO> </DOCNO></DOC>", ":1: the id of a document is empty"),
        ("<DOC><DOCNO>a b</DOCNO></DOC>", ":1: id 'a b' of a document has a blank in it"),
        ("<html><body>no</body></html>", "no <doc> in it, expected documents"),
        ('{"id": "1", "text": "a"}\n{"id": "2", "te\n', r":2: found .* expected a JSON object a line: "),
        ('{"id": "1"}\n[1]\n', r":2: found '\[1\]', expected a JSON object"),
        ('{"text": "1"}\n', r":1: a document without an id, expected 'docno', "),
        ('{"id": 1.5, "text": ""}\n', r":1: id 1.5 of a document, expected a string"),
        ('{"id": true}\n', ":1: id True of a document, expected a string"),
        ('{"id": "a", "text": "\\ud800"}\n', r":1: found half of a character"),
        ("{" + '"a":[' * 100_000, ":1: found .* expected a JSON object a line"),
        ("d1\tone\nd2 two\n", ":2: found 'd2 two', expected an id, a tab and text"),
        (".X\n1\t5\t1\n", r"no line such as \.I 1 in it, expected documents"),
        (".I\n.W\ntext\n", ":1: the id of a document is empty"),
    ],
)
def test_what_is_wrong_is_said(write: Write, text: str, expected: str) -> None:
    path = write("docs", text)
    with pytest.raises(amble.ReadError, match=expected) as raised:
        read(path)
    assert str(raised.value).startswith(path)
    assert "\n" not in str(raised.value)


def test_a_field_that_no_document_has(write: Write) -> None:
    path = write("docs.jsonl", '{"id": "1", "title": "a", "body": "b"}')
    with pytest.raises(amble.ReadError, match="no document has a field abstract; there are title, body"):
        read(path, fields=["abstract"])
    with pytest.raises(amble.ReadError, match="expected a list of names"):
        read(path, fields="title")


@pytest.mark.parametrize("source", [7, [("a", 1)], [("a",)], {"a b": "c"}, {"": "c"}, {"a": "\ud800"}])
def test_wrong_data_in_memory(source: object) -> None:
    with pytest.raises(amble.ReadError, match="^collection: "):
        read(source)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(amble.ReadError, match="no such file"):
        read(tmp_path / "nothing")
    with pytest.raises(amble.ReadError, match="no collection given"):
        read()


def test_tags_without_an_end() -> None:
    found = parts("<num> Number: 401\n<title> foreign minorities\n<desc> Description:\nWhat?</desc> tail")
    assert [(part.tag, plain(part.body).strip()) for part in found] == [
        ("num", "Number: 401"),
        ("title", "foreign minorities"),
        ("desc", "Description:\nWhat?"),
        ("", "tail"),
    ]


# ---- topics

TREC = """<top>

<num> Number: 401
<title> foreign minorities, Germany

<desc> Description:
What language and cultural differences impede
integration?

<narr> Narrative:
A relevant document: one
</top>
<top>
<num> Number: 402
<title> Topic: behavioral genetics
<desc> Description:
What is happening?
<narr> Narrative:
Documents.
</top>
"""

# the layout of CLEF's multilingual topics
CLEF = """<?xml version="1.0" encoding="UTF-8"?>
<topic>
  <identifier>41</identifier>
  <title lang="en">Pesticides in Baby Food</title>
  <title lang="it">Pesticidi negli alimenti per bambini</title>
  <title lang="ru">Пестициды в детском питании</title>
  <description lang="en">Find reports.</description>
  <description lang="it">
     Trova documenti.
  </description>
</topic>
"""


def test_trec_topics(write: Write) -> None:
    path = write("topics", TREC)
    assert amble.read_topics(path) == {"401": "foreign minorities, Germany", "402": "behavioral genetics"}
    both = amble.read_topics(path, fields=["title", "description"])
    assert both["401"] == "foreign minorities, Germany What language and cultural differences impede integration?"
    assert amble.read_topics(path, fields=["narrative"])["401"] == "A relevant document: one"
    assert list(amble.read_topics(path, renumber=True)) == ["1", "2"]
    with pytest.raises(amble.ReadError, match=r"topics:1: topic 401 has no summary; it has title, desc, narr"):
        amble.read_topics(path, fields=["summary"])


def test_topics_in_several_languages(write: Write) -> None:
    path = write("clef.xml", CLEF)
    assert amble.read_topics(path, language="en") == {"41": "Pesticides in Baby Food"}
    assert amble.read_topics(path, language="IT", fields=["title", "description"]) == {
        "41": "Pesticidi negli alimenti per bambini Trova documenti."
    }
    assert amble.read_topics(path, language="ru") == {"41": "Пестициды в детском питании"}
    with pytest.raises(amble.ReadError, match=r"several languages \(en, it, ru\), expected one to be chosen"):
        amble.read_topics(path)
    with pytest.raises(amble.ReadError, match="no topic in language 'de'; there are en, it, ru"):
        amble.read_topics(path, language="de")
    with pytest.raises(amble.ReadError, match="topic 41 has no description; it has title"):
        amble.read_topics(path, language="ru", fields=["description"])


def test_languages_said_otherwise(write: Write) -> None:
    old = "<top><num> C041 </num><EN-title> Pesticides </EN-title><IT-title> Pesticidi </IT-title></top>"
    assert amble.read_topics(write("old", old), language="it") == {"C041": "Pesticidi"}
    new = (
        '<topics><topic lang="en"><identifier>1</identifier><title>one</title></topic>'
        '<topic lang="de"><identifier>1</identifier><title>eins</title></topic></topics>'
    )
    assert amble.read_topics(write("new", new), language="de") == {"1": "eins"}
    odd = '<top><num>1</num><title lang=" EN\n">one</title><title lang="it">uno</title></top>'
    with pytest.raises(amble.ReadError, match=r"several languages \(en, it\)"):
        amble.read_topics(write("odd", odd))
    objects = '{"id": "1", "lang": "en", "title": "one"}\n{"id": "1", "lang": "de", "title": "eins"}\n'
    assert amble.read_topics(write("o.jsonl", objects), language="en") == {"1": "one"}


@pytest.mark.parametrize(
    "text",
    [
        '<topics><topic number="7"><query>ides of march</query><question>when?</question></topic></topics>',
        "<topics><topic><number>7</number><title>ides of march</title></topic></topics>",
        '{"query_id": "7", "text": "ides of march"}',
        '{"qid": 7, "query": "ides of march"}',
        ".I 7\n.W\nides of\nmarch\n",
        "7\tides of march\n",
    ],
)
def test_other_layouts_of_topics(write: Write, text: str) -> None:
    assert amble.read_topics(write("topics", text)) == {"7": "ides of march"}


def test_topics_that_are_wrong(write: Write) -> None:
    with pytest.raises(amble.ReadError, match=r"t:2: topic 1 is there twice \(first at .*t:1\)"):
        amble.read_topics(write("t", "1\tone\n1\ttwo\n"))
    with pytest.raises(amble.ReadError, match="a topic without <num>"):
        amble.read_topics(write("n", "<top><title>one</title></top>"))
    with pytest.raises(amble.ReadError, match="no language is said in it"):
        amble.read_topics(write("l", "1\tone\n"), language="en")
    for wrong in (7, {1: "one"}, {"1": 1}, {"a b": "c"}):
        with pytest.raises(amble.ReadError, match="^topics: "):
            amble.read_topics(wrong)
    with pytest.raises(amble.ReadError, match="expected a list of names"):
        amble.read_topics(write("t2", "1\tone\n"), fields="title")


# ---- judgments of SMART's collections


def test_read_rel(write: Write) -> None:
    path = write("CISI.REL", "     1     28\t0\t0.000000\n     1     35\t0\t0.000000\n02 0007 0 0\n")
    assert amble.read_rel(path) == {"1": {"28": 1.0, "35": 1.0}, "2": {"7": 1.0}}
    assert len(amble.read_qrels(amble.read_rel(path))) == 3
    for text, expected in (
        ("1 0 28 1\n", ":1: found '1 0 28 1', expected zeros after topic and document"),  # TREC's
        ("1 x\n", ":1: found '1 x', expected two whole numbers"),
        ("", ": empty, expected lines: topic document"),
    ):
        with pytest.raises(amble.AmbleError, match=expected):
            amble.read_rel(write("wrong.rel", text))


# ---- ir_datasets


class _Doc(NamedTuple):
    doc_id: str
    title: str
    text: str
    year: int


class _Query(NamedTuple):
    query_id: str
    text: str


class _Dataset:
    """What ir_datasets.load returns, as far as it is used."""

    def __init__(self, queries: bool) -> None:
        self._queries = queries

    def has_docs(self) -> bool:
        return True

    def has_queries(self) -> bool:
        return self._queries

    def docs_iter(self) -> list[_Doc]:
        return [_Doc("d1", "Caesar", "died in march", -44), _Doc("d2", "", "the long march", 1934)]

    def queries_iter(self) -> list[_Query]:
        return [_Query("1", "ides of march")]


class _Datasets:
    """In place of the module."""

    @staticmethod
    def load(name: str) -> _Dataset:
        if name == "broken":
            raise OSError("no network\nand more")
        return {"small": _Dataset(True), "documents": _Dataset(False)}[name]


def test_ir_datasets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", _Datasets())
    assert read("irds:small") == {"d1": "Caesar died in march", "d2": "the long march"}
    assert read("irds:small", fields=["text"])["d1"] == "died in march"
    assert amble.read_topics("irds:small") == {"1": "ides of march"}
    for name, expected in (
        ("irds:nothing", "irds:nothing: ir_datasets knows no such collection"),
        ("irds:documents", "irds:documents: has no queries, expected a collection that has them"),
        ("irds:broken", "irds:broken: ir_datasets could not read it: OSError: no network$"),
    ):
        with pytest.raises(amble.ReadError, match=expected):
            amble.read_topics(name)
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(amble.ReadError, match=r"pip install 'amble-ir\[data\]'"):
        read("irds:small")


def test_documents_pass_through() -> None:
    assert list(read_documents([Document("a", "b", "there")])) == [Document("a", "b", "there")]


# ---- real files


def test_real_collections(data: Path) -> None:
    folder = data / "collections"
    if not folder.is_dir():
        pytest.skip("real data: no collections/ in the folder that AMBLE_DATA names")
    cranfield, cisi, vaswani = (folder / name for name in ("cranfield", "cisi", "vaswani"))
    documents = read(cranfield / "cran.all.1400.xml.gz", fields=["title"])
    assert len(documents) == 1400
    assert documents["1"] == "experimental investigation of the aerodynamics of a wing in a slipstream ."
    topics = amble.read_topics(cranfield / "cran.qry.xml.gz")
    assert len(topics) == 225
    assert list(topics)[:4] == ["1", "2", "4", "8"]
    assert list(amble.read_topics(cranfield / "cran.qry.xml.gz", renumber=True).values()) == list(topics.values())
    assert len(read(cisi / "CISI.ALL.gz")) == 1460
    assert read(cisi / "CISI.ALL.gz", fields=["author"])["2"] == "Slater, M."
    assert len(amble.read_topics(cisi / "CISI.QRY.gz")) == 112
    judged = amble.read_rel(cisi / "CISI.REL.gz")
    assert (len(judged), sum(map(len, judged.values()))) == (76, 3114)
    assert len(read(vaswani / "corpus" / "doc-text.trec.gz")) == 11429
    assert len(amble.read_topics(vaswani / "query-text.trec.gz")) == 93


def test_the_real_ir_datasets(write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "irds"))
    ir_datasets = pytest.importorskip("ir_datasets", reason="the extra data is not installed")
    made = ir_datasets.create_dataset(
        docs_tsv=write("docs.tsv", "d1\tcaesar died in march\nd2\tthe long march\n"),
        queries_tsv=write("queries.tsv", "1\tides of march\n"),
    )
    monkeypatch.setattr(ir_datasets, "load", {"small": made}.__getitem__)
    assert read("irds:small") == {"d1": "caesar died in march", "d2": "the long march"}
    assert amble.read_topics("irds:small") == {"1": "ides of march"}
    with pytest.raises(amble.ReadError, match="ir_datasets knows no such collection"):
        read("irds:other")


def test_open_tags_and_comments_without_end() -> None:
    """Each is looked for once: with 100,000 of them, what grew with the square took minutes."""
    assert {part.tag for part in parts("<p></p>" * 100_000)} == {"p"}
    assert parts("<!-- " * 100_000 + "end")[0].body.endswith("end")
    assert [part.body for part in parts("a<!-- b -->c<!-- d<![CDATA[<e>]]><?f ?>g")] == ["a c<!-- d&lt;e&gt; g"]


def test_ids_that_runs_cannot_hold(write: Write) -> None:
    with pytest.raises(amble.ReadError, match=r":1: id 'a\\x00b' of a document has control byte 0x00 in it"):
        list(read_documents(write("d", "a\0b\ttext\n")))
    path = write("t", "1\tone\n#2\ttwo\n")
    with pytest.raises(amble.ReadError, match=r"t:2: id '#2' of a topic begins with #"):
        amble.read_topics(path)
    with pytest.raises(amble.ReadError, match=r"topics: id '#2' of a topic begins with #"):
        amble.read_topics({"#2": "two"})
    assert amble.read_topics(path, renumber=True) == {"1": "one", "2": "two"}


@pytest.mark.parametrize("code", [*range(1, 9), *range(14, 32)])
def test_control_bytes_that_the_reader_refuses(write: Write, code: int) -> None:
    name = f"a{chr(code)}b"
    told = f"has control byte 0x{code:02x} in it"
    index = amble.index({"d": "march"}, language="none")
    for refused in (
        lambda: list(read_documents(write("d", json.dumps({"id": name, "text": ""})))),
        lambda: list(read_documents({name: "text"})),
        lambda: amble.read_topics(write("t", json.dumps({"id": name, "title": ""}))),
        lambda: amble.read_topics({name: "text"}),
        lambda: amble.search(index, {"1": "march"}, tag=name),
        lambda: run_text(amble.fuse({"x": {"1": {"d": 1.0}}, "y": {"1": {"d": 1.0}}}, tag=name).documents(), name),
        lambda: qrels_text(["1"], [name], [1.0]),
    ):
        with pytest.raises(amble.AmbleError, match=told):
            refused()
    with pytest.raises(amble.ReadError, match=f"control byte 0x{code:02x} in the line"):
        amble.read_qrels(write("q", f"1 0 {name} 1\n"))


@given(st.text(min_size=1, max_size=4), st.text(min_size=1, max_size=4))
def test_what_is_written_is_read(topic: str, doc: str) -> None:
    try:
        line = qrels_text([topic], [doc], [2.0])
    except amble.AmbleError:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "q")
        path.write_bytes(line.encode("utf-8", "surrogateescape") + b"\n")
        assert amble.read_qrels(path).to_dict() == {topic: {doc: 2.0}}


@pytest.mark.parametrize(
    ("topic", "refused"),
    [("PAR1", False), ("PAR10", False), ("BZ1", False), ("(1", False)]
    + [(topic, True) for topic in ("{}", "[]", '{"', "[[", "BZh", "BZh9", "(\udcb5/\udcfd")],
)
def test_topics_that_look_like_another_format(topic: str, refused: bool, write: Write) -> None:
    if refused:
        with pytest.raises(amble.AmbleError, match="begins as a file of another format does"):
            qrels_text([topic], ["a"], [2.0])
    else:
        assert amble.read_qrels(write("q", qrels_text([topic], ["a"], [2.0]))).to_dict() == {topic: {"a": 2.0}}
    assert qrels_text(["1"], [topic], [2.0]) == f"1 0 {topic} 2"  # a document may have any of these names


@pytest.mark.parametrize("length", [4, 5, 12])
def test_parquet_is_known_by_what_a_pipe_brings_first(length: int) -> None:
    begins = b"PAR1\x15\x04\x15\x18\x15\x1c\x4c\x15"  # a header of pages; the first byte of 0 may come much later
    assert layout_of(begins[:length], "-") == "Parquet"
    assert layout_of(b"PAR1\t0\td\t1\r\n", "-") == ""


def test_a_number_that_is_too_long(write: Write) -> None:
    with pytest.raises(amble.ReadError, match=r":1: .*a number too long"):
        list(read_documents(write("d", '{"id": ' + "1" * 5000 + "}\n")))


def test_lists_of_strings_in_json(write: Write) -> None:
    line = '{"id": "a", "text": ["one", "two"], "year": [1990], "mixed": ["no", 1], "none": []}'
    path = write("d", line + "\n")
    assert read(path) == {"a": "one two"}
    assert read(path, fields=["text"]) == {"a": "one two"}
