"""The command line: ``amble COMMAND …``.

Each command is a module of `amble.cli.commands` with ``arguments(parser)`` and ``run(args) -> exit code``; only the one
that is run is imported. Anything a user can cause ends in one line on standard error and exit code 2.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import argparse
import gc
import importlib
import io
import os
import sys
import warnings
from typing import Any, NoReturn

from amble import __version__
from amble.cli.output import keep_inputs, one_line
from amble.errors import AmbleError, ClusterLostError

COMMANDS = {
    "eval": "score runs against judgments",
    "compare": "which run is better, and is the difference significant",
    "curve": "precision against recall: means over topics, or rank by rank on one",
    "session": "score whole sessions: several queries in a row",
    "user": "what a measure's user does: a table and a chart",
    "distribution": "how scores are distributed over users, and which run dominates which",
    "exposure": "how often users visit documents, and how fairly groups of them share it",
    "meta": "which measure to trust: correlation, agreement, power, swaps, pools, topics",
    "pool": "the documents of many runs that are to be judged",
    "judge": "judging sheets, written and read back, agreement of assessors, what judging costs",
    "fuse": "many runs into one",
    "fit": "users fitted to logs of what people clicked",
    "report": "one page that shows it all, charts and tables for papers, gates for CI",
    "explore": "a page to drag a user in, and watch the ranking of runs change; a playground of lists",
    "gate": "fail if a run is worse than a baseline: for continuous integration",
    "list": "the measures: their users, parameters, formulas, references",
    "index": "index a collection of documents",
    "search": "search an index for topics, by one of six scorers: a run",
    "explain": "the terms behind a document's score",
    "check": "everything that is wrong or odd with run files",
    "demo": "a small collection, made and judged on the spot",
}

LOST = 4  # the exit code where the workers of a job were lost
_SHORT = {"dist": "distribution"}
_RENAMED = {"law": "distribution"}


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line, and which hands over the names of the options that were given."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.given: set[str] = set()
        self.set_defaults(given=self.given)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"amble: {one_line(message)} (see {self.prog} --help)\n")

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        name = "/".join(action.option_strings) or action.metavar
        if action.option_strings:
            self.given.add(action.dest)
            if arg_strings == ["--"]:  # argparse would take it away, and hand over a list
                self.error(f"argument {name}: found --, expected a value")
        if "" in arg_strings and not (action.type or action.choices):  # as of a shell's variable that is not set
            self.error(f"argument {name}: found an empty text, expected a value")
        return super()._get_values(action, arg_strings)


class _Completion(argparse.Action):
    """Print the completion for a shell, and end."""

    def __call__(self, parser: argparse.ArgumentParser, _: object, shell: Any, option: str | None = None) -> NoReturn:
        from amble.cli.completion import completion_script
        from amble.measures import REGISTRY

        parsers = {name: _parser(name, importlib.import_module(f"amble.cli.commands.{name}")) for name in COMMANDS}
        print(completion_script(shell, COMMANDS, parsers, REGISTRY), end="")
        parser.exit()


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Lay out help; the width of the terminal is looked up only when help is wanted, since that takes time."""
    width = 100
    if {"-h", "--help"} & set(sys.argv) or len(sys.argv) < 2:
        import shutil

        width = shutil.get_terminal_size().columns - 2
    return argparse.RawDescriptionHelpFormatter(prog, width=width)


def _parser(command: str | None, module: Any = None) -> _Parser:
    if command is None:
        listing = "\n".join(f"  {name:<12} {what}" for name, what in COMMANDS.items())
        parser = _Parser(
            prog="amble",
            description="Rankings, judged by how people walk them.",
            epilog=f"commands:\n{listing}\n\namble COMMAND --help shows more.",
            formatter_class=_formatter,
        )
        parser.add_argument("--version", action="version", version=f"amble {__version__}")
        from amble.cli.completion import SHELLS

        told = "print a script that completes amble's words in a shell"
        parser.add_argument("--completion", choices=SHELLS, action=_Completion, help=told)
        parser.add_argument("command", choices=COMMANDS, metavar="COMMAND")
        return parser
    described = module.__doc__
    if described is None:  # python -OO
        from amble.measures.declaration import docstring

        described = docstring(module)
    parser = _Parser(prog=f"amble {command}", description=described, formatter_class=_formatter)
    module.arguments(parser)
    parser.set_defaults(run=module.run)
    return parser


