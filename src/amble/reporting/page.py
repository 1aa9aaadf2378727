"""The report: one HTML file with everything inside, without network requests.

The page is a Jinja2 template, filled with autoescape on, a style sheet, JavaScript that draws with SVG, and the data as
JSON. A Content-Security-Policy names the script and the style sheet by their hashes and forbids
everything else, so that no request can be made, whatever a run or a topic is called.
"""

from __future__ import annotations

import glob
import importlib
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from typing import Any, Unpack, overload

from amble import checks
from amble.comparison.design import TestDesign
from amble.errors import AmbleError
from amble.evaluation.inputs import DEFAULTS, Measures, aligning
from amble.evaluation.scores import Scores, Undefined, scores_of
from amble.io.files import write_whole
from amble.io.html import asset, embedded, policy
from amble.progress import Progress
from amble.rankings.alignment import AlignOptions, Rankings
from amble.rankings.costs import Prices
from amble.rankings.lists import Lists
from amble.references import bibliography
from amble.reporting.charts.chart import shown
from amble.reporting.leaderboard import Leaderboard
from amble.reporting.page_data import report_data
from amble.sessions import Sessions

__all__ = ["Page", "jinja", "report", "shell_paths"]

SYSTEMS = 16  # whose distributions and documents are shown
_SCRIPTS = ("marks.js", "board.js", "topics.js", "distributions.js", "users.js", "start.js")
_FEW = 6  # paths in a command, more of which may be written as a pattern


def jinja() -> Any:
    """The module jinja2, which is an extra."""
    try:
        return importlib.import_module("jinja2")
    except ImportError:
        raise AmbleError("the report needs the extra: pip install 'amble-ir[report]'") from None


