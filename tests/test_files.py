"""Every way a file can come, and every way it can be broken."""

from __future__ import annotations

import bz2
import functools
import gzip
import importlib.util
import lzma
import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import zstandard

import amble
from amble.cli.demo_collection import make_collection
from amble.io.files import check_outputs, stem, topic_changes, whole_file, write_whole
from amble.io.rows import read_rows
from amble.retrieval.documents import read_documents

pytestmark = pytest.mark.twin

QRELS = "401 0 a 1\n401 0 b 0\n402 0 a 2\n"
RUN = "401 Q0 a 1 3.5 tag\n401 Q0 x 2 2.5 tag\n402 Q0 a 1 1 tag\n"
PACKED = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": lambda data: zstandard.ZstdCompressor().compress(data),
}


def listing(rankings: amble.Rankings) -> list[list[int]]:
    return [x.tolist() for x in (rankings.topic, rankings.length, rankings.rank, rankings.row)]


PLAIN = [[0, 1], [2, 1], [1, 1], [0, 2]]


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("named", [True, False])
def test_compressed_files(write, ending: str, named: bool) -> None:
    # told by what they hold: a name without the ending reads as well
    pack = PACKED[ending]
    suffix = f".{ending}" if named else ""
    qrels, run = write(f"q.txt{suffix}", pack(QRELS.encode())), write(f"r.run{suffix}", pack(RUN.encode()))
    assert listing(amble.align(qrels, run)) == PLAIN


def test_concatenated_gzip_members(write) -> None:
    lines = RUN.encode().splitlines(keepends=True)
    run = write("r.gz", b"".join(gzip.compress(line) for line in lines))
    assert listing(amble.align(write("q", QRELS), run)) == PLAIN


