"""Build the wheels, install each into an empty environment, and try them there.

    python release/wheels.py [FOLDER]    (make wheels; FOLDER is dist/ if none is said)

Two wheels: one with the C parts, for every CPython (abi3), and one in plain Python, for where there is no other. Each
is installed into an environment of its own, in which there is no compiler and no source tree, and makes the demo.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).parent.parent

# what an installed amble says of itself, and whether it has its C parts
TRIED = """
import amble, importlib.metadata
from amble.native import is_compiled
both = is_compiled("reader") and is_compiled("walker")
print("amble-ir", importlib.metadata.version("amble-ir"), "in", "C" if both else "plain Python")
assert "site-packages" in amble.__file__, amble.__file__
print("nDCG@10 of 1 0 1:", amble.parse("nDCG@10").value([1, 0, 1], ideal=[1, 1]))
"""


def build(folder: Path, *, compiled: bool) -> Path:
    """Build one wheel from a copy of what is under version control, and return its path."""
    with tempfile.TemporaryDirectory() as made:
        tree, out = Path(made, "tree"), Path(made, "out")
        tree.mkdir()
        files = run("git", "ls-files", "-z", at=SOURCE).split("\0")
        for name in filter(None, files):
            if (SOURCE / name).is_file():
                (tree / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(SOURCE / name, tree / name)
        run(
            *(sys.executable, "-m", "build", "--wheel", "--outdir", str(out)),
            at=tree,
            environment={} if compiled else {"AMBLE_NO_C": "1"},
        )
        (wheel,) = out.glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(wheel, folder / wheel.name))


def run(*words: str, at: Path | str | None = None, environment: dict[str, str] | None = None) -> str:
    """Run a command and return what it prints; its output is shown and the script ends if it fails."""
    left_out = ("PYTHONPATH", "AMBLE_PURE", "AMBLE_NO_C")
    env = {key: value for key, value in os.environ.items() if key not in left_out} | (environment or {})
    done = subprocess.run(words, cwd=at, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def attempt(wheel: Path, *, compiled: bool) -> None:
    """Install a wheel where there is no compiler and no source tree, and use it."""
    with tempfile.TemporaryDirectory() as made:
        run(sys.executable, "-m", "venv", made + "/env")
        folder = Path(made, "env", "Scripts" if os.name == "nt" else "bin")
        python = str(folder / "python")
        none = {"CC": "no-compiler", "PATH": str(folder)}
        run(python, "-m", "pip", "install", "-q", "--only-binary", ":all:", str(wheel), at=made, environment=none)
        said = run(python, "-c", TRIED, at=made, environment=none)
        print("   ", said.strip().replace("\n", "\n    "))
        if ("in C" in said) != compiled:
            sys.exit(f"{wheel.name}: expected {'C' if compiled else 'plain Python'}")
        for script in ("amble", "amble-ir"):
            shown = run(str(folder / script), "demo", "demo-" + script, at=made, environment=none)
            print(f"    {script} demo: {len(shown.splitlines())} lines, {shown.splitlines()[0]}")


def main() -> None:
    """Build, check, install, try, and say what was seen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=SOURCE / "dist", metavar="FOLDER")
    folder = parser.parse_args().folder.resolve()
    wheels = {compiled: build(folder, compiled=compiled) for compiled in (True, False)}
    for compiled, wheel in wheels.items():
        print(f"{wheel.name}: {wheel.stat().st_size:,} bytes")
        if compiled and sys.platform == "linux":
            shown = run(sys.executable, "-m", "auditwheel", "show", str(wheel))
            print("    auditwheel:", " ".join(re.findall(r"platform\s+tag:\s+\"(.*?)\"", shown)) or shown)
        attempt(wheel, compiled=compiled)
    print(run(sys.executable, "-m", "twine", "check", "--strict", *map(str, wheels.values())).strip())


if __name__ == "__main__":
    main()
