"""Scores of runs by topic and measure: `evaluate` computes them, `Scores` holds them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, get_args, overload

import numpy as np

from amble import checks
from amble.arrays import NDArray
from amble.distributions.distribution import Distribution
from amble.errors import AlignError, MeasureError
from amble.evaluation.inputs import DEFAULTS, Measures, Scored, aligning, each_label, parse_measures
from amble.io.trec import Qrels, Ranked, Run, Runs, one_dictionary, read_qrels
from amble.measures import ListMeasure, Lists, Measure, parse
from amble.measures.list_measure import of_lists, scores_of_each
from amble.parallel import spread
from amble.progress import Progress
from amble.rankings.alignment import (
    LEAST,
    AlignOptions,
    Rankings,
    SentQrels,
    aggregate,
    byte_order,
    gather,
    plain_mean,
    plain_median,
)
from amble.rankings.costs import Prices
from amble.sessions.sessions import Sessions
from amble.table import Table, frame_of, mean_topic
from amble.users.protocol import Question

if TYPE_CHECKING:
    from amble.evaluation.topic_groups import Groups, TopicGroups
    from amble.measures.session_measure import SessionMeasure

__all__ = ["Scores", "Undefined", "evaluate", "mean_residuals", "scored", "scores_of", "scores_of_dictionary"]

Array = NDArray[np.float64]
Undefined = Literal["zero", "skip"]
T = TypeVar("T")

_TOGETHER = 1024  # lists that a worker scores at a time


def best_of(measure: Measure, means: Array) -> list[int]:
    """The places of the best means by a measure; of NaN, none, and of a measure without a direction."""
    if measure.declaration.less is None:
        return []
    merit = measure.sign * means
    top = np.nan if np.isnan(merit).all() else np.nanmax(merit)
    return [int(i) for i in np.flatnonzero(merit == top)]


class _NotEvaluatedError(MeasureError):
    """A measure that scores do not have."""


class Scores:
    """The score of every run, topic and measure.

    Attributes
    ----------
    runs, topics, measures : tuple of str
        Labels; runs in the order given, topics in the order of the judgments, measures as they were typed. Of sessions,
        their names.
    parsed : tuple of Measure
        The measures themselves.
    values : ndarray
        Of shape (runs, topics, measures); NaN where a topic was left out.
    rankings : Rankings or Sessions
        What was scored, with its audit.

    Examples
    --------
    >>> import amble
    >>> qrels = {"401": {"a": 1, "b": 0}, "402": {"c": 1}}
    >>> runs = {"x": {"401": {"a": 2.0, "b": 1.0}, "402": {"d": 2.0, "c": 1.0}}}
    >>> scores = amble.evaluate(qrels, runs, ["AP", "P@1"])
    >>> scores["x", "AP"]
    array([1. , 0.5])
    >>> print(scores.mean())
    run      AP     P@1
    x    0.7500  0.5000
    """

    def __init__(
        self,
        rankings: Scored | Callable[[], Scored],
        measures: Sequence[Measure],
        values: Array,
        *,
        standardised: bool = False,
        names: tuple[tuple[str, ...], tuple[str, ...]] | None = None,
    ) -> None:
        self.standardised = standardised
        self._rankings = rankings  # or, with names, how to make them if they are asked for
        self.runs, self.topics = names or (self.rankings.runs, self.rankings.topics)
        self.parsed = tuple(measures)
        self.measures = tuple(m.label for m in measures)
        self.values = values
        values.setflags(write=False)

    @property
    def rankings(self) -> Scored:
        """What was scored."""
        if callable(self._rankings):
            self._rankings = self._rankings()
        return self._rankings

    @property
    def aligned(self) -> Rankings:
        """The rankings that were scored; an error if sessions were."""
        if not isinstance(self.rankings, Rankings):
            raise MeasureError(
                "scores of sessions, expected those of rankings; of one session use the measure itself, as in "
                "parse('MsM').distribution(matrix)"
            )
        return self.rankings

    def place(self, measure: str | Measure) -> int:
        """The index of a measure in `measures`: by what was typed, its canonical name, or the measure itself.

        Examples
        --------
        >>> import amble
        >>> scores = amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}}, ["AP", "RBP(p=0.8)"])
        >>> scores.measures
        ('AP', 'RBP(p=0.8)')
        >>> scores.place("RBP(p=0.8)"), scores.place("RBP"), scores.place(amble.parse("RBP"))
        (1, 1, 1)
        """
        if isinstance(measure, str) and measure.strip() in self.measures:
            return self.measures.index(measure.strip())
        m = parse(measure)
        if isinstance(self.rankings, Sessions):
            m = of_sessions(m)
        if m not in self.parsed:
            raise _NotEvaluatedError(f"{m.label} was not evaluated; there are {', '.join(self.measures)}")
        return self.measures.index(m.label) if m.label in self.measures else self.parsed.index(m)

    def __getitem__(self, key: tuple[str, str | Measure]) -> Array:
        if not isinstance(key, tuple) or len(key) != 2:
            raise KeyError(f"{key!r}: expected a run and a measure, as in scores['bm25', 'AP']")
        run, measure = key
        try:
            return self.values[self.rankings.index(run), :, self.place(measure)]
        except _NotEvaluatedError as error:
            raise KeyError(str(error)) from None

    @property
    def item(self) -> str:
        """What has a score: "topic", or "session"."""
        return "session" if isinstance(self.rankings, Sessions) else "topic"

    def _repr_html_(self) -> str:
        return self.mean().html()

    def __repr__(self) -> str:
        return f"Scores({len(self.runs)} runs, {len(self.topics)} {self.item}s, {', '.join(self.measures)})"

    def _on_list(self, run: str, topic: str | int, measure: str | Measure) -> tuple[ListMeasure, Array, dict[str, Any]]:
        """The measure, the grades of a run's list, and the context that the measure needs with them."""
        rankings = self.aligned
        if rankings.ties == "expected":
            raise MeasureError("ties='expected': tied documents have no one rank to walk to; use ties='docno'")
        m = of_lists(parse(measure))
        qrels = rankings.qrels
        topic = checks.id_text(topic)
        t = qrels.topics.index(topic) if topic in qrels.topics else -1
        if t < 0:
            raise KeyError(topic)
        if m.declaration.of_intents:
            if qrels.subtopics is None:
                raise MeasureError(f"{m.label}: judgments without subtopics, expected them read with subtopics=True")
            every = qrels.subtopics.matrix(t, int(qrels.offsets[t]), int(qrels.offsets[t + 1]))
            i, own = rankings.list_of(run, topic), np.full((len(rankings.grades(run, topic)), every.shape[1]), np.nan)
            hits = slice(int(rankings.offsets[i]), int(rankings.offsets[i + 1]))
            own[rankings.positions[hits] - 1] = every[rankings.row[hits] - qrels.offsets[t]]
            weight = qrels.subtopics.weight[qrels.subtopics.offsets[t] : qrels.subtopics.offsets[t + 1]]
            return m, own, {"ideal": every, "max_grade": qrels.max_grade, "intents": (weight / weight.sum()).tolist()}
        judged = qrels.grades[qrels.offsets[t] : qrels.offsets[t + 1]]
        context: dict[str, Any] = {"ideal": judged, "max_grade": qrels.max_grade, "topic": topic}
        markov = any(one.question is Question.MARKOV for _, one in m.members)
        costs = rankings.costs is not None and m.looks_at_costs
        if markov or costs:
            lists = Lists.of_rankings(rankings)
            if costs and lists.costs is not None:
                i = rankings.list_of(run, topic)
                context["costs"] = lists.costs.stretch(np.array([i]), 0, int(lists.length[i]))[0].tolist()
            if markov:  # it may matter what the other runs found
                from amble.users.markov_scores import most_found

                context["most"] = most_found(m.gains_of(lists), t)
        return m, rankings.grades(run, topic), context

    def distribution(self, run: str, topic: str | int, measure: str | Measure) -> Distribution:
        """The distribution of a score over users: of one run, topic and measure.

        Examples
        --------
        >>> import amble
        >>> qrels = {"401": {"a": 1, "b": 1}}
        >>> scores = amble.evaluate(qrels, {"x": {"401": {"a": 3.0, "c": 2.0}}}, "AP")
        >>> scores.distribution("x", "401", "AP")  # half of AP's users stop at b, which was not retrieved
        Distribution(2 atoms, mean 0.5, exact)
        """
        m, grades, context = self._on_list(run, topic, measure)
        return m.distribution(grades, **context)

    def user(self, run: str, topic: str | int, measure: str | Measure) -> Any:
        """The behaviour of a measure's user on the list of a run and topic."""
        m, grades, context = self._on_list(run, topic, measure)
        return m.user(grades, **context)

    @property
    def logarithms(self) -> tuple[str, ...]:
        """The measures whose mean is geometric, so that logarithms are compared; standardised scores have none."""
        if self.standardised:
            return ()
        return tuple(m.label for m in self.parsed if m.declaration.aggregate == "geometric")

    def averaged(self, j: int) -> Array:
        """What the j-th measure averages, of shape (runs, topics): scores, or logarithms if its mean is geometric.

        The greater the better: negative where less is better. Topics are in the byte order of their ids.
        """
        values = self.values[:, :, j]
        if self.measures[j] in self.logarithms:
            values = np.log(np.maximum(values, LEAST))
        return np.asarray(self.parsed[j].sign * values[:, byte_order(self.topics)] + 0.0)  # and no -0

    def means(self) -> Array:
        """Means over topics, of shape (runs, measures); sums for counts, the geometric mean for GMAP.

        Topics are added up in the byte order of their ids, as trec_eval adds them, whatever order they came in.
        """
        out = np.empty((len(self.runs), len(self.measures)))
        order = byte_order(self.topics)
        for j, measure in enumerate(self.parsed):
            how, values = measure.declaration.aggregate, self.values[:, order, j]
            if how == "geometric" and self.standardised:  # the values are standardised logarithms already
                out[:, j] = np.exp(plain_mean(values))
            else:
                out[:, j] = aggregate(how, values)
        return out

    def medians(self) -> Array:
        """Medians over topics, of shape (runs, measures).

        Half of the topics score at most the median, half at least: unlike the mean, it is not moved by a few topics
        with extreme scores, nor by how far the best and the worst lie apart.
        """
        return plain_median(np.moveaxis(self.values, 1, 2))

    def interval(self, confidence: float = 0.95) -> Array:
        """Half-widths of the confidence intervals of the means (Student's t over topics); NaN unless a plain mean."""
        from scipy.special import stdtrit

        n = np.count_nonzero(~np.isnan(self.values), axis=1)
        out = np.full((len(self.runs), len(self.measures)), np.nan)
        for j, measure in enumerate(self.parsed):
            if measure.declaration.aggregate != "mean":
                continue
            for i in range(len(self.runs)):
                x = self.values[i, :, j]
                x = x[~np.isnan(x)]
                if x.size > 1:
                    t = stdtrit(x.size - 1, 0.5 + confidence / 2)
                    out[i, j] = t * x.std(ddof=1) / math.sqrt(n[i, j])
        return out

    def _cell(self, j: int, value: float) -> float | int:
        whole = self.parsed[j].declaration.aggregate == "sum" and not self.standardised and float(value).is_integer()
        return int(value) if whole else float(value)

    def _of_topics(self, kept: NDArray[np.bool_]) -> Scores:
        """The scores on some of the topics, for summaries of them."""
        topics = tuple(topic for topic, keep in zip(self.topics, kept.tolist(), strict=True) if keep)
        names = (self.runs, topics)
        return Scores(self._rankings, self.parsed, self.values[:, kept], standardised=self.standardised, names=names)

    def mean(
        self,
        *,
        digits: int = 4,
        intervals: bool = False,
        sort: str | Measure | None = None,
        median: bool = False,
        groups: Groups | None = None,
        long: bool = False,
    ) -> Table:
        """A table of means, one row per run; the best of each measure in bold.

        Parameters
        ----------
        digits : int
        intervals : bool
            Half the width of the 95 % confidence interval beside each mean.
        sort : str or Measure, optional
            The best run first, by this measure.
        median : bool
            The median beside each mean; see `medians`.
        groups : {topic: group} or path, optional
            Groups of topics, or a file of lines ``topic group``: the means over each group, with its number of topics,
            and last those over all topics, whose group is ``all`` (None if a group has that name).
        long : bool
            Rows of run, topic, measure, value instead, with groups of run, group, topics, measure, value; and median.

        Examples
        --------
        >>> import amble
        >>> qrels = {t: {"a": 1} for t in "123"}
        >>> run = {"1": {"a": 2.0, "b": 1.0}, "2": {"b": 2.0, "a": 1.0}, "3": {"b": 2.0, "a": 1.0}}
        >>> scores = amble.evaluate(qrels, {"x": run}, "RR")
        >>> print(scores.mean(median=True, groups={"1": "short", "2": "long", "3": "long"}))
        group  topics  run      RR  median
        short       1  x    1.0000  1.0000
        long        2  x    0.5000  0.5000
        all         3  x    0.6667  0.5000
        """
        found: TopicGroups | None = None
        if groups is not None:
            from amble.evaluation.topic_groups import topic_groups  # means of all topics do without

            found = topic_groups(groups, self.topics, self.item)
        parts: list[tuple[list[Any], Scores]] = [([], self)]
        if found is not None:
            parts = [([name, int(kept.sum())], self._of_topics(kept)) for name, kept in found.members.items()]
            parts.append(([mean_topic(found.members), len(self.topics)], self))
        heads = ["group", f"{self.item}s"] if found is not None else []
        columns = [*heads, "run"]
        for name in self.measures:
            columns += [name, *["±"] * intervals, *["median"] * median]
        rows: list[list[Any]] = []
        best: set[tuple[int, int]] = set()
        step = 1 + intervals + median
        for head, part in parts:
            means, medians = part.means(), part.medians() if median else None
            widths = part.interval() if intervals else None
            order = np.arange(len(self.runs))
            if sort is not None:
                j = self.place(sort)
                order = np.argsort(-self.parsed[j].sign * means[:, j], kind="stable")  # NaN last
            for j, measure in enumerate(self.parsed):
                if measure.declaration.aggregate != "sum" and len(self.runs) > 1:
                    at = len(heads) + 1 + step * j
                    best |= {(len(rows) + i, at) for i in best_of(measure, means[order, j])}
            for run in order.tolist():
                row: list[Any] = []
                for j, name in enumerate(self.measures):
                    cells = [self._cell(j, means[run, j])]
                    cells += [float(widths[run, j])] if widths is not None else []
                    cells += [self._cell(j, medians[run, j])] if medians is not None else []
                    if long:
                        rows.append([self.runs[run], *(head or [mean_topic(())]), name, *cells])
                    row += cells
                if not long:
                    rows.append([*head, self.runs[run], *row])
        notes = "; ".join(found.notes) if found is not None else ""
        if long:
            columns = ["run", *(heads or [self.item]), "measure", "value", *["±"] * intervals, *["median"] * median]
            return Table(columns, rows, digits=digits)
        return Table(columns, rows, digits=digits, best=best, caption=notes)

    def median(self, *, digits: int = 4) -> Table:
        """A table of `medians`, one row per run."""
        medians = self.medians()
        rows = [[run, *(self._cell(j, x) for j, x in enumerate(medians[i]))] for i, run in enumerate(self.runs)]
        return Table(["run", *self.measures], rows, digits=digits)

    def rows(self, *, topics: bool = False) -> Iterator[tuple[int, str | None, list[float]]]:
        """Yield (index of the run, topic, scores): topic by topic with `topics`, then the means.

        The topic of means is ``all``; it is None if a topic has that name.
        """
        means, over = self.means().tolist(), mean_topic(self.topics if topics else ())
        for i in range(len(self.runs)):
            if topics:
                for topic, values in zip(self.topics, self.values[i].tolist(), strict=True):
                    yield i, topic, values
            yield i, over, means[i]

    def table(self, *, topics: bool = False, digits: int = 4, wide: bool = False) -> Table:
        """Scores by topic and their means, whose topic is ``all`` (None if a topic has that name).

        Long: rows of run, topic, measure, value. Wide: rows of run and topic, one column per measure.
        """
        if wide:
            cells = (
                [self.runs[i], topic, *(self._cell(j, x) for j, x in enumerate(values))]
                for i, topic, values in self.rows(topics=topics)
            )
            return Table(["run", "topic", *self.measures], cells, digits=digits)
        long = (
            (self.runs[i], topic, name, self._cell(j, value))
            for i, topic, values in self.rows(topics=topics)
            for j, (name, value) in enumerate(zip(self.measures, values, strict=True))
            if not math.isnan(value)
        )
        return Table(["run", "topic", "measure", "value"], long, digits=digits)

    def tsv(self, *, topics: bool = False, digits: int = 4) -> str:
        """The long table as tab-separated text, the same as `table` gives."""
        whole = [m.declaration.aggregate == "sum" and not self.standardised for m in self.parsed]
        forms = [
            f"{name}\t{'%.0f' if count else f'%.{digits}f'}".replace("%", "%%", name.count("%"))
            for name, count in zip(self.measures, whole, strict=True)
        ]
        out = ["run\ttopic\tmeasure\tvalue"]
        lines, of = "", -1
        for i, named, values in self.rows(topics=topics):
            topic = "-" if named is None else named
            if any(x != x for x in values):  # left out
                out.extend(
                    f"{self.runs[i]}\t{topic}\t{form % x}" for form, x in zip(forms, values, strict=True) if x == x
                )
                continue
            if i != of:  # one run's lines, with a place for the topic
                run = self.runs[i].replace("%", "%%")
                lines, of = "\n".join(f"{run}\t\0\t{form}" for form in forms), i
            out.append(lines.replace("\0", topic.replace("%", "%%")) % tuple(values))
        return "\n".join(out)

    def to_dict(self) -> dict[str, dict[str, dict[str, float]]]:
        """Nested dictionaries: ``{run: {topic: {measure: score}}}``."""
        values = self.values.tolist()
        return {
            run: {topic: dict(zip(self.measures, values[i][t], strict=True)) for t, topic in enumerate(self.topics)}
            for i, run in enumerate(self.runs)
        }

    def _columns(self) -> dict[str, list[Any]]:
        r, t, m = self.values.shape
        return {
            "run": [run for run in self.runs for _ in range(t * m)],
            "topic": [topic for topic in self.topics for _ in range(m)] * r,
            "measure": list(self.measures) * (r * t),
            "value": self.values.ravel().tolist(),
        }

    def to_pandas(self) -> Any:
        """A pandas frame with columns run, topic, measure, value."""
        return frame_of("pandas", self._columns())

    def to_polars(self) -> Any:
        """A polars frame with columns run, topic, measure, value."""
        return frame_of("polars", self._columns())


