"""What commands write: output, provenance and notes; and that no file that is read is written over."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from amble.errors import AmbleError, in_one_line
from amble.io.files import check_outputs, write_whole

if TYPE_CHECKING:
    from warnings import WarningMessage

__all__ = [
    "READ",
    "WRITTEN",
    "file_digests",
    "keep_inputs",
    "note",
    "one_line",
    "provenance",
    "tell_audit",
    "warn_topic_named_all",
    "write",
]

# the arguments of all commands that name files, or patterns or folders of them
READ = (
    *("qrels", "runs", "sessions", "logs", "collection", "index", "topics", "files", "pool", "texts"),
    *("groups", "stopwords", "zscores", "costs", "intents", "config", "plugin", "user", "shares"),
)
WRITTEN = ("output", "plot", "hasse", "latex", "query_rates", "save_counts")
_FITTED = r"""\b(?:user|rates)\s*=\s*(?:'([^']+)'|"([^"]+)")"""  # of a measure: a file of `amble fit`


def _named(args: argparse.Namespace, names: tuple[str, ...]) -> list[str]:
    given = [getattr(args, name, None) for name in names]
    return [path for one in given for path in (one if isinstance(one, list) else [one]) if isinstance(path, str)]


def keep_inputs(args: argparse.Namespace, *outputs: str) -> None:
    """Refuse to write over what a command reads; ``outputs`` are files that no argument names."""
    measures = _named(args, ("measure", "measures"))
    fits = ["".join(found) for text in measures if "=" in text for found in re.findall(_FITTED, text)]
    models = [name.rpartition("#")[0] for name in fits if "#" in name]  # fit.toml#walk
    check_outputs([*_named(args, READ), *fits, *models], *(outputs or _named(args, WRITTEN)))


def write(text: str, path: str | None) -> None:
    """Write to standard output, or to a file that appears whole or not at all."""
    if path is None:
        if sys.stdout is None:
            raise AmbleError("there is no standard output to write to")
        sys.stdout.write(text + "\n")
        return
    write_whole(path, text + "\n")


def provenance(rankings: Any, measures: list[Any], paths: Sequence[str | None], more: dict[str, Any]) -> dict[str, Any]:
    """Where the numbers come from: the files, the options of `align` and others, the measures, the audit."""
    from amble.measures.fitted_parameters import fit_files
    from amble.measures.measure import plain_parameters

    fits = dict.fromkeys(path for m in measures for path in fit_files(m))
    return file_digests([*paths, *(rankings.options.get(name) for name in ("costs", "intents")), *fits]) | {
        "options": rankings.options | more,
        "measures": {m.label: plain_parameters(m.written or m) | {"@": m.cut} for m in measures},
        "audit": rankings.audit.rows(),
        "sessions" if hasattr(rankings, "repeats") else "topics": len(rankings.topics),
    }


def file_digests(paths: Sequence[str | None]) -> dict[str, Any]:
    """The version of amble, and the size and digest of every file."""
    import hashlib

    from amble import __version__

    files = []
    for path in filter(None, paths):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            files.append({"path": path, "bytes": os.path.getsize(path), "sha256": digest})
    return {"amble": __version__, "files": files}


def one_line(message: object) -> str:
    """A message in one line, with characters that do not print escaped, such as a terminal's commands in a name."""
    text = in_one_line(str(message))
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def note(args: argparse.Namespace, *texts: object) -> None:
    """Print notes on standard error, a line each, unless --quiet."""
    if not args.quiet and sys.stderr is not None:
        for text in texts:
            print(f"amble: {one_line(text)}", file=sys.stderr)


def tell_audit(args: argparse.Namespace, audit: Any, heard: Sequence[WarningMessage]) -> None:
    """Note how files were read, and the warnings on the way, each once."""
    note(args, *dict.fromkeys((str(audit), *(str(warning.message) for warning in heard))))


def warn_topic_named_all(args: argparse.Namespace, names: Collection[str], what: str) -> None:
    """Note that a topic or a session that is shown is called ``all``, as the mean is otherwise."""
    if "all" in names:
        form = "- (JSON null, CSV empty); in trec_eval's layout it comes last"
        note(args, f"a {what} is called all: the mean's {what} is {form}")
