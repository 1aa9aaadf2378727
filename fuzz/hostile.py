"""What commands are attacked with: small good files, spoilt ones, and extreme words for options of every kind."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

TOPICS, DOCUMENTS = 6, 12
NASTY = "</script><script>alert(1)</script>"
LONG = "a" * 250
CR_LF = "\r\n"

# ---- words for options

NUMBERS = (
    "0", "-1", "1", "2", "2147483648", "9223372036854775807", "9223372036854775808", "1" + "0" * 30, "-1" + "0" * 30,
    "9" * 5000, "1_0", "٣", "１", "", " ", "+3", " 4 ", "0x10", "1.5", "-0", "0.5", "nan", "-nan", "inf", "-inf",
    "1e308", "-1e308", "1e309", "5e-324", "1e-30", "0.9999999999999999", "x", "1,2", "1\n2", "\udcff",
)  # fmt: skip
TEXTS = (
    "", " ", ",", "=", ":", "x", "a,b,,c", "1,1,1", "0,1,2", "-1,2", "1,nan", "inf,1", "1e308,1e308", "1_0,2", "٣,1",
    "10:1,5:0.5", "5:0,10:1", "1:nan", "1" + "0" * 30 + ":1", "a=1,b=2", "a.run=1,b.run=inf", "a=b=c", "session=x",
    "session=session,rank=rank", "click=query", "'", '"', "\\", "\n", "a\nb", "\t", "\x1b[31mred\x1b[0m", NASTY,
    "\u2028", "\udcff", "é", "%s%n%x", "{}", "{0.__class__}", "$(id)", "`id`", "../../x", "--", "-1", "all", "none",
    "constructor", "__proto__", "a" * 100_000, "[" * 5000, "1" * 5000, "((((", "AP", "english", "latin-1", "undefined",
    "punycode", "utf-16", "idna", "rot13", "zlib", "0=no,1=yes", "1=,0=", "1=a,1=b", "topics", "401", "bm25",
    "lm(mu=0)", "lm(mu=1e308)", "bm25(k1=-1)", "bm25(k1=nan)", "bm25(k1=1e308,b=1)", "cosine(weights='xxx.yyy')",
    "nDCG@10 drops by 0.1", "AP drops by nan", "AP drops by -1", "AP drops by", "walk,times", "parameters,choice",
)  # fmt: skip
MEASURES = (
    "P@0", "P@-1", "P@1.5", "P@1_0", "P@٣", "P@" + "9" * 30, "nDCG@" + "9" * 5000, "AP@", "@", "nDCG@1", "RBP(p=0)",
    "RBP(p=1)", "RBP(p=-1)", "RBP(p=nan)", "RBP(p=1e308)", "RBP(p=5e-324)", "RBP(p=0.9999999999999999)", "RBP(p=",
    "RBP(p=.5,p=.6)", "RBP(q=1)", "RBP(p=Beta(1e308,1))", "RBP(p=Uniform(0.2,0.8))", "RBP(p=Uniform(0,1))",
    "RBP(p=Normal(0,1e308))", "ERR(max_grade=Uniform(3,5))", "ERR(max_grade=0)", "ERR(max_grade=1e308)",
    "Q(beta=1e308)", "Q(beta=5e-324)", "INST(T=1e308)", "INST(T=5e-324)", "INSQ(T=1e308)", "F(beta=1e200)",
    "F(beta=5e-324)", "nDCG(base=1)", "nDCG(base=1e308)", "nDCG(base=1.0000000000000002)", "AP(rel=1e308)",
    "AP(rel=-1)", "AP(rel=nan)", "nDCG(gains='0=0,1=1e308')", "nDCG(gains='2**grade-1')", "nDCG(gains='x')",
    "PH(p=.5,q=.25)", "PH(p=1,q=0,loss=0)", "PH(p=.5,q=.5)", "PH(p=.3,q=.7)", "PH(p=5e-324,q=0)",
    "PH(utility='1,.5,.7')", "PH(utility='1=1,.5;2=3')", "PH(utility='')", "PH(utility='.')", "PH(utility='1=')",
    "PH(utility='qrels.txt')", "PH(visits='1')", "PH(user='fit.toml')", "PH(user='missing.toml')",
    "PH(user='.')", "PH(user='deep.toml')", "PH(user='qrels.txt')", "MP", "MP(steps=5)", "MP(steps=0)",
    "MP(steps=1000000)", "MP(steps=" + "9" * 30 + ")", "MP(model='GL_AD_ID')", "IPrec@0.1", "IPrec@nan", "IPrec@2",
    "TBG", "TBG(h=1e308)", "TBG(h=5e-324)", "U(L=1e308)", "BPM(T=1e308)", "IFT", "MsM", "sDCG", "sRBP(p=1,b=1)",
    "sDCG(b=1,bq=1)", "esAP", "CubeTest", "GMAP", "infAP", "bpref", "Rprec", "Judged@10", "all_trec", "map", "P_10",
    "ndcg_cut_10", "AP,AP", "AP RBP", "A" * 10_000, "(" * 5000, "AP" + "(" * 2000, "AP(" + "a=1," * 2000, "__init__",
    "RBP()", "RBP(p='')", "RBP(p=\n.5)", "RBP(p=.5)\u2028", "ＡＰ", "RBP(p=1_0)", "AP # x", "AP;P@5", "exec('x')",
)  # fmt: skip

# ---- files


def _run(tag: str, shift: int, topics: int = TOPICS) -> str:
    return "".join(
        f"{401 + t} Q0 d{(i * (shift + 1) + shift + t) % 17} {i + 1} {20 - i - (i % 3 == shift) * 0.5} {tag}\n"
        for t in range(topics)
        for i in range(DOCUMENTS)
    )


def _qrels() -> str:
    return "".join(f"{401 + t} 0 d{i} {(i * 7 + t) % 4 % 3}\n" for t in range(TOPICS) for i in range(15))


def _log(sessions: int = 40) -> str:
    lines = []
    for i in range(sessions):
        lines.append(f"s{i}\t0\tQ\t{401 + i % 3}\t0\t" + "\t".join(f"d{j}" for j in range(5)))
        lines += [f"s{i}\t{5 * k + i % 7 + 1}\tC\td{rank}" for k, rank in enumerate([2, 0, 3][: 1 + i % 3])]
    return "\n".join(lines) + "\n"


def _table(sessions: int = 40) -> str:
    rows = ["session,query,rank,time,action,doc,grade"]
    for i in range(sessions):
        rows.append(f"s{i},q{i % 3},,0,query,,")
        rows += [f"s{i},q{i % 3},{r},{5 * k + i % 7 + 1},click,d{r},{r % 2}" for k, r in enumerate([3, 1, 4][: i % 3])]
    return "\n".join(rows) + "\n"


GOOD: dict[str, str] = {
    "qrels.txt": _qrels(),
    "a.run": _run("a", 0),
    "b.run": _run("b", 1),
    "c.run": _run("c", 2),
    "sessions.tsv": "".join(f"s{i // 2} {i % 2 + 1} {401 + i} {401 + i}\n" for i in range(TOPICS)),
    "log.json": '[{"session": "a", "queries": [[1, 0], [0, 1]]}, {"session": "b", "queries": [[0, 1]]}]',
    "scores.tsv": "run\ttopic\tmeasure\tvalue\n"
    + "".join(f"a\t{401 + t}\t{m}\t{(7 * t + k) % 5 / 5}\n" for t in range(TOPICS) for k, m in enumerate(("AP", "RR"))),
    "documents.tsv": "".join(f"d{i}\t{['north', 'south'][i % 2]}\n" for i in range(12)),
    "labels.txt": "".join(f"{401 + t} {t % 3}\n" for t in range(TOPICS)),
    "log.tsv": _log(),
    "log.csv": _table(),
    "docs.tsv": "".join(f"d{i}\tcaesar number {i} died in march {'long ' * (i % 3)}\n" for i in range(17)),
    "topics.tsv": "".join(f"{401 + t}\tides of march {t}\n" for t in range(TOPICS)),
    "pool.txt": "".join(f"{401 + t} 0 d{i} -2\n" for t in range(TOPICS) for i in range(4)),
    "second.txt": _qrels().replace(" 2\n", " 1\n"),
    "costs.txt": "".join(f"d{i} {i % 5 + 1}\n" for i in range(17)),
    "zscores.txt": "".join(f"{401 + t} AP 0.5 0.1\n" for t in range(TOPICS)),
    "groups.txt": "a one\nb one\nc two\n",
    "plugin.py": (
        "from typing import Annotated\n"
        "from amble.measures import Above, Forward, measure\n\n"
        '@measure("Zipf", question="order2")\n'
        'def zipf(s: Annotated[float, Above(0), "how soon she tires"] = 1.0):\n'
        '    """She gets to rank i with probability 1 / i^s."""\n'
        "    return Forward(visits=lambda rank: rank**-s)\n"
    ),
    "report.toml": 'qrels = "qrels.txt"\nruns = ["a.run", "b.run"]\nmeasures = ["AP"]\noutput = "made.html"\n',
    "gate.toml": (
        'qrels = "qrels.txt"\nruns = ["b.run", "a.run"]\nbaseline = "b.run"\nfail-if = ["AP"]\noutput = "made.html"\n'
    ),
    "words.txt": "the of in\n",
}

SPOILT: dict[str, bytes] = {
    "empty.txt": b"",
    "blank.txt": b"\n\n \n\t\n",
    "nul.run": GOOD["a.run"].encode().replace(b"d3", b"d\x003", 1),
    "cr.run": GOOD["a.run"].replace("\n", "\r").encode(),
    "crlf.run": GOOD["a.run"].replace("\n", CR_LF).encode(),
    "bom.run": b"\xef\xbb\xbf" + GOOD["a.run"].encode(),
    "utf16.run": GOOD["a.run"].encode("utf-16"),
    "bytes.bin": bytes(range(256)) * 8,
    "odd.run": os.fsencode(_run("constructor", 1).replace("d3", "d\udcff").replace("d4", "</script>")),
    "line-separator.run": _run("x\u2028y", 2).replace("402", "4\u20282").encode(),
    "nasty.run": _run("<script>alert(1)</script>", 2).encode(),
    "all.run": _run("all", 1).replace("402 Q0", "all Q0").encode(),
    "twice.run": (GOOD["a.run"] + GOOD["a.run"]).encode(),
    "columns.run": b"401 Q0 d1 1\n402 d2\n",
    "scores.run": b"401 Q0 d1 1 nan x\n401 Q0 d2 2 inf x\n401 Q0 d3 3 -inf x\n",
    "huge.run": b"401 Q0 d1 1 1e308 x\n401 Q0 d2 2 5e-324 x\n401 Q0 d3 3 -1e308 x\n",
    "others.run": GOOD["a.run"].replace(" d", " other").encode(),
    "topicless.run": GOOD["a.run"].replace("40", "90").encode(),
    "huge.qrels": b"".join(b"%d 0 d%d 1e%d\n" % (401 + i % TOPICS, i, 60 * i % 309) for i in range(17)),
    "nan.qrels": b"401 0 d1 nan\n401 0 d2 1\n",
    "negative.qrels": GOOD["qrels.txt"].replace(" 0\n", " -1\n").encode(),
    "zero.qrels": GOOD["qrels.txt"].replace(" 1\n", " 0\n").replace(" 2\n", " 0\n").encode(),
    "hash.qrels": b"#1 0 d1 1\n401 0 d1 1\n",
    "long.txt": b"401 Q0 " + b"d" * 1_100_000 + b" 1 1 x\n",
    "cut.run.gz": gzip.compress(GOOD["a.run"].encode(), mtime=0)[:-30],
    "crc.run.gz": gzip.compress(GOOD["a.run"].encode(), mtime=0)[:-8] + b"\0\0\0\0" + b"\x01\0\0\0",
    "cut.run.bz2": bz2.compress(GOOD["a.run"].encode())[:-30],
    "cut.run.xz": lzma.compress(GOOD["a.run"].encode())[:-30],
    "second.run.xz": lzma.compress(GOOD["a.run"].encode()) + lzma.compress(GOOD["b.run"].encode())[:-9] + b"xxxxxxxxx",
    "not.gz": GOOD["a.run"].encode(),
    "good.run.gz": gzip.compress(GOOD["c.run"].encode(), mtime=0),
    "cut.tsv.gz": gzip.compress(GOOD["log.tsv"].encode(), mtime=0)[:-30],
    "log[1].tsv": GOOD["log.tsv"].encode(),
    "deep.toml": b"a" + b".a" * 5000 + b" = 1\n",
    "digits.toml": b"version = " + b"9" * 5000 + b"\nalpha = " + b"1" * 400 + b"\n",
    "nested.toml": b"a = " + b"[" * 5000 + b"]" * 5000 + b"\n",
    "deep.json": b"[" * 50_000 + b"]" * 50_000,
    "deep.xml": b"<a>" * 20_000,
    "bomb.xml": b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><sessiontrack2014>&b;</sessiontrack2014>',
    "nul.toml": b'qrels = "q\\u0000"\nruns = ["a.run"]\noutput = "x\\u0000.html"\n',
    "numbers.toml": b'qrels = "qrels.txt"\nruns = ["a.run", "b.run"]\nrounds = ' + b"9" * 30 + b"\ndepth = 0\n",
    "line.xml": (
        b'<sessiontrack2014><session num="1&#10;2"><topic num="1"/><interaction num="1"><query>x</query><results>'
        b'<result rank="1"><clueweb12id>d1</clueweb12id></result></results></interaction></session></sessiontrack2014>'
    ),
    "docs.jsonl": b'{"id": "d1", "text": "x \\ud800 y"}\n{"id": "a\\nb", "text": "y"}\n',
    "docs.trec": b"<DOC><DOCNO> d1 </DOCNO><TEXT>one</TEXT></DOC>\n<DOC><DOCNO>",
    "two.csv": b"session,SESSION,query,rank,time,action\ns1,s1,q,,0,query\ns1,s1,q,1,2,click\n",
    "raises.py": b"raise RuntimeError('no\\nnever')\n",
    "exits.py": b"import sys\nsys.exit(7)\n",
    "syntax.py": b"def (:\n",
    "page.html": b"<!doctype html><title>old</title>\n",
    f"{LONG[:200]}.run": GOOD["a.run"].encode(),
    "new\nline.run": GOOD["a.run"].encode(),
    "</title>.run".replace("/", "\u2215"): GOOD["a.run"].encode(),
    "u\u2028.run": GOOD["a.run"].encode(),
    "byte\udcff.run": GOOD["a.run"].encode(),
    "-dash.run": GOOD["a.run"].encode(),
    "old.txt": b"what was there before\n",
    "old.svg": b"<svg/>\n",
}
MAY_CHANGE = ("old.txt", "old.svg", "loop", "dangling")  # files that only an output names

FOLDERS = ("folder", "readonly", "tmp")
LINKS = {"link.txt": "qrels.txt", "link.run": "a.run", "loop": "loop", "dangling": "nowhere"}

PATHS = (
    *GOOD, *SPOILT, *LINKS, "missing.txt", "missing/x.txt", ".", "folder", "", " ", "-", "/dev/null", "unreadable.txt",
    "hard.txt", "small.index", "fit.toml", "cut.index", "qrels.txt/x", "a" * 300, "x/" * 3000,
    "http://127.0.0.1:9/x", "http:/127.0.0.1:9/x.csv", "s3://bucket/x.parquet", "irds:no-such", "irds:", "*.run",
    "log*", "~/x", "file:///etc/hosts", "/proc/self/mem",
)  # fmt: skip
OUTPUTS = (
    "new.txt", "new.svg", "new.png", "new.pdf", "new.html", "new.dot", "new.csv", "new.toml", "new.tex", "new",
    "old.txt", "old.svg", ".hidden", "./new.txt", "missing/new.txt", "missing/new.svg", "readonly/new.txt", "folder",
    "folder/new.svg", ".", "", " ", "-", "/dev/null", "/dev/full", "/dev/stdout", "qrels.txt/x", LONG,
    LONG[:246] + ".svg", "a" * 300 + ".svg", "x/" * 3000, "new\nline.svg", "u\u2028.svg", "byte\udcfe.svg",
    NASTY + ".svg", "loop", "loop/new.svg", "dangling", "http://127.0.0.1:9/x.svg", "new.unknown", "/proc/new.svg",
    "/proc/nowhere/new.html",
)  # fmt: skip
READ_LINKS = {"qrels.txt": ("link.txt", "hard.txt", "./folder/../qrels.txt"), "a.run": ("link.run",)}


def write_inputs(folder: Path, made: Callable[[Sequence[str]], None]) -> None:
    """Write all of them into a folder that is new; `made` runs a command there, for what amble itself makes."""
    for name in FOLDERS:
        (folder / name).mkdir(parents=True)
    for name, text in GOOD.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name, data in SPOILT.items():
        (folder / name).write_bytes(data)
    for name, target in LINKS.items():
        (folder / name).symlink_to(target)
    os.link(folder / "qrels.txt", folder / "hard.txt")
    (folder / "unreadable.txt").write_bytes(GOOD["a.run"].encode())
    made(["index", "docs.tsv", "-o", "small.index", "--quiet"])
    made(["fit", "log.tsv", "-o", "fit.toml", "--model", "walk,rbp", "--rounds", "5", "--draws", "3", "--quiet"])
    made(["judge", "sheet", "pool.txt", "-o", "sheet.csv"])
    (folder / "cut.index").write_bytes((folder / "small.index").read_bytes()[:-50])
    (folder / "unreadable.txt").chmod(0)
    (folder / "readonly").chmod(0o555)


def remove(folder: Path) -> None:
    """Remove a folder, whatever its modes are."""
    for path, folders, _ in os.walk(folder):
        for name in folders:
            if not os.path.islink(os.path.join(path, name)):
                os.chmod(os.path.join(path, name), 0o755)
    shutil.rmtree(folder)