def scores_of_dictionary(
    qrels: Qrels, run: Run, measures: Sequence[ListMeasure], how: Mapping[str, Any], kept: dict[tuple[Any, ...], Any]
) -> Scores | None:
    """The scores of one run in memory, counted when its audit is asked for; None if there is something to say.

    There is where topics count as missing, no document is judged, a measure fails, or a score is no number. Of the
    options of `align`, ``how``, those that change what is in a list are the usual ones; where grades are not whole,
    `align` asks whether a run was given in their place.
    """
    if not qrels.are_whole or (how["missing"] == "zero" and run.lacks_topics(qrels)):
        return None
    ranked = run.rank(qrels, groups=False, score_dtype=how["score_dtype"])
    if (how["missing"] == "zero" and len(ranked.lists) < len(qrels.topics)) or not len(ranked.hits):
        return None
    return scores_of_ranked(qrels, run, ranked, measures, how, kept)


def scores_of_ranked(
    qrels: Qrels,
    run: Run,
    ranked: Ranked,
    measures: Sequence[ListMeasure],
    how: Mapping[str, Any],
    kept: dict[tuple[Any, ...], Any],
) -> Scores | None:
    """The scores of one run that is ranked, counted when its audit is asked for; None if there is something to say."""
    lists = Lists.of_ranked(qrels, ranked, False, kept)
    scores = scores_of_each(measures, lists)
    if scores is None or np.count_nonzero(np.isfinite(scores)) < scores.size:
        return None
    values = np.empty((1, len(qrels.topics), len(scores)))
    if lists.n < len(qrels.topics):
        values.fill(np.nan)
    values[0, lists.topic] = scores.T
    made = partial(gather, qrels, Runs([run]), [ranked], dict(how))
    return Scores(made, measures, values, names=((run.label,), qrels.topics))