@pytest.mark.parametrize("ending", PACKED)
def test_broken_compression_names_file_and_line(write, ending: str) -> None:
    body = b"".join(b"401 Q0 d%d %d %d.25 t\n" % (i, i, 90000 - i) for i in range(60000))
    packed = PACKED[ending](body)
    run = write(f"r.run.{ending}", packed[: len(packed) // 2])
    with pytest.raises(amble.ReadError, match=rf"r.run.{ending}:\d+: broken \w+ data") as caught:
        amble.align(write("q", QRELS), run)
    line = int(str(caught.value).split(":")[1])
    if ending != "bz2":  # a bz2 block is larger than this
        assert 1 <= line < 60000


DAMAGED = {  # of the second of two members
    "cut": lambda member: member[:-3],
    "head only": lambda member: member[:5],
    "first bytes": lambda member: b"\xaa\xaa" + member[2:],
    "checksum": lambda member: member[:-7] + bytes((member[-7] ^ 1,)) + member[-6:],
    "no member": lambda member: b"and what is this",
}


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_second_member_is_an_error(write, ending: str, damage: str) -> None:
    # gzip's last 8 bytes are CRC and length, bzip2's last 10 and xz's last 12 have a CRC; zstd's are asked for
    pack = zstandard.ZstdCompressor(write_checksum=True).compress if ending == "zst" else PACKED[ending]
    first, second = pack(RUN.encode()[:19]), pack(RUN.encode()[19:])
    assert listing(amble.align(write("q", QRELS), write("r", first + second))) == PLAIN
    broken = DAMAGED[damage](second)
    if (ending, damage) == ("zst", "checksum"):
        broken = second[:-2] + bytes((second[-2] ^ 1,)) + second[-1:]
    with pytest.raises(amble.ReadError, match=r"r:\d: broken \w+ data: .+"):
        amble.align(write("q", QRELS), write("r", first + broken))


@pytest.mark.parametrize(
    ("ending", "zeros", "between", "fine"),
    [
        ("gz", 5, False, True),  # tapes, and tar, fill blocks with them
        ("gz", 200_000, True, True),
        ("xz", 8, False, True),  # stream padding: by fours, anywhere
        ("xz", 400_000, True, True),
        ("xz", 5, False, False),
        ("xz", 6, True, False),
        ("bz2", 4, False, False),  # no format for such
        ("zst", 4, False, False),
    ],
)
def test_zeros_after_members(write, ending: str, zeros: int, between: bool, fine: bool) -> None:
    first, second = (PACKED[ending](part) for part in (RUN.encode()[:19], RUN.encode()[19:]))
    padded = first + bytes(zeros * between) + second + bytes(zeros * (not between))
    if fine:
        assert listing(amble.align(write("q", QRELS), write("r", padded))) == PLAIN
    else:
        with pytest.raises(amble.ReadError, match="r:[1-4]: broken"):
            amble.align(write("q", QRELS), write("r", padded))


def test_gzip_length_is_checked(write) -> None:
    packed = bytearray(gzip.compress(RUN.encode()))
    packed[-4] ^= 1  # ISIZE
    with pytest.raises(amble.ReadError, match=r"r:\d: broken gzip data: .*length"):
        amble.align(write("q", QRELS), write("r", bytes(packed)))


def test_zstd_frames_to_skip(write) -> None:
    # pzstd begins its files with one: magic 0x184D2A50, length 4, the length of the frame that follows
    frame = PACKED["zst"](RUN.encode())
    skipped = bytes.fromhex("502a4d18 04000000") + len(frame).to_bytes(4, "little")
    assert listing(amble.align(write("q", QRELS), write("r.zst", skipped + frame + skipped))) == PLAIN
    with pytest.raises(amble.ReadError, match="r.zst:4: broken zstd data"):
        amble.align(write("q", QRELS), write("r.zst", skipped + frame + skipped[:-1]))


def test_damaged_compression_is_one_line_and_exit_code_2(amble_cli, write) -> None:
    damaged = bz2.compress(RUN.encode()) + b"BZ" + bytes(2) + bz2.compress(RUN.encode())[4:]
    done = amble_cli("eval", write("q", QRELS), write("r.bz2", damaged))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "r.bz2:4: broken bzip2 data: Invalid data stream" in done.stderr


def test_other_readers_check_too(write) -> None:
    # the same bytes through the lab's, the sessions', and the tables' readers
    from amble.io.files import numbered_lines
    from amble.sessions.session_layouts import content

    text = "a b 1\n"
    damaged = write("x.xz", lzma.compress(text.encode()) + lzma.compress(text.encode())[:-1])
    for read in (lambda p: list(numbered_lines(p)), content, lambda p: list(read_rows(p, ("a", "b"), ("n",)))):
        with pytest.raises(amble.ReadError, match="x.xz:3: broken xz data"):
            read(damaged)
    assert content(write("y.xz", lzma.compress(text.encode()) * 2)) == text.encode() * 2


def test_compressed_files_damaged_at_their_parts() -> None:
    # a sample of fuzz/fuzz_streams.py: what the libraries read is read, and what they refuse is an error
    path = Path(__file__).parent.parent / "fuzz" / "fuzz_streams.py"
    spec = importlib.util.spec_from_file_location("fuzz_streams", path)
    assert spec is not None
    assert spec.loader is not None
    streams = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(streams)
    counts = streams.fuzz(150, seed=2)
    assert counts["bytes"] > 20
    assert counts["error"] > 20
    streams.strict = lambda kind, data: b"something else"
    with pytest.raises(AssertionError, match="file 0 of seed 2"):  # it would notice
        streams.fuzz(1, seed=2)


# ---- long lines ----


@functools.cache
def gigabyte(ending: str) -> bytes:
    """One line, in a hundred members, about 1 MB or less."""
    return PACKED[ending](b"x" * 10_000_000) * 100


def broken_later(ending: str) -> bytes:
    """The same line, of which a tenth can be read: who reads on complains of what comes then."""
    whole = gigabyte(ending)
    return whole[: len(whole) // 10] + b"no member"


@pytest.mark.parametrize("ending", PACKED)
def test_a_compressed_line_of_a_gigabyte(write, ending: str) -> None:
    run = write(f"r.{ending}", PACKED[ending](RUN.encode()) + broken_later(ending))
    said = f"r.{ending}:4: the line is longer than 1000000 bytes, the most that max_line allows"
    for call in (
        lambda: amble.align(write("q", QRELS), run),
        lambda: amble.read_qrels(write(f"s.{ending}", broken_later(ending))),
        lambda: amble.read_runs(run)[0].documents(),
        lambda: amble.read_sessions(write("q", QRELS), write(f"s.{ending}", broken_later(ending))),
        lambda: list(read_rows(run, ("a", "b", "c", "d", "e", "f"), ())),
        lambda: list(read_documents(write(f"s.{ending}", broken_later(ending)))),
    ):
        with pytest.raises(amble.ReadError, match=r":[14]: the line is longer than (1|64)000000 bytes"):
            call()
    with pytest.raises(amble.ReadError) as caught:
        amble.align(write("q", QRELS), run)
    assert str(caught.value).endswith(said)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no limit of memory on this system")
@pytest.mark.parametrize("pure", ["0", "1"])
def test_a_gigabyte_does_not_take_the_memory(write, pure: str) -> None:
    code = "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)); import amble.cli.main; "
    code += "sys.exit(amble.cli.main.main(['eval', *sys.argv[1:]]))"
    files = write("q", QRELS), write("r.gz", gigabyte("gz"))
    env = {**os.environ, "AMBLE_PURE": pure}
    done = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, text=True, env=env)
    assert done.returncode == 2, done.stderr
    assert done.stderr.endswith("r.gz:1: the line is longer than 1000000 bytes, the most that max_line allows\n")
    assert done.stderr.count("\n") == 1


def test_a_fit_of_a_gigabyte_is_not_read_to_its_end(write) -> None:
    with pytest.raises(amble.ReadError, match="f.gz: larger than 67,108,864 bytes, expected a smaller file"):
        amble.read_fit(write("f.gz", broken_later("gz")))


def test_the_longest_line_is_an_option(amble_cli, write) -> None:
    qrels, run = write("q", QRELS), write("r", RUN + "402 Q0 " + "n" * 1_500_000 + " 2 0.5 tag\n")
    assert len(amble.align(qrels, run, max_line=2_000_000)) == 2
    assert len(amble.evaluate(qrels, run, "AP", max_line=2_000_000).values) == 1
    with pytest.raises(amble.ReadError, match="q:1: the line is longer than 8 bytes"):
        amble.align(qrels, run, max_line=8)
    for wrong in (0, -1, 2**31, True, 1.5, "8"):
        with pytest.raises(
            amble.AmbleError, match="max_line=.*: expected a whole number of at (least 1|most 2147483647)"
        ):
            amble.read_qrels(qrels, max_line=wrong)
    assert amble_cli("eval", qrels, run, "--max-line", "2000000").returncode == 0
    for command in (
        ("eval", qrels, run),
        ("fuse", run, run),
        ("pool", run),
        ("check", run),
        ("judge", "uniques", qrels, run),
    ):
        done = amble_cli(*command, "--max-line", "30")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert "r:4: the line is longer than 30 bytes, the most that max_line allows" in done.stderr


@pytest.mark.parametrize(
    "text",
    [
        "<DOC>\n<DOCNO>d1</DOCNO>\nshort\n</DOC>\n<DOC>\n<DOCNO>d2</DOCNO>\n{}\n</DOC>\n",
        ".I 1\n.W\nshort\n.I 2\n.W\n{}\n",
        '{{"id": "d1", "text": "short"}}\n{{"id": "d2", "text": "{}"}}\n',
        "d1\tshort\nd2\t{}\n",
    ],
)
def test_the_longest_document_is_an_option(write, text: str) -> None:
    fill = " ".join(["word"] * 40) if text[0] in "{d" else "\n".join(["word"] * 40)  # 199 bytes
    path = write("c", text.format(fill))
    first, second = ("1", "2") if text.startswith(".I") else ("d1", "d2")
    assert [document.id for document in read_documents(path, max_document=300)] == [first, second]
    where = {"<": "c:5: the <doc>", ".": "c:4: the document"}.get(text[0], "c:2: the line")
    found = read_documents(path, max_document=150)
    assert next(found).id == first
    with pytest.raises(amble.ReadError, match=f"{where} is longer than 150 bytes, the most that max_document allows"):
        next(found)


def test_no_cut_inside_a_long_line(write) -> None:
    # a line of blanks and columns is no place to cut, however many topics it seems to have
    long = " ".join(f"{i} Q0 d 1 1 t" for i in range(2000))
    path = write("r", f"1 Q0 a 1 1 t\n{long}\n2 Q0 a 1 1 t\n3 Q0 a 1 1 t\n")
    body = Path(path).read_bytes()
    for parts in range(2, 40):
        assert all(body[cut - 1 : cut] == b"\n" for cut in topic_changes(path, parts, 100)[1:])


def test_not_what_its_name_says(write) -> None:
    with pytest.raises(amble.ReadError, match="not gzip data, although its name ends in .gz"):
        amble.align(write("q", QRELS), write("r.gz", RUN))


def test_missing_file_directory_and_odd_names(tmp_path: Path, write) -> None:
    with pytest.raises(amble.ReadError, match="none.txt: no such file"):
        amble.read_qrels(tmp_path / "none.txt")
    with pytest.raises(amble.ReadError, match="a directory, expected a file"):
        amble.read_qrels(tmp_path)
    with pytest.raises(amble.ReadError, match="null"):
        amble.read_qrels("a\0b")
    with pytest.raises(amble.ReadError, match="empty, expected judgments"):
        amble.read_qrels(write("e", ""))
    with pytest.raises(amble.ReadError, match="empty, expected lines of a run"):
        amble.align(write("q", QRELS), write("e.run", "\n# nothing\n\n"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_is_read_once(tmp_path: Path, write) -> None:
    # topics that do not stand together need the whole run: from a pipe that must work in one go
    fifo = tmp_path / "pipe.run"
    os.mkfifo(fifo)
    split = "401 Q0 a 1 3.5 tag\n402 Q0 a 1 1 tag\n401 Q0 x 2 2.5 tag\n"
    writer = threading.Thread(target=lambda: fifo.write_text(split))
    writer.start()
    assert listing(amble.align(write("q", QRELS), str(fifo))) == PLAIN
    writer.join()


def test_standard_input(write) -> None:
    code = "import amble,sys; r = amble.align(sys.argv[1], '-'); print(r.runs, r.rank.tolist())"
    for data in (RUN.encode(), gzip.compress(RUN.encode())):
        done = subprocess.run([sys.executable, "-c", code, write("q", QRELS)], input=data, capture_output=True)
        assert done.stdout.decode() == "('tag',) [1, 1]\n", done.stderr


def test_stem() -> None:
    assert stem("/x/input.CL99SD.xz") == "input.CL99SD"
    assert stem("a.run.gz") == "a"
    assert stem("bm25.k1=0.9") == "bm25.k1=0.9"
    assert stem(".run") == ".run"
    assert stem(".gz") == ".gz"


def test_cuts_fall_on_changes_of_topic(write) -> None:
    path = write("r", "".join(f"{t} Q0 d{i} {i} {-i} x\n" for t in range(7) for i in range(20)))
    body = Path(path).read_bytes()
    for parts in (2, 3, 5, 50):
        cuts = topic_changes(path, parts)
        assert cuts[0] == 0
        assert cuts == sorted(set(cuts))
        for cut in cuts[1:]:
            assert body[cut - 1 : cut] == b"\n"
            assert body[:cut].splitlines()[-1].split()[0] != body[cut:].split(None, 1)[0]


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"before")

    def stopped() -> None:
        with whole_file(str(path)) as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("out", b"before")]
    with whole_file(str(path)) as file:
        file.write(b"after")
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("out", b"after")]
    with pytest.raises(amble.AmbleError, match="No such file or directory"), whole_file(str(tmp_path / "no" / "out")):
        pass


def test_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, link = tmp_path / "a.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    write_whole(link, "one\n")
    assert (target.read_text(), link.is_symlink()) == ("one\n", True)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(amble.AmbleError, match="a.txt: No space left on device"):
        write_whole(target, "two\n")
    assert target.read_text() == "one\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "link.txt"]


def test_a_pipe_is_written_to() -> None:
    code = "from amble.io.files import write_whole; write_whole('/dev/stdout', 'here')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("here", "")


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
def test_a_replaced_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "out"
    path.write_text("before")
    path.chmod(mode)
    (tmp_path / "link").symlink_to(path)
    before = os.umask(0o022)
    try:
        write_whole(tmp_path / "link", "after")
        write_whole(tmp_path / "new", "")
    finally:
        os.umask(before)
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("after", mode)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o644  # what the umask leaves


def test_what_is_private_is_never_open_to_others(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("before")
    path.chmod(0o600)
    with whole_file(path) as file:
        file.write(b"secret")
        assert {stat.S_IMODE(found.stat().st_mode) for found in tmp_path.iterdir()} == {0o600}


def test_a_read_only_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("before")
    path.chmod(0o444)
    for refused in (lambda: write_whole(path, "after"), lambda: check_outputs([], str(path))):
        with pytest.raises(amble.AmbleError, match="out: is read-only, expected a file that may be written"):
            refused()
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode), os.listdir(tmp_path)) == ("before", 0o444, ["out"])


