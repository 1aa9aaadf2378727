"""Contributions of documents to the scores of runs on a topic: which documents make the difference, at which ranks.

Most scores are sums over documents, and the contributions add up to the score:

* users of which the expected gain, or the expected gain over expected effort, E[T]/E[H] (order 2), is scored (P, RBP,
  DCG, nDCG, INST …): the gain of a document times the attention that its rank gets on this list, over what the score is
  divided by. Where behaviour depends on the grades, it is that on this list;
* users scored where they stop, who stop only at documents that gain (AP, RR, ERR): the probability of stopping there,
  times the gain per document at that rank. For AP that is the precision at the rank over the number of relevant
  documents;
* users scored where they stop, who may stop anywhere (walks of order 1): what the document's own gain adds to the
  gain per document;
* users who never stop (Markov Precision): the share of visits that the document gets, times precision there;
* a population: the mean over its users.

What is not a user (bpref, Rprec, infAP, Q …) is no such sum. There a document's contribution is what the score loses if
its judgment is taken away, as if nobody had judged it. These contributions do not add up, and the table says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Unpack, cast, overload

import numpy as np

from amble.arrays import Array, NDArray
from amble.comparison.session_contributions import SessionContributions, contributions_of_session
from amble.errors import MeasureError
from amble.evaluation.inputs import aligning
from amble.evaluation.run_distributions import chosen_runs, chosen_topics
from amble.evaluation.scores import Scores, of_sessions
from amble.measures import ListMeasure, Lists, Measure, parse
from amble.measures.intent_measure import IntentMeasure
from amble.measures.list_measure import of_lists
from amble.progress import Progress
from amble.rankings.alignment import AlignOptions, Rankings
from amble.rankings.costs import Prices
from amble.rankings.lists import Gains
from amble.sessions.sessions import Sessions
from amble.table import Table, Tabled
from amble.users.protocol import Question, User
from amble.users.subtopic_visits import SubtopicUser

__all__ = ["Contributions", "why"]

_CHUNK = 64  # documents tried at once

_KINDS = {
    "order2": "gain x the share of attention that the rank gets",
    "total": "gain x the probability of getting to the rank, over what the score is divided by",
    "order1": "the probability of stopping there x the gain per document",
    "satisfied": "the probability of stopping there / rank",
    "satisfied2": "the probability of stopping there / expected effort",
    "markov": "the share of visits x precision there",
    "share": "what its gain adds to the score",
    "removed": "what the score loses without its judgment",
}


class Contributions(Tabled):
    """What each document adds to the scores of runs on one topic; made by `why`.

    Attributes
    ----------
    topic, measure : str
    runs, docs : tuple of str
        Documents that add something to one of the scores, the largest differences between runs first; of one run, the
        largest contributions.
    grades : ndarray
        Of each document.
    ranks : ndarray of int
        Documents x runs; 0 where a run does not have the document.
    values : ndarray
        The contributions: documents x runs.
    scores : ndarray
        Of each run; NaN for a run without a list.
    adds_up : bool
        Whether the contributions of every run add up to its score.
    """

    def __init__(
        self,
        names: tuple[str, str, tuple[str, ...], tuple[str, ...]],
        arrays: tuple[Array, NDArray[np.int64], Array, Array],
        kind: str,
    ) -> None:
        self.topic, self.measure, self.runs, self.docs = names
        self.grades, self.ranks, self.values, self.scores = arrays
        for array in arrays:
            array.flags.writeable = False
        self.kind = kind
        known = ~np.isnan(self.scores)
        self.adds_up = bool(np.allclose(self.values.sum(axis=0)[known], self.scores[known], rtol=1e-9, atol=1e-12))

    @property
    def caption(self) -> str:
        """What the contributions are, in one line."""
        end = "they add up to the score" if self.adds_up else "they do not add up to the score"
        return f"{self.measure} on topic {self.topic}: contributions are {_KINDS[self.kind]}; {end}"

    def table(self, *, digits: int = 4, long: bool = False) -> Table:
        """A table with one row per document, the scores last; with two runs also their difference.

        Long: rows of measure, topic, doc, grade, run, rank, contribution.
        """
        docs, grades = self.docs, [int(g) if g.is_integer() else g for g in self.grades.tolist()]
        ranks = [[rank or None for rank in row] for row in self.ranks.tolist()]
        values, scores = self.values.tolist(), self.scores.tolist()
        facts = {
            "measure": self.measure,
            "topic": self.topic,
            "contributions": _KINDS[self.kind],
            "adds_up": self.adds_up,
        }
        if long:
            rows = [
                [self.measure, self.topic, doc, grades[d], run, ranks[d][r], values[d][r]]
                for d, doc in enumerate(docs)
                for r, run in enumerate(self.runs)
            ]
            rows += [
                [self.measure, self.topic, "all", None, run, None, score]
                for run, score in zip(self.runs, scores, strict=True)
            ]
            columns = ["measure", "topic", "doc", "grade", "run", "rank", "contribution"]
            return Table(columns, rows, digits=digits, facts=facts)
        two = len(self.runs) == 2
        columns = ["doc", "grade", *(name for run in self.runs for name in (f"rank {run}", run))]
        rows = []
        for name, grade, rank, value in (
            *zip(docs, grades, ranks, values, strict=True),
            ("all", None, [None] * len(self.runs), scores),
        ):
            cells: list[Any] = [name, grade, *(x for both in zip(rank, value, strict=True) for x in both)]
            rows.append([*cells, value[0] - value[1]] if two else cells)
        columns += ["difference"] * two
        return Table(columns, rows, digits=digits, facts=facts, caption=self.caption)

    def __repr__(self) -> str:
        return f"Contributions({len(self.docs)} documents, {self.caption})"


@overload
def why(
    rankings: Rankings | Scores,
    topic: str | int,
    measure: str | Measure | None = ...,
    *,
    runs: Iterable[str] | None = ...,
    costs: Prices | None = ...,
) -> Contributions: ...
@overload
def why(
    sessions: Sessions, session: str | int, measure: str | Measure, *, runs: Iterable[str] | None = ...
) -> SessionContributions: ...
@overload
def why(
    qrels: Any, runs: Any, topic: str | int, measure: str | Measure, **options: Unpack[AlignOptions]
) -> Contributions: ...
@aligning(Rankings, Scores, Sessions)
def why(
    rankings: Rankings | Scores | Sessions,
    topic: str | int,
    measure: str | Measure | None = None,
    *,
    runs: Iterable[str] | None = None,
) -> Contributions | SessionContributions:
    """What each document contributes to the scores of runs on a topic, or in a session.

    Parameters
    ----------
    rankings : Rankings, Sessions or Scores
        Or qrels and runs, with the options of `align`, as for `evaluate`.
    topic : str
        Or the name of a session.
    measure : str or Measure, optional
        Needed unless scores of a single measure are given.
    runs : list of str, optional
        Of rankings or scores: some of the runs; without it, all of them.

    Returns
    -------
    Contributions or SessionContributions

    Examples
    --------
    >>> import amble
    >>> qrels = {"1": {"a": 1, "b": 1, "c": 0}}
    >>> runs = {"x": {"1": {"a": 3.0, "c": 2.0, "b": 1.0}}, "y": {"1": {"c": 3.0, "a": 2.0}}}
    >>> print(amble.why(qrels, runs, "1", "AP"))  # x: (1/1 + 2/3) / 2, y: (1/2) / 2
    AP on topic 1: contributions are the probability of stopping there x the gain per document; they add up to the score
    doc  grade  rank x       x  rank y       y  difference
    b        1       3  0.3333       -  0.0000      0.3333
    a        1       1  0.5000       2  0.2500      0.2500
    all      -       -  0.8333       -  0.2500      0.5833
    >>> sessions = amble.Sessions.of_queries([[1, 0], [0, 3]])
    >>> print(amble.why(sessions, "1", "MsM(p=.5,q=0,r=.25,s=.25)"))  # t = 1 + e_Q; e_Q = 1 + 2/3
    MsM(p=.5,q=0,r=.25,s=.25) on session 1: contributions are reach of the query x discount of the rank x gain; ...
    query  doc  grade  rank   reach  discount    gain  sessions
    1      -        1     1  1.0000    1.0000  1.0000    1.0000
    2      -        3     2  0.5000    0.2727  3.0000    0.4091
    all    -        -     -       -         -       -    1.4091
    """
    given: Scores | None = None
    if isinstance(rankings, Scores):
        if measure is None and len(rankings.parsed) == 1:
            measure = rankings.parsed[0]
        given, rankings = rankings, cast(Rankings | Sessions, rankings.rankings)
    if measure is None:
        raise MeasureError("no measure given, expected one, such as 'AP'")
    if isinstance(rankings, Sessions):
        return contributions_of_session(rankings, topic, of_sessions(parse(measure)), chosen_runs(rankings, runs))
    m = of_lists(parse(measure))
    [t] = chosen_topics(rankings, [topic])
    topic = rankings.topics[t]
    lists = Lists.of_rankings(rankings)
    if lists.ties is not None:
        raise MeasureError("ties='expected': tied documents have no one rank to be gained at; use ties='docno'")
    wanted = [rankings.index(name) for name in chosen_runs(rankings, runs)]
    at = [_list_of(rankings, run, t) for run in wanted]
    here = m.at_topic(topic)
    found = [None if i is None else _contributions(here, lists, i) for i in at]
    scored = _scores(m, lists, rankings, given)
    scores = np.array([np.nan if i is None else scored[i] for i in at])
    sums = [0.0 if own is None else float(own[0].sum()) for own in found]
    missed = [i is not None and own is None for i, own in zip(at, found, strict=True)]
    adds_up = not any(missed) and np.allclose(sums, np.nan_to_num(scores), rtol=1e-9, atol=1e-12)
    rows, ranks = _documents(lists, at)
    if adds_up:
        values = np.zeros(ranks.shape)
        for r, (i, own) in enumerate(zip(at, found, strict=True)):
            if i is not None and own is not None:
                values[np.searchsorted(rows, lists.row[lists.hits(i)]), r] = own[0]
    else:
        values = _losses_without(here, lists, rows, at, rankings.unjudged == "condense")
    names = [rankings.runs[run] for run in wanted]
    kinds = [own[1] for own in found if own is not None] if adds_up else []
    return _sorted(m, rankings, (topic, names), (rows, ranks, values, scores), kinds[0] if kinds else "removed")


def _scores(m: ListMeasure, lists: Lists, rankings: Rankings, given: Scores | None) -> Array:
    """The score of every list: as it was given, where it was, else scored again."""
    if given is not None and not given.standardised and m in given.parsed:
        known = given.values[rankings.run, rankings.topic, given.parsed.index(m)]
        if not np.isnan(known).any():
            return np.asarray(known)
    return m.scores(lists)


def _list_of(rankings: Rankings, run: int, topic: int) -> int | None:
    here = np.flatnonzero((rankings.run == run) & (rankings.topic == topic))
    return int(here[0]) if here.size else None


def _documents(lists: Lists, at: list[int | None]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows of judged documents that some list has, and their ranks as shown in each."""
    hits = [None if i is None else lists.hits(i) for i in at]
    rows = np.unique(np.concatenate([np.zeros(0, np.int64), *(lists.row[h] for h in hits if h is not None)]))
    ranks = np.zeros((rows.size, len(at)), np.int64)
    for r, h in enumerate(hits):
        if h is not None:
            ranks[np.searchsorted(rows, lists.row[h]), r] = lists.shown_position[h]
    return np.asarray(rows, np.int64), ranks