def _quickly(qrels: Any, runs: Any, measures: Measures) -> Scores | None:
    """The scores of one dictionary by measures of lists; None of anything else."""
    if type(runs) is not dict or type(qrels) not in (dict, Qrels) or not isinstance(measures, str | list | Measure):
        return None
    parsed = parse_measures(measures)
    plain = [m for m in parsed if isinstance(m, ListMeasure)]
    if len(plain) < len(parsed) or (run := one_dictionary(runs)) is None:
        return None
    return scores_of_dictionary(read_qrels(qrels), run, plain, DEFAULTS, {})


@overload
def evaluate(
    qrels: Any,
    runs: Any,
    measures: Measures,
    *,
    undefined: Undefined = ...,
    **options: Unpack[AlignOptions],
) -> Scores: ...
@overload
def evaluate(
    rankings: Rankings,
    measures: Measures,
    *,
    undefined: Undefined = ...,
    executor: Any = ...,
    costs: Prices | None = ...,
) -> Scores: ...
@overload
def evaluate(sessions: Sessions, measures: Measures) -> Scores: ...
@aligning(Rankings, Sessions, quickly=_quickly)
def evaluate(
    rankings: Rankings | Sessions, measures: Measures, *, undefined: Undefined = "zero", executor: Any = None
) -> Scores:
    """The scores of runs by topic and measure.

    ``evaluate(qrels, runs, measures)`` aligns runs with judgments and scores them; ``evaluate(rankings, measures)``
    scores what `align` made; ``evaluate(sessions, measures)`` scores sessions, and the mean over queries of a measure
    of lists.

    Parameters
    ----------
    qrels, runs
        Anything `read_qrels` and `read_runs` take.
    rankings : Rankings
        As `align` makes them, in place of qrels and runs.
    sessions : Sessions
        As `read_sessions` makes them, in place of qrels and runs.
    measures : str, Measure or a list of them
        ``["AP", "nDCG@10"]`` or ``"AP nDCG@10"``.
    undefined : {"zero", "skip"}
        A topic without a relevant document scores 0, as in trec_eval, or is left out (NaN). Not of sessions.
    executor : optional
        Who reads and scores, as `Workers` takes it: an executor, a number of processes, the address of a Dask
        scheduler. The scores are the same, bit for bit. Sessions are scored here.
    **options
        With qrels and runs, as for `align`: depth, missing, ties, unjudged, score_dtype, duplicates, threads, max_line,
        columns. With rankings, too, costs: what documents cost users who look at it.

    Returns
    -------
    Scores

    Examples
    --------
    >>> import amble
    >>> qrels, runs = {"401": {"a": 1}}, {"x": {"401": {"b": 2.0, "a": 1.0}}}
    >>> amble.evaluate(qrels, runs, "RR").values
    array([[[0.5]]])
    >>> amble.evaluate(qrels=qrels, runs=runs, measures="RR", depth=1).values
    array([[[0.]]])
    """
    checks.one_of(undefined, get_args(Undefined), "undefined", AlignError)
    if isinstance(rankings, Sessions):
        if undefined != "zero":
            raise AlignError(f"undefined={undefined!r}: an option for rankings, given with sessions")
        return _of_sessions(rankings, parse_measures(measures))
    parsed = [of_lists(m) for m in parse_measures(measures)]
    lists = Lists.of_rankings(rankings)
    away = {} if executor is None else _scored_away(rankings, lists, parsed, executor)
    try:
        return scored(rankings, lists, parsed, undefined, away)
    finally:
        if lists is not Lists.shared_of(rankings):
            lists.forget()