def test_many_threads_write_one_file(tmp_path: Path) -> None:
    path, wrong = tmp_path / "out", []

    def save(text: str) -> None:
        for _ in range(30):
            try:
                write_whole(path, text)
                found = path.read_text()
                if len(found) != 20_000 or len(set(found)) != 1:
                    wrong.append(found[:20])
            except amble.AmbleError as error:
                wrong.append(str(error))

    threads = [threading.Thread(target=save, args=(letter * 20_000,)) for letter in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (wrong, os.listdir(tmp_path)) == ([], ["out"])


def test_long_names(tmp_path: Path) -> None:
    for name in ("x" * 250, "x" * 255, "ü" * 127):
        write_whole(tmp_path / name, name)
        assert (tmp_path / name).read_text() == name
    assert len(os.listdir(tmp_path)) == 3


@contextmanager
def full_after(size: int) -> Iterator[None]:
    """No file may grow beyond some bytes, as on a disk that is full then."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    from amble.reporting.charts.chart import save, user_spec

    index = amble.index({f"d{i}": f"word{i} march" for i in range(500)}, language="none")
    chart = user_spec({"AP": amble.parse("AP").user([1.0, 0.0])})
    (tmp_path / "out.svg").write_text("before")
    for write in (
        lambda: write_whole(tmp_path / "out.txt", "x" * 5000),
        lambda: index.save(tmp_path / "out.index"),
        lambda: make_collection(tmp_path),
        lambda: save(chart, tmp_path / "out.svg"),
    ):
        with full_after(1000), pytest.raises(amble.AmbleError, match="File too large"):
            write()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"out.svg": "before"}


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("old", [True, False])
def test_a_polite_kill_leaves_nothing(tmp_path: Path, how: signal.Signals, old: bool) -> None:
    path = tmp_path / "out"
    if old:
        path.write_text("before")
    code = (
        "import sys, time; from amble.io.files import whole_file\n"
        "with whole_file(sys.argv[1]) as file:\n"
        "    file.write(b'half'); file.flush(); print('now', flush=True)\n"
        "    for _ in range(600): time.sleep(0.1)"  # a signal just before a long sleep would be seen after it
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(how, signal.SIG_DFL),  # nohup has a hangup ignored
    )
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == b"now\n"
        assert len(os.listdir(tmp_path)) == 1 + old
        process.send_signal(how)
        assert process.wait(20) == -how  # and it is killed, as ever
    assert {found.name: found.read_text() for found in tmp_path.iterdir()} == ({"out": "before"} if old else {})


def test_handlers_of_others_are_left_alone(tmp_path: Path) -> None:
    def mine(*_: object) -> None: ...

    before = signal.signal(signal.SIGTERM, mine)
    try:
        with whole_file(tmp_path / "out"):
            assert signal.getsignal(signal.SIGTERM) is mine
        assert signal.getsignal(signal.SIGTERM) is mine
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with whole_file(tmp_path / "out"), whole_file(tmp_path / "other"):
            assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_what_is_read_is_not_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt", "below.txt"):
        Path(name).write_text(name)
    Path("folder/inner").mkdir(parents=True)
    os.link("below.txt", "folder/inner/below.txt")
    os.symlink("a.txt", "soft")
    os.link("a.txt", "hard")
    for output in ("a.txt", "./a.txt", str(tmp_path / "a.txt"), "soft", "hard"):
        with pytest.raises(amble.AmbleError, match=f"{output}: is read, expected another file to write to"):
            check_outputs(["b.txt", "a.txt"], output)
    for given in ("folder", "*.txt", "./below.txt"):
        with pytest.raises(amble.AmbleError, match="below.txt: is read"):
            check_outputs([given], "below.txt")
    Path("log[1].txt").write_text("")
    with pytest.raises(amble.AmbleError, match="is read"):
        check_outputs(["log[1].txt"], "log[1].txt")  # a name, not a pattern
    check_outputs(["none", "irds:none", "-", "a.txt"], "b.txt", "new.txt", "/dev/null")
    with pytest.raises(amble.AmbleError, match="soft: is written to twice, expected another file"):
        check_outputs([], "a.txt", "soft")
    for output, why in (("folder", "Is a directory"), ("no/x", "No such file"), ("x\0y", "a NUL in the name")):
        with pytest.raises(amble.AmbleError, match=why):
            check_outputs([], output)


def test_a_collection_is_not_made_over_another(tmp_path: Path) -> None:
    made = make_collection(tmp_path / "d", topics=2)
    before = {path.name: path.read_bytes() for path in (tmp_path / "d").iterdir()}
    made.runs[1].unlink()
    make_collection(tmp_path / "d", topics=2)  # what is missing is made again
    assert {path.name: path.read_bytes() for path in (tmp_path / "d").iterdir()} == before
    for name in ("qrels.txt", "bm25.run"):
        folder = tmp_path / f"with-{name}"
        folder.mkdir()
        (folder / name).write_text("mine")
        with pytest.raises(amble.AmbleError, match=f"{name}: is there already and holds something else"):
            make_collection(folder, topics=2)
        assert {path.name: path.read_text() for path in folder.iterdir()} == {name: "mine"}
