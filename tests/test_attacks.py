"""The attacks of `fuzz/attack_commands.py`: a sample on the command line, and whether they see what they look for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="forks, limits and filters of system calls as Linux has them"),
    pytest.mark.skipif(not FUZZ.is_dir(), reason="not a checkout: no fuzz/"),
]
SAMPLE = 120

# commands that misbehave, each in one way; `ill` says which of them runs
ILL = """
import json, os, signal, socket, sys, threading, time, warnings
sys.path.insert(0, sys.argv[1])
import attack_commands

ill = ""

def entry():
    what = ill
    if what == "traceback":
        raise RuntimeError("never")
    if what == "code":
        os._exit(7)
    if what == "check's code":
        os._exit(1)
    if what == "silence":
        os._exit(2)
    if what == "two lines":
        os.write(2, b"amble: one\\namble: two\\n")
        os._exit(2)
    if what == "control":
        os.write(2, b"amble: \\x1b[31m\\n")
        os._exit(2)
    if what == "warning":
        warnings.warn("overflow", RuntimeWarning)
    if what == "input":
        open("qrels.txt", "ab").write(b"x")
    if what == "same size":
        data = bytearray(open("a.run", "rb").read())
        data[-2] ^= 1
        open("a.run", "r+b").write(data)
    if what == "mode":
        os.chmod("qrels.txt", 0o600)
    if what == "gone":
        os.unlink("b.run")
    if what == "partial":
        open("out.txt.123.partial", "w").close()
    if what == "dot file":
        open("folder/.out", "w").close()
    if what == "temporary":
        import tempfile
        tempfile.mkstemp()
    if what == "half":
        open("out.txt", "w").close()
        os.write(2, b"amble: out.txt: full\\n")
        os._exit(2)
    if what == "python's socket":
        socket.create_connection(("127.0.0.1", 9), 1)
    if what == "native socket":
        import ctypes
        ctypes.CDLL(None).socket(2, 1, 0)
    if what == "hangs":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        time.sleep(60)
    if what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "json":
        os.write(1, b'{"x": NaN}')
    if what == "root":
        open("unreadable.txt").close()
        os._exit(9)

words = ("eval", "qrels.txt", "a.run", "b.run", "--format", "json", "-o", "out.txt")

def cases():
    global ill
    for ill in sys.argv[2].split(","):
        attack_commands.PATIENCE = 1.5 if ill == "hangs" else 60.0
        yield attack_commands.Case(words if ill != "json" else words[:-2])

print(json.dumps({ill: said for _, _, _, said in attack_commands.attack(cases(), entry)}))
"""
SEEN = {
    "traceback": "traceback: RuntimeError: never",
    "code": "exit code 7",
    "check's code": "exit code 1, expected one of 0, 2",
    "silence": "0 lines on standard error",
    "two lines": "2 lines on standard error",
    "control": "control bytes",
    "warning": "warning: ",
    "input": "changed: 'hard.txt', 'qrels.txt'",
    "same size": "changed: 'a.run'",
    "mode": "changed: ",
    "gone": "changed: 'b.run'",
    "partial": "left behind: 'out.txt.123.partial'",
    "dot file": "left behind: 'folder/.out'",
    "temporary": "left behind: 'tmp/",
    "half": "left behind: 'out.txt'",
    "python's socket": "asked the network: NETWORK socket.",
    "native socket": "opened a socket of the internet",
    "hangs": "took more than 1.5 s",
    "crash": "ended by SIGSEGV",
    "json": "no JSON: NaN is not JSON",
    "root": "PermissionError",
}


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *words], capture_output=True, text=True, errors="replace", timeout=600)


def test_what_is_wrong_is_seen(tmp_path: Path) -> None:
    script = tmp_path / "ill.py"
    script.write_text(ILL)
    done = _run(str(script), str(FUZZ), ",".join(["nothing", *SEEN]))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["nothing"] == []
    for ill, complaint in SEEN.items():
        assert any(complaint in said for said in found[ill]), (ill, found[ill])


def test_a_sample_of_attacks() -> None:
    """Every command, nearly every option; `python fuzz/attack_commands.py` takes thousands."""
    done = _run(str(FUZZ / "attack_commands.py"), "--cases", str(SAMPLE), "--much", "1")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert f"{SAMPLE} cases of" in done.stdout


def test_every_command_and_option_is_attacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FUZZ))
    import attack_commands

    from amble.cli.main import COMMANDS

    groups = {case.group for case in attack_commands.cases(1)}
    for command in COMMANDS:
        for action in attack_commands.options(command):
            if action.option_strings:
                assert (command, action.option_strings[-1]) in groups
            else:
                assert any(command == group[0] and group[1].startswith("word") for group in groups)