def _sorted(
    m: ListMeasure,
    rankings: Rankings,
    names: tuple[str, list[str]],
    arrays: tuple[NDArray[np.int64], NDArray[np.int64], Array, Array],
    kind: str,
) -> Contributions:
    """Documents that contribute, those that make most of a difference (of one run: its score) first, then by rank."""
    rows, ranks, values, scores = arrays
    kept = np.flatnonzero(np.abs(values).max(axis=1, initial=0.0) > 1e-15)
    alone = values.shape[1] == 1
    spread = np.abs(values[kept, 0]) if alone else np.ptp(values[kept], axis=1) if kept.size else np.zeros(0)
    first = np.where(ranks[kept] > 0, ranks[kept], np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(np.int64).max)
    kept = kept[np.lexsort((first, -np.round(spread, 12)))]
    docs = tuple(rankings.qrels.docs[row] for row in rows[kept].tolist())
    topic, runs = names
    grades = np.array(rankings.qrels.grades[rows[kept]])
    return Contributions((topic, m.label, tuple(runs), docs), (grades, ranks[kept], values[kept], scores), kind)


def _contributions(m: ListMeasure, lists: Lists, i: int) -> tuple[Array, str] | None:
    """What each judged document of list i adds to its score, and the key of `_KINDS`; None if it is no such sum."""
    if isinstance(m, IntentMeasure):
        return _contributions_by_intent(m, lists, i)
    if m.is_population:
        each = [(w, _contributions(one, lists, i)) for w, one in m.members]
        found = [(w, own) for w, own in each if own is not None]
        if len(found) < len(each):
            return None
        total = np.zeros(found[0][1][0].size)
        for weight, (own, _) in found:
            total += weight * own
        return total, found[0][1][1]
    if m.declaration.question is None:
        return None
    gains = m.gains_of(lists)
    values, kind = _of_hits(m, m.one_user, gains, i)
    by = m.divisors(gains)
    out = np.zeros(int(lists.offsets[i + 1] - lists.offsets[i]))
    out[gains.kept[gains.hits(i)] - lists.offsets[i]] = values / (1.0 if by is None else by[i] if by[i] > 0 else np.inf)
    return out, kind


