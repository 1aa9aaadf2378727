"""The explorer: a page in which the reader is the user, and a playground of lists; computed inside, without network.

The page holds the ranks and grades of the documents that may gain something, packed into bytes, and computes scores,
visits and distributions itself; `assets/explore_users.js` and `assets/explore_simulation.js` are its mathematics.
"""

from __future__ import annotations

import base64
import html
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from amble.arrays import Ints
from amble.errors import AmbleError
from amble.evaluation.scores import Scores
from amble.io.files import write_whole
from amble.io.html import asset, embedded, page
from amble.measures import parse
from amble.rankings.alignment import byte_order
from amble.rankings.lists import Lists
from amble.reporting.charts.chart import shown
from amble.users.fitted import Fitted, FittedModel

__all__ = ["MEASURES", "Explorer", "explorer", "playground"]

MEASURES = "AP nDCG@10 P@10 RR"  # that the user's ranking is set against
_SHARED = ("explore_users.js", "explore_simulation.js")  # the page's and the worker's
_SCRIPTS = ("marks.js", "explore_state.js", "explore_charts.js", "explore_walker.js", "explore_start.js")
_KINDS = {"walk": ("walk", ("p", "q")), "rbp": ("RBP", ("p",)), "insq": ("INSQ", ("T",)), "inst": ("INST", ("T",))}
_MOST_GRADES = 1 << 16
_LEAST_STOP = 0.02  # of walks on the page; explore_state.js has it, too
_MOST_PERSISTENT = 0.995
_EXAMPLES: tuple[dict[str, Any], ...] = (
    {
        "name": "Two lists with four relevant documents (Ferrante and Ferro, 2020, Figure 1)",
        "about": "Order 1 prefers r, order 2 prefers s: which list is better depends on the question and on the user.",
        "lists": {"r": (1, 0, 0, 1, 0, 0, 1, 0, 0, 1), "s": (0, 1, 1, 1, 1, 0, 0, 0, 0, 0)},
        "user": {"kind": "walk", "p": 0.5, "q": 0.25, "loss": 0.25, "first": "forward", "order": 1, "depth": 0},
    },
    {
        "name": "Graded documents, and their best order",
        "about": "Grades 0 to 3, and eight relevant documents in all, the best first in the second list.",
        "lists": {"found": (3, 0, 1, 2, 0, 0, 0, 2, 0, 0), "ideal": (3, 3, 2, 2, 2, 1, 1, 1, 0, 0)},
        "relevant": 8,
        "user": {"kind": "INST", "T": 2, "depth": 0},
    },
    {
        "name": "The same, relevant or not",
        "about": "RBP with p = 0.8 is 0.4723 on the first list.",
        "lists": {"found": (1, 0, 1, 1, 0, 0, 0, 1, 0, 0), "ideal": (1, 1, 1, 1, 1, 1, 1, 1, 0, 0)},
        "relevant": 8,
        "user": {"kind": "RBP", "p": 0.8, "depth": 0},
    },
    {
        "name": "Early or late",
        "about": "The impatient prefer early, the patient do not mind: drag p.",
        "lists": {"early": (1, 1, 0, 0, 0, 0, 0, 0, 0, 0), "late": (0, 0, 0, 0, 0, 0, 0, 1, 1, 1)},
        "user": {"kind": "RBP", "p": 0.7, "depth": 0},
    },
)


class Explorer:
    """A page in which the reader is the user; made by `explorer` or `playground`.

    Attributes
    ----------
    data : dict
        The data of the page, as they are embedded.
    """

    def __init__(self, title: str, facts: str, data: dict[str, Any]) -> None:
        self.title, self.facts, self.data = shown(title), facts, data

    def html(self) -> str:
        """The page as HTML."""
        from amble import __version__

        texts = {"TITLE": self.title, "FACTS": self.facts, "VERSION": __version__}
        parts = {key: html.escape(text) for key, text in texts.items()} | {"DATA": embedded(self.data)}
        body = re.sub(  # in one pass, as names may hold anything
            r"@(?:(\w+)|EXPORT:(\w+)(:csv)?)@",
            lambda found: parts[found[1]] if found[1] else _buttons(found[2], drawn=not found[3]),
            asset("amble.reporting", "explore.html"),
        )
        style = "\n".join(asset("amble.reporting", name) for name in ("page.css", "explore.css"))
        scripts = ("\n".join(asset("amble.reporting", name) for name in names) for names in (_SHARED, _SCRIPTS))
        return page(self.title, style, body, *scripts, workers=True)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        write_whole(path, self.html())

    def __repr__(self) -> str:
        return f"Explorer({self.title}, {self.facts})"