class Page:
    """The report of runs; made by `amble.report`.

    Attributes
    ----------
    scores : Scores
    leaderboard : Leaderboard
        Means, confidence intervals, letters; its ``table()`` has marks of significance, also in LaTeX.
    data : dict
        The data of the page: plain lists and numbers, as they are embedded.

    Examples
    --------
    >>> import amble
    >>> scores = amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}}, "AP")
    >>> page = amble.report(scores)
    >>> page
    Page(1 runs, 1 topics, AP)
    >>> page.html()[:15]
    '<!doctype html>'
    """

    def __init__(
        self, scores: Scores, leaderboard: Leaderboard, data: dict[str, Any], about: Mapping[str, Any]
    ) -> None:
        self.scores, self.leaderboard, self.data = scores, leaderboard, data
        self._about = about

    def html(self) -> str:
        """The page as HTML."""
        environment = jinja().Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
        template, style, *scripts = (asset("amble.reporting", name) for name in ("page.html", "page.css", *_SCRIPTS))
        script = "\n".join(scripts)
        text: str = environment.from_string(template).render(
            data=self.data,
            json=embedded(self.data),
            script=script,
            style=style,
            policy=policy(style, script),
            order=self.leaderboard.order(0),
            topics=len(self.scores.topics),
            bibliography=bibliography(self.data["audit"]["cited"]),
            commands=_commands(self.scores, self.leaderboard.design, self._about),
            **self._about,
        )
        return text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all; a report that is there stays until then."""
        write_whole(path, self.html())

    def charts(self) -> dict[str, Any]:
        """The charts of the page as altair objects, by name; `amble.reporting.charts.chart.save` writes them."""
        from amble.reporting.charts.chart import altair_chart
        from amble.reporting.charts.plotting import charts_of

        return {name: altair_chart(spec) for name, spec in charts_of(self).items()}

    def _repr_html_(self) -> str:
        return self.leaderboard.table().html()  # a page in a page would have no room

    def __repr__(self) -> str:
        scores = self.scores
        return f"Page({len(scores.runs)} runs, {len(scores.topics)} topics, {', '.join(scores.measures)})"


@overload
def report(
    scores: Scores | Rankings | Sessions,
    measures: Measures | None = ...,
    *,
    baseline: str | None = ...,
    test: str = ...,
    correction: str | None = ...,
    alpha: float = ...,
    seed: int = ...,
    rounds: int = ...,
    systems: int = ...,
    title: str = ...,
    command: str = ...,
    config: str = ...,
    files: Sequence[Mapping[str, Any]] = ...,
    undefined: Undefined | None = ...,
    progress: Callable[[int, int], None] | None = ...,
    executor: Any = ...,
    costs: Prices | None = ...,
    sessions_file: str = ...,
) -> Page: ...
@overload
def report(
    qrels: Any,
    runs: Any,
    measures: Measures,
    *,
    baseline: str | None = ...,
    test: str = ...,
    correction: str | None = ...,
    alpha: float = ...,
    seed: int = ...,
    rounds: int = ...,
    systems: int = ...,
    title: str = ...,
    command: str = ...,
    config: str = ...,
    files: Sequence[Mapping[str, Any]] = ...,
    undefined: Undefined | None = ...,
    progress: Callable[[int, int], None] | None = ...,
    sessions_file: str = ...,
    **options: Unpack[AlignOptions],
) -> Page: ...
@aligning(Scores, Rankings, Sessions)
def report(
    scores: Scores | Rankings | Sessions,
    measures: Measures | None = None,
    *,
    baseline: str | None = None,
    test: str = TestDesign.test,
    correction: str | None = None,
    alpha: float = TestDesign.alpha,
    seed: int = TestDesign.seed,
    rounds: int = TestDesign.rounds,
    systems: int = SYSTEMS,
    title: str = "",
    command: str = "",
    config: str = "",
    files: Sequence[Mapping[str, Any]] = (),
    undefined: Undefined | None = None,
    progress: Callable[[int, int], None] | None = None,
    executor: Any = None,
    sessions_file: str = "",
) -> Page:
    """A report of runs: one page with all results.

    Parameters
    ----------
    scores : Scores
        Or rankings, or sessions, or qrels and runs with the options of `align`, as for `evaluate`. Of sessions there
        are no distributions, users and residuals.
    measures : str, Measure or a list of them
        Unless scores are given. The first measure is the one that the page starts with.
    baseline : str, optional
        The run that others are compared with at first; the page lets one choose another. Without it, the best run.
    test, correction, alpha, seed, rounds
        As for `compare`; tests are two-sided.
    systems : int
        How many runs are shown in detail (distributions, dominance, documents): the baseline and the best by the first
        measure.
    title : str, optional
    command, config : str, optional
        How the report can be made again, shown on the page: a command, and a file for ``amble report --config``.
    files : list of dict, optional
        What was read: path, bytes and sha256 of each file.
    undefined : {"zero", "skip"}, optional
        As for `evaluate`, unless scores are given.
    progress : function, optional
        Called with the steps done and all there are.
    executor : optional
        Who reads, scores and computes distributions, as `Workers` takes it; the page is the same.
    sessions_file : str, optional
        Of scores of sessions: which of the files says what queries belong together.

    Returns
    -------
    Page

    Examples
    --------
    >>> import amble
    >>> qrels = {"1": {"a": 1, "b": 0}, "2": {"c": 1}}
    >>> runs = {
    ...     "x": {"1": {"a": 2.0, "b": 1.0}, "2": {"c": 1.0}},
    ...     "y": {"1": {"b": 2.0, "a": 1.0}, "2": {"c": 1.0}},
    ... }
    >>> report = amble.report(qrels, runs, "AP P@1", title="Two runs")
    >>> report.data["leaderboard"]["means"]
    [[1.0, 0.75], [1.0, 0.5]]
    >>> "Two runs" in report.html()
    True
    """
    if isinstance(scores, Scores) and measures is not None:
        raise AmbleError("measures, given with scores: expected one of them")
    scores = scores_of(scores, measures, undefined, executor)
    systems = checks.whole(systems, "systems")
    if not isinstance(title, str | None):
        raise AmbleError(f"title={title!r:.60}: expected text")
    design = TestDesign(
        baseline, test, correction=checks.or_usual(correction, ""), alpha=alpha, seed=seed, rounds=rounds
    )
    steps = 5 + 2 * len(scores.measures)
    done = 0
    with Progress("report") as line:

        def step(what: str) -> None:
            nonlocal done
            done += 1
            line.what = f"report, {what}"
            (progress or line)(min(done, steps), steps)

        with Lists.shared(scores.aligned) if scores.item == "topic" else nullcontext():
            board = Leaderboard(scores, design, progress=lambda i, n: step("tests"), executor=executor)
            first = board.order(0)[0] if baseline is None else board.place(baseline)
            data = report_data(scores, board, first, systems, progress=step, executor=executor)
    data["title"] = shown(title or "") or f"{len(scores.runs)} run{'s' * (len(scores.runs) != 1)}, compared"
    about = {
        "command_line": shown(command),
        "config": shown(config),
        "date": _date(),
        "sessions": sessions_file,
        "files": [{**f, "path": shown(str(f["path"]))} for f in files],
    }
    return Page(scores, board, data, about)


def _date() -> str:
    """Today, or the day that SOURCE_DATE_EPOCH says, as tools for reproducible builds do."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return (datetime.now(UTC) if given is None else datetime.fromtimestamp(int(given), UTC)).date().isoformat()
    except (ValueError, OverflowError, OSError):
        raise AmbleError(f"SOURCE_DATE_EPOCH={given!r}: expected a whole number, seconds since 1970") from None