def _of_hits(m: ListMeasure, user: User, gains: Gains, i: int) -> tuple[Array, str]:
    """What each hit of list i adds to what a user asks for, and the key of `_KINDS`."""
    mine = gains.hits(i)
    rank, gain = gains.position[mine], gains.gain[mine]
    by_rank, per_gain = user.worth(m.question, gains, i)
    worth = by_rank[np.minimum(rank, by_rank.size) - 1]
    out = np.where(rank <= by_rank.size, gain * worth if per_gain else worth, 0.0)
    return out, "share" if per_gain and m.question is Question.ORDER1 else m.question.value


def _contributions_by_intent(m: IntentMeasure, lists: Lists, i: int) -> tuple[Array, str] | None:
    """What each judged document of list i adds to the scores of people who mean different things, given those above."""
    ranks, kind = lists.position[lists.hits(i)], ""
    out = np.zeros(ranks.size)
    for share, by, one, reader, gains, j in m.people_on(lists, i):
        if reader is None or isinstance(reader, SubtopicUser):  # whose gain is of no one document
            return None
        found, kind = _of_hits(one, reader, gains, j)
        out[np.searchsorted(ranks, gains.position[gains.hits(j)])] += share * found / by
    return out, kind


def _losses_without(
    m: ListMeasure, lists: Lists, rows: NDArray[np.int64], at: list[int | None], condensed: bool
) -> Array:
    """What the score of each list loses if the judgment of each document is taken away; the largest grade stays."""
    scored = m.scores(lists)
    out = np.zeros((rows.size, len(at)))
    with Progress(f"contributions to {m}") as line:
        for r, i in enumerate(at):
            for start in range(0, rows.size if i is not None else 0, _CHUNK):
                chunk = slice(start, start + _CHUNK)
                if i is not None:
                    out[chunk, r] = scored[i] - m.scores(_without(lists, i, rows[chunk], condensed))
                line(r * rows.size + start, len(at) * rows.size)
    return np.where(np.abs(out) > 1e-12, out, 0.0)