def explorer(
    scores: Scores,
    *,
    title: str = "",
    qrels: str = "",
    files: Sequence[str] = (),
    options: Sequence[str] = (),
    aligned: Mapping[str, Any] | None = None,
    users: Sequence[tuple[str, Fitted]] = (),
) -> Explorer:
    """The page of runs.

    Parameters
    ----------
    scores : Scores
        Of rankings, by the measures that the user's ranking of runs is set against.
    title : str, optional
    qrels, files, options, aligned
        The files, and the options of the command and of `evaluate`, for the commands that the page gives.
    users : sequence of (str, Fitted)
        Fitted users, each with its name: those with one number for each parameter are presets.

    Examples
    --------
    >>> import amble
    >>> from amble.reporting.explorer import explorer
    >>> scores = amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"b": 2.0, "a": 1.0}}}, "AP")
    >>> explorer(scores)
    Explorer(1 run, explored, 1 topic, AP)
    """
    rankings = scores.aligned
    lists = Lists.of_rankings(rankings)
    if rankings.ties == "expected":
        raise AmbleError("ties='expected': tied documents have no one rank to walk to; use ties='docno'")
    order = byte_order(rankings.topics)  # the order in which means are summed
    runs = [shown(run) for run in scores.runs]
    data = {
        "runs": runs,
        "topics": [shown(rankings.topics[t]) for t in order],
        "measures": [{"name": m.label, "sign": m.sign} for m in scores.parsed],
        "means": [[x if np.isfinite(x) else None for x in row] for row in scores.means().T.tolist()],
        "qrels": qrels,
        "files": list(files),
        "options": list(options),
        "aligned": dict(aligned or {}),
        "fitted": [preset for name, fitted in users for preset in _presets(name, fitted)],
        **_packed_lists(lists, rankings.run.astype(np.int64), order, len(runs)),
    }
    n = len(rankings.topics)
    facts = f"{n} topic{'s' * (n != 1)}, {', '.join(scores.measures)}"
    return Explorer(title or f"{len(runs)} run{'s' * (len(runs) != 1)}, explored", facts, _started(data))


def playground() -> Explorer:
    """The page of lists whose documents are clicked to change their grades.

    Examples
    --------
    >>> from amble.reporting.explorer import playground
    >>> playground()
    Explorer(A playground of lists, click a document to change its grade, drag the user)
    """
    examples = []
    for one in _EXAMPLES:
        rows = [{"name": name, "grades": list(grades)} for name, grades in one["lists"].items()]
        relevant = max(sum(g >= 1 for g in row["grades"]) for row in rows)
        largest = max(g for row in rows for g in row["grades"])
        examples.append({"relevant": relevant, "largest": largest, **one, "lists": rows})
    data = {
        "runs": [row["name"] for row in examples[0]["lists"]],
        "topics": ["1"],
        "measures": [],
        "means": [],
        "fitted": [],
        "play": {**{key: examples[0][key] for key in ("lists", "relevant", "largest")}, "examples": examples},
    }
    return Explorer("A playground of lists", "click a document to change its grade, drag the user", _started(data))


def _started(data: dict[str, Any]) -> dict[str, Any]:
    """The data with the runs that are compared at first."""
    return data | {"system": 0, "baseline": min(1, len(data["runs"]) - 1)}