def main(argv: list[str] | None = None, *, alone: bool = False) -> int:
    """Run a command and return its exit code; ``alone``: it is all that this process is for.

    0 done, 1 `check` found errors, 2 it could not be done, 3 `gate` or `report --fail-if` found a regression,
    4 the workers, or their scheduler, were lost, 130 stopped with Ctrl-C.
    """
    # numpy's BLAS starts its threads on import, a third of the start-up; no command here multiplies big matrices
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        if getattr(_signal.getsignal(_signal.SIGINT), "__module__", "") == "amble":  # that of `amble/__init__`
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        argv = sys.argv[1:] if argv is None else argv
        if isinstance(sys.stdout, io.TextIOWrapper):  # ids come out as the bytes they came in as, whatever the locale
            sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")
        argv = [_SHORT.get(argv[0], argv[0]), *argv[1:]] if argv else argv
        if argv and argv[0] in _RENAMED:
            raise AmbleError(f"{argv[0]} is called {_RENAMED[argv[0]]}: amble {_RENAMED[argv[0]]} --help shows more")
        if not argv or argv[0] not in COMMANDS:
            _parser(None).parse_args(argv or ["--help"])
        module = importlib.import_module(f"amble.cli.commands.{argv[0]}")
        rest = list(module.prepare(argv[1:]) if hasattr(module, "prepare") else argv[1:])
        for i in range(len(rest) - 1, 0, -1):  # a list whose first document is unjudged, no option
            if rest[i - 1] == "--gains" and rest[i][:1] == "-" and rest[i][1:2] in (*"0123456789.,", ""):
                rest[i - 1 : i + 1] = [f"--gains={rest[i]}"]
        args = _parser(argv[0], module).parse_args(rest)
        keep_inputs(args)
        with warnings.catch_warnings():
            if hasattr(args, "allow_unjudged"):
                from amble.cli.options import filter_unjudged_warnings

                filter_unjudged_warnings(args)
            if alone:  # what was imported stays, and need not be looked through again
                gc.freeze()
                gc.enable()
            code: int = args.run(args)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except ValueError as error:
        if not isinstance(error, AmbleError):
            raise
        print(f"amble: {one_line(error)}", file=sys.stderr)
        if isinstance(error, ClusterLostError):
            return LOST
    except Warning as warning:  # one that is an error here
        hint = "; --allow-unjudged scores it all the same" if type(warning).__name__ == "UnjudgedWarning" else ""
        print(f"amble: {one_line(warning)}{hint}", file=sys.stderr)
    except SystemExit as leave:  # the parser has said what is wrong, or has helped
        if leave.code != 2:
            raise
    except MemoryError:
        print("amble: out of memory", file=sys.stderr)
    except BrokenPipeError:  # the reader of our output went away, which is its right
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"amble: {one_line(error.filename or 'output')}: {error.strerror or error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("amble: stopped", file=sys.stderr)
        return 130
    return 2


def entry() -> NoReturn:
    """Run the installed command: as `main`, without the slow shutdown of the interpreter."""
    gc.disable()  # until the command is run
    gc.set_threshold(10_000)  # imports and tables are many objects, and few of them garbage
    vars(argparse)["_"] = str  # each word would be looked up in catalogues of translations, of which there are none
    code = main(alone=True)
    if (started := sys.modules.get("multiprocessing.util")) is not None:  # what processes shared is given back
        started._exit_function()
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            code = code or 2
    os._exit(code)


if __name__ == "__main__":
    sys.exit(main())