def scored(
    rankings: Rankings,
    lists: Lists,
    measures: Sequence[ListMeasure],
    undefined: Undefined,
    known: Mapping[ListMeasure, Array] = MappingProxyType({}),
) -> Scores:
    """The scores of the lists of rankings by the measures; those of some lists may be ``known``."""
    values = np.full((len(rankings.runs), len(rankings.topics), len(measures)), np.nan)
    for j, measure in enumerate(measures):
        first = measures.index(measure)  # two labels of one measure: computed once
        again = values[:, :, first]
        values[:, :, j] = (
            again if first < j else scores_by_topic(rankings, lists, measure, undefined, known.get(measure))
        )
    return Scores(rankings, measures, values)


class _Scoring:
    """Measures of lists that come some at a time, on workers: what follows from the judgments is kept there."""

    def __init__(self, rankings: Rankings, measures: list[ListMeasure]) -> None:
        self.sent, self.depth, self.measures = SentQrels(rankings.qrels), rankings.depth, measures
        self.kept: dict[tuple[Any, ...], Any] = {}

    def lists(self, arrays: dict[str, Any]) -> Lists:
        """Some lists."""
        qrels = self.sent.qrels
        return Lists(
            grades=qrels.grades, rows=qrels.offsets, max_grade=qrels.max_grade, topics=qrels.topics, qrels=qrels,
            depth=self.depth, kept=self.kept, **arrays,
        )  # fmt: skip