def _without(lists: Lists, i: int, rows: NDArray[np.int64], condensed: bool) -> Lists:
    """List i over and over, each time with a topic of its own without one of its judgments."""
    t = int(lists.topic[i])
    first, end = int(lists.rows[t]), int(lists.rows[t + 1])
    hits = lists.hits(i)
    own, shown = np.asarray(lists.row[hits], np.int64) - first, np.asarray(lists.shown_position[hits])
    grades, judgments, position, ranks, row, offsets = [], [], [], [], [], [0]
    for k, gone in enumerate((rows - first).tolist()):
        kept = own != gone
        grades.append(np.delete(lists.grades[first:end], gone))
        judgments.append(np.delete(lists.judgment[first:end], gone))
        ranks.append(shown[kept])
        position.append(np.arange(1, int(kept.sum()) + 1) if condensed else shown[kept])
        row.append(own[kept] - (own[kept] > gone) + k * (end - first - 1))
        offsets.append(offsets[-1] + int(kept.sum()))
    n = rows.size
    length = np.full(n, int(lists.shown_length[i]))
    return Lists(
        grades=np.concatenate(grades),
        rows=np.arange(n + 1) * (end - first - 1),
        topic=np.arange(n),
        length=np.diff(offsets) if condensed else length,
        offsets=np.array(offsets),
        position=np.concatenate(position),
        row=np.concatenate(row),
        max_grade=lists.max_grade,
        shown=(np.concatenate(ranks), length),
        qrels=lists.qrels,
        judgment=np.concatenate(judgments),
        costs=None if lists.costs is None else lists.costs.of(np.full(n, i)),
    )