def _buttons(chart: str, drawn: bool) -> str:
    """Buttons that save a chart as SVG, if it is drawn, and its numbers as CSV."""
    kinds = ("svg", "csv") if drawn else ("csv",)
    buttons = (
        f'<button type="button" class="save" data-{kind}="{chart}" aria-label="Save {chart} as {kind.upper()}">'
        f"{kind.upper()}</button>"
        for kind in kinds
    )
    return f'<span class="saves">{"".join(buttons)}</span>'


def _packed(numbers: Any) -> str:
    """Whole numbers of at least 0 as bytes in base64: seven bits a byte, the low ones first, 128 where more follow.

    >>> base64.b64decode(_packed([1, 300])).hex()  # 300 = 2 x 128 + 44
    '01ac02'
    """
    x = np.asarray(numbers, np.int64)
    size = np.ones(x.size, np.int64)
    for k in range(1, 5):
        size += x >= 1 << 7 * k
    start = np.cumsum(size) - size
    out = np.zeros(int(size.sum()), np.uint8)
    for k in range(int(size.max(initial=0))):
        there = size > k
        out[start[there] + k] = (x[there] >> 7 * k & 127) + 128 * (size[there] > k + 1)
    return base64.b64encode(out.tobytes()).decode()


def _packed_lists(lists: Lists, run: Ints, order: Ints, runs: int) -> dict[str, Any]:
    """All lists, run by run and topic by topic (absent ones empty): lengths, and ranks and grades of what may gain."""
    topics = order.size
    place = np.argsort(order)[lists.topic] + run * topics  # of each list
    length = np.zeros(runs * topics, np.int64)
    length[place] = lists.length
    grade = lists.grades[lists.row]
    of = np.repeat(place, np.diff(lists.offsets))
    kept = np.flatnonzero((grade > 0) & (lists.position <= length[of]))
    kept = kept[np.lexsort((lists.position[kept], of[kept]))]
    of, rank = of[kept], np.asarray(lists.position[kept], np.int64)
    grades, kind = np.unique(grade[kept], return_inverse=True)
    if grades.size > _MOST_GRADES:
        raise AmbleError(f"{grades.size:,} different grades, expected at most {_MOST_GRADES:,}")
    steps = np.diff(rank, prepend=0)
    first = np.flatnonzero(np.diff(of, prepend=-1))
    steps[first] = rank[first]
    relevant = [
        int((lists.grades[a:b] >= 1).sum()) for a, b in zip(lists.rows[order], lists.rows[order + 1], strict=True)
    ]
    there = np.zeros(length.size, bool)
    there[place] = True
    return {
        "lists": {
            "length": _packed(length),
            "hits": _packed(np.bincount(of, minlength=length.size)),
            "steps": _packed(steps),
            "kinds": _packed(kind.ravel()),
        },
        "grades": grades.tolist(),
        "max_grade": float(lists.max_grade),
        "relevant": relevant,
        "absent": np.flatnonzero(~there).tolist(),
    }


def _presets(name: str, fitted: Fitted) -> list[dict[str, Any]]:
    """The models of a file whose parameters are one number each, as users of the page with their intervals."""
    return [preset for model in fitted.models for preset in [_preset(name, model)] if preset is not None]


def _preset(name: str, model: FittedModel) -> dict[str, Any] | None:
    kind, parameters = _KINDS.get(model.kind, ("", ()))
    found = {key: model.estimates[key] for key in parameters}
    if not kind or any(e.form != "one" or not np.isfinite(e.value) for e in found.values()):
        return None
    values = {key: float(e.value) for key, e in found.items()}
    if kind == "walk" and ("start" in model.estimates or 0 < values["q"] > 1 - _LEAST_STOP - values["p"]):
        return None
    if kind == "RBP" and not 0 < values["p"] <= _MOST_PERSISTENT:
        return None
    more = {"first": model.first, "loss": parse("PH").values["loss"]} if kind == "walk" else {}
    return {
        "name": shown(f"{name} {model.name}"),
        "user": {"kind": kind, **values, **more},
        "ranges": {key: [float(x) for x in (e.low, e.high) if x is not None] for key, e in found.items()},
        "confidence": round(100 * model.confidence, 6),
    }