def _score_some(shared: _Scoring, arrays: dict[str, Any]) -> list[Array]:
    lists = shared.lists(arrays)
    try:
        return [measure.scores(lists) for measure in shared.measures]
    finally:
        lists.forget()  # a worker's memory does not grow with the number of lists


def _scored_away(
    rankings: Rankings, lists: Lists, measures: Sequence[ListMeasure], executor: Any
) -> dict[ListMeasure, Array]:
    """The scores of all lists by the measures that score each by itself, computed by workers."""
    some = [m for m in dict.fromkeys(measures) if m.by_list]
    if not some or not lists.n:
        return {}
    items = [lists.arrays(at, min(at + _TOGETHER, lists.n)) for at in range(0, lists.n, _TOGETHER)]
    with Progress("scoring") as line:
        parts = list(spread(_score_some, _Scoring(rankings, some), items, executor, progress=line))
    return {m: np.concatenate([part[j] for part in parts]) for j, m in enumerate(some)}


def scores_of(
    given: Rankings | Sessions | T,
    measures: Measures | None,
    undefined: Undefined | None = None,
    executor: Any = None,
) -> Scores | T:
    """The scores of rankings or sessions by the measures; anything else is scores already, and comes back."""
    if undefined is not None and not isinstance(given, Rankings):
        raise AlignError(f"undefined={undefined!r}: an option for rankings, given with {type(given).__name__.lower()}")
    if not isinstance(given, Rankings | Sessions):
        return given
    if measures is None:
        raise MeasureError("no measure given, expected one, such as 'AP'")
    if isinstance(given, Sessions):
        return evaluate(given, measures)
    return evaluate(given, measures, undefined=undefined or "zero", executor=executor)