def shell_paths(paths: Sequence[str]) -> str:
    """Paths as words of a shell: quoted, or if they are many, as a pattern that stands for these and no others.

    >>> shell_paths(["bm25.run", "my run"])
    "bm25.run 'my run'"
    """
    if len(paths) > _FEW:
        folder = os.path.dirname(paths[0])
        start, name = os.path.join(folder, ""), os.path.basename(paths[0])
        dots = [name[k:] for k, sign in enumerate(name) if sign == "."]  # endings of the first, the longest first
        for ending in [*(end for end in dots if all(path.endswith(end) for path in paths)), ""]:
            if sorted(glob.glob(f"{glob.escape(start)}*{glob.escape(ending)}")) == sorted(paths):
                return f"{shlex.quote(start) if start else ''}*{shlex.quote(ending) if ending else ''}"
    return shlex.join(paths)


def _options(options: Mapping[str, Any]) -> str:
    """Options as a command takes them."""
    return "".join(f" --{key} {shlex.quote(str(value))}" for key, value in options.items())


def _read_options(changed: dict[str, Any]) -> str:
    """How runs were read, as a command takes it."""
    single = " --float32" if changed.pop("score_dtype", "") == "float32" else ""
    return _options(changed) + single


def _commands(scores: Scores, design: TestDesign, about: Mapping[str, Any]) -> dict[str, str]:
    """The command that computes the numbers of each section, with the options of the page."""
    aligned = scores.rankings.options
    paths = [f["path"] for f in about["files"] if f["path"] not in (aligned.get("costs"), aligned.get("intents"))]
    qrels, runs = (shlex.quote(paths[0]), shell_paths(paths[1:])) if len(paths) > 1 else ("QRELS", "RUN…")
    changed = {key: aligned[key] for key, usual in DEFAULTS.items() if key in aligned and aligned[key] != usual}
    left_out = {"baseline"} if design.random else {"baseline", "seed", "rounds"}
    tested = _options({key: value for key, value in design.changed.items() if key not in left_out})
    if isinstance(scores.rankings, Sessions):
        changed.pop("missing", None)  # a session that a run lacks is left out, and no option says otherwise
        changed |= {"repeats": "once"} if scores.rankings.repeats == "once" else {}
        return _session_commands(scores, paths, _read_options(changed), tested, about["sessions"])
    read = _read_options(changed)
    seed = _options({key: value for key, value in design.changed.items() if key == "seed"})
    files = f"{qrels} {runs}{read}"
    measures = " ".join(shlex.quote(name) for name in scores.measures)
    first = shlex.quote(scores.measures[0])
    user = next((shlex.quote(m.label) for m in scores.parsed if m.declaration.is_user), first)
    return {
        "leaderboard": f"amble compare {files}{tested} -m {measures} --letters",
        "topics": f"amble eval {files} -m {measures} -q --format tsv",
        "documents": f"amble compare {files} -m {first} --why {shlex.quote(shown(scores.topics[0]))}",
        "distributions": f"amble distribution {files}{seed} -m {user} --levels",
        "users": f"amble user {user} --depth 100",
        "intents": f"amble eval {files} -m {measures} --by-intent",
        "meta": f"amble meta tau {files}{seed} -m {measures}",
        "audit": f"amble check {runs} --qrels {qrels}",
        "references": f"amble eval {files} -m {measures} --bib",
    }


def _session_commands(scores: Scores, paths: list[str], read: str, tested: str, table: str) -> dict[str, str]:
    """The commands of a report of sessions."""
    measures = " ".join(shlex.quote(name) for name in scores.measures)
    files = shlex.join(paths) or "QRELS SESSIONS RUN…"
    runs = shlex.join(path for path in paths if path != table) if table else files
    of_table = _options({"sessions": table} if table else {})
    asked, first = f"amble session {files}{read} -m {measures}", shlex.quote(scores.measures[0])
    return {
        "leaderboard": f"amble compare {runs}{of_table}{read}{tested} -m {measures} --letters",
        "topics": f"{asked} -q --format tsv",
        "documents": f"amble session {files}{read} -m {first} --why {shlex.quote(shown(scores.topics[0]))}",
        "references": f"{asked} --bib",
    }