def of_sessions(measure: Measure) -> SessionMeasure:
    """The measure itself if it is one of sessions, else its mean over queries."""
    from amble.measures.session_measure import SessionMeasure  # scores of lists do without

    if isinstance(measure, SessionMeasure):
        return measure
    found = parse(f'PerQuery(of="{measure}")').labelled("")
    assert isinstance(found, SessionMeasure)
    return found


def _of_sessions(sessions: Sessions, measures: Sequence[Measure]) -> Scores:
    parsed = each_label(of_sessions(m) for m in measures)
    values = np.full((len(sessions.runs), len(sessions.topics), len(parsed)), np.nan)
    for j, measure in enumerate(parsed):
        scores = measure.scores(sessions)
        bad = np.flatnonzero(~np.isfinite(scores))
        if bad.size:
            run, session = int(sessions.run[bad[0]]), int(sessions.topic[bad[0]])
            where = f"run {sessions.runs[run]}, session {sessions.topics[session]}"
            raise MeasureError(f"{measure}: the score of {where} is {scores[bad[0]]}, not a finite number")
        values[sessions.run, sessions.topic, j] = scores
    return Scores(sessions, parsed, values)


def scores_by_topic(
    rankings: Rankings, lists: Lists, measure: ListMeasure, undefined: Undefined, known: Array | None = None
) -> Array:
    """The scores of one measure, of shape (runs, topics), by list if they are known; NaN where a topic was left out."""
    of_lists = measure.scores(lists) if known is None else known
    if not np.isfinite(of_lists).all():
        i = int(np.flatnonzero(~np.isfinite(of_lists))[0])
        where = f"run {rankings.runs[int(rankings.run[i])]}, topic {rankings.topics[int(rankings.topic[i])]}"
        raise MeasureError(f"{measure}: the score of {where} is {of_lists[i]}, not a finite number")
    nothing = (lists.length == 0) & (of_lists <= 0)
    if measure.declaration.less and nothing.any():
        i = int(np.flatnonzero(nothing)[0])
        where = f"run {rankings.runs[int(rankings.run[i])]}, topic {rankings.topics[int(rankings.topic[i])]}"
        raise MeasureError(
            f"{measure}: {where} has no documents and would score {of_lists[i]:g}, though less is better; "
            "use missing='skip'"
        )
    if undefined == "skip":
        of_lists = np.where(measure.gains_of(lists).relevant > 0, of_lists, np.nan)
    out = np.full((len(rankings.runs), len(rankings.topics)), np.nan)
    out[rankings.run, rankings.topic] = of_lists
    return out


def mean_residuals(scores: Scores, j: int, of_lists: Array) -> tuple[Array, Array]:
    """The residuals of the j-th measure by run and topic, and how much its mean could rise for each run.

    ``of_lists`` are those of the lists of the rankings. Topics count as they do in `Scores.means`: those without a
    score do not, counts are summed up, and a geometric mean is that of what every topic would score.
    """
    rankings, values, order = scores.aligned, scores.values[:, :, j], byte_order(scores.topics)
    extra, how = np.full(values.shape, np.nan), scores.parsed[j].declaration.aggregate
    extra[rankings.run, rankings.topic] = of_lists
    extra[np.isnan(values)] = np.nan
    if how != "geometric":
        return extra, aggregate(how, extra[:, order])
    best = aggregate(how, (values + extra)[:, order])
    return extra, np.asarray(best - aggregate(how, values[:, order]))
