"""Exposure: how often a measure's user visits each document, and how fairly groups of documents share it.

The exposure of a document is the expected number of visits of the measure's user to it, of several rankings of a topic
(samples of a system that draws them) the mean. On each topic it is asked for

* **AWRF**, 1 - JSD(x, t): the Jensen-Shannon divergence of the shares of the groups in the exposure, x, from the target
  shares, t;
* **EED**, the sum over documents of exposure squared (disparity), **EER**, of exposure times target exposure
  (relevance), and **EEL**, of (exposure - target exposure) squared: EED - 2 EER + the sum of squares of the target. The
  target is the exposure by a system that knows the judgments, and draws the order of documents of the same grade;
* **Gini**'s coefficient of the exposures, 0 if all documents are exposed alike.

The documents of EED, EER, EEL and Gini are those that are judged for the topic, or listed by the system.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack, overload

import numpy as np

from amble import checks
from amble.arrays import NDArray
from amble.errors import AlignError, MeasureError
from amble.evaluation.document_groups import DocumentGroups, GroupsOfDocuments, Target, Targets
from amble.evaluation.inputs import Scored, aligning
from amble.evaluation.scores import Scores
from amble.measures import ListMeasure, Lists, Measure, parse
from amble.measures.declaration import Declaration
from amble.measures.gain_maps import ungraded
from amble.measures.list_measure import of_lists
from amble.progress import Progress
from amble.rankings.alignment import AlignOptions, Rankings, byte_order, plain_mean
from amble.table import Table, Tabled, frame_of, mean_topic

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["OF_EXPOSURE", "Exposure", "exposure"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Samples = Mapping[str, str | Sequence[str]]


def _of_exposure(gains: Any) -> Array:
    raise MeasureError("computed by amble.exposure, not from the gains of lists")


def _declared(name: str, less: bool, formula: str) -> ListMeasure:
    """A name for a column of scores: not in the catalogue, as it needs the documents of lists."""
    of: Any = (
        name, _of_exposure, {}, ("gains",), None, ungraded, None, None, "mean", "", None, "", formula, "yours",
        False,
    )  # fmt: skip
    return ListMeasure(Declaration(*of)._replace(less=less), {}, None)


AWRF = _declared("AWRF", False, r"1 - \mathrm{JSD}(x, t)")
EED = _declared("EED", True, r"\sum_d \varepsilon_d^2")
EER = _declared("EER", False, r"\sum_d \varepsilon_d \varepsilon^*_d")
EEL = _declared("EEL", True, r"\sum_d (\varepsilon_d - \varepsilon^*_d)^2")
GINI = _declared("Gini", True, r"\sum_i (2i - n - 1) \varepsilon_{(i)} / (n \sum_i \varepsilon_i)")
OF_EXPOSURE = (AWRF, EED, EER, EEL, GINI)


def divergence(x: Array, y: Array, base: float = math.e) -> float:
    """The Jensen-Shannon divergence of two distributions: 0 if they are the same, at most log 2.

    >>> divergence(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 2.0)
    1.0
    """
    found = sum(float((p[p > 0] * np.log(2 * p[p > 0] / (x + y)[p > 0])).sum()) for p in (x, y)) / 2 / math.log(base)
    return found if math.isnan(x.sum()) else max(0.0, found)


def gini(values: Array, zeros: int = 0) -> float:
    """Gini's coefficient of some amounts, and of ``zeros`` more that are 0; NaN if all are.

    >>> gini(np.array([2.0, 2.0])), gini(np.array([3.0]), 2)  # one of three has it all
    (0.0, 0.6666666666666666)
    """
    n, total = values.size + zeros, float(values.sum())
    if total <= 0:
        return math.nan
    rank = np.arange(zeros + 1, n + 1)
    return float(((2 * rank - n - 1) * np.sort(values)).sum()) / (n * total) + 0.0


class _Visits:
    """The expected visits by rank of a measure's user, or the mean over its users; kept where lists do not matter."""

    def __init__(self, measure: ListMeasure) -> None:
        self.measure = measure
        self.kept: dict[tuple[Measure, int], Array] = {}

    def on(self, lists: Lists, i: int) -> Array:
        """At each rank of list i."""
        each = self.measure.at(lists, i).members
        if len(each) == 1:
            return self._of(each[0][1], lists, i)
        return np.asarray(sum(w * self._of(one, lists, i) for w, one in each))

    def _of(self, one: Any, lists: Lists, i: int) -> Array:
        n = int(lists.length[i])
        key, user = (one, n), one.one_user
        if user.is_static and key in self.kept:
            return self.kept[key]
        with self.measure.wrap_errors():
            found = user.on(one.gains_of(lists), i).exposure[:n]
        out = np.zeros(n)
        out[: found.size] = found
        if user.is_static:
            self.kept[key] = out
        return out


class _Systems:
    """Systems with a ranking each of a topic, or several: what their `Scores` know of them."""

    def __init__(self, rankings: Rankings, samples: Samples | None) -> None:
        of = _named(rankings, samples or {})
        self.runs = self.labels = tuple(dict.fromkeys(of))
        place = {name: s for s, name in enumerate(self.runs)}
        self.system = np.array([place[name] for name in of], np.int64)[rankings.run]
        self.topics, self.options, self.audit = rankings.topics, rankings.options, rankings.audit
        self.lists: list[Ints] = []  # of each system and topic that has any
        key = self.system * len(self.topics) + rankings.topic
        order = np.argsort(key, kind="stable")
        at, first = np.unique(key[order], return_index=True)
        self.lists = np.split(order, first[1:]) if at.size else []
        self.run, self.topic = np.divmod(at, max(len(self.topics), 1))
        self.length = np.array([rankings.length[own].max() for own in self.lists], np.int64)

        known = zip(rankings.runs, rankings.labels, [source.path for source in rankings.sources], strict=True)
        self._names = [(place[name], {name, *own}) for name, own in zip(of, known, strict=True)]

    def index(self, run: str) -> int:
        """Index of a system, by its name or, where that is unambiguous, by that or the file of one of its runs."""
        if run in self.runs:
            return self.runs.index(run)
        found = {s for s, names in self._names if run in names}
        if len(found) != 1:
            raise KeyError(run)
        return found.pop()


def _named(rankings: Rankings, samples: Samples) -> list[str]:
    """The system of each run: that whose pattern it matches, else one of its own name."""
    if not isinstance(samples, Mapping):
        raise AlignError(f"samples={samples!r:.60}, expected {{system: pattern of the names of its runs}}")
    out: list[str | None] = [None] * len(rankings.runs)
    for system, given in samples.items():
        patterns = [given] if isinstance(given, str) else given
        if not isinstance(patterns, Sequence) or not all(isinstance(pattern, str) for pattern in patterns):
            raise AlignError(f"samples of {system}: found {given!r:.60}, expected a pattern of names, or several")
        for pattern in patterns:
            names = zip(rankings.runs, rankings.labels, strict=True)
            found = [r for r, own in enumerate(names) if pattern in own or any(fnmatchcase(x, pattern) for x in own)]
            if not found:
                some = ", ".join(rankings.runs[:5])
                raise AlignError(f"samples of {system}: no run is called {pattern!r}, expected some of {some}")
            for r in found:
                if out[r] not in (None, str(system)):
                    raise AlignError(f"samples: run {rankings.runs[r]} is of {out[r]} and of {system}, expected one")
                out[r] = str(system)
    for run, own in zip(rankings.runs, out, strict=True):
        if own is None and run in samples:
            raise AlignError(f"samples: {run} is a run and not one of the samples of {run}; expected another name")
    return [run if own is None else own for run, own in zip(rankings.runs, out, strict=True)]


class _OnTopic(NamedTuple):
    """The documents of a topic, judged ones first, how many of them are, and their exposure by each system."""

    docs: list[str]
    judged: int
    exposure: csr_array  # systems x documents


class Exposure(Tabled):
    """The exposure of documents and of groups of them, by system and topic; made by `exposure`.

    Attributes
    ----------
    scores : Scores
        AWRF (with groups), EED, EER, EEL and Gini of each run and topic, for `amble.compare` and `amble.plot`.
    runs, topics, groups : tuple of str
        The runs, or the systems that they are samples of; groups in the order in which they were named.
    exposures, shares, targets : ndarray
        Of shape (runs, topics, groups): the exposure of each group; its share in that of all groups, and the target
        share. NaN where there is none.
    outside : ndarray
        Of shape (runs, topics): the share of the exposure that goes to documents in no group.
    measure : Measure
    """

    def __init__(
        self,
        scores: Scores,
        measure: ListMeasure,
        groups: tuple[str, ...],
        of_groups: tuple[Array, Array, Array],
        outside: Array,
        on_topics: list[_OnTopic],
    ) -> None:
        self.scores, self.measure, self.groups = scores, measure, groups
        self.runs, self.topics = scores.runs, scores.topics
        self.exposures, self.shares, self.targets = of_groups
        self.outside, self._on_topics = outside, on_topics

    def __repr__(self) -> str:
        shown = (f"{len(x)} {what}{'s' * (len(x) != 1)}" for x, what in ((self.runs, "run"), (self.topics, "topic")))
        return f"Exposure({', '.join(shown)}, {len(self.groups)} groups, {self.measure.label})"

    def __getitem__(self, key: tuple[str, str]) -> dict[str, float]:
        """The exposure of the documents that a run lists for a topic, the most exposed first."""
        if not isinstance(key, tuple) or len(key) != 2 or key[0] not in self.runs or key[1] not in self.topics:
            raise KeyError(f"{key!r}: expected a run and a topic, as in exposure['bm25', '401']")
        return dict(self._listed(self.runs.index(key[0]), self.topics.index(key[1])))

    def _listed(self, s: int, t: int) -> Iterator[tuple[str, float]]:
        docs, _, all_of = self._on_topics[t]
        row = slice(int(all_of.indptr[s]), int(all_of.indptr[s + 1]))
        found = zip((docs[d] for d in all_of.indices[row].tolist()), all_of.data[row].tolist(), strict=True)
        return iter(sorted(found, key=lambda one: (-one[1], one[0].encode("utf-8", "surrogateescape"))))

    def table(self, *, digits: int = 4) -> Table:
        """The means over topics of AWRF, EED, EER, EEL and Gini, a row for each run."""
        return self.scores.mean(digits=digits)

    def by_group(self, *, topics: bool = False, digits: int = 4) -> Table:
        """The exposure of each group, its share and its target, as means over topics; or on each topic."""
        columns = ["run", *["topic"] * topics, "group", "exposure", "share", "target"]
        parts, order = (self.exposures, self.shares, self.targets), byte_order(self.topics)
        means = [plain_mean(np.moveaxis(x[:, order], 1, 2)) for x in parts]
        rows: list[list[Any]] = []
        over = [mean_topic(self.topics if topics else ())] * topics
        for s, run in enumerate(self.runs):
            for t, topic in enumerate(self.topics if topics else ()):
                cells = zip(self.groups, *(x[s, t].tolist() for x in parts), strict=True)
                rows += [[run, topic, *row] for row in cells if row[1] == row[1]]
            rows += [[run, *over, *row] for row in zip(self.groups, *(x[s].tolist() for x in means), strict=True)]
        return Table(columns, rows, digits=digits)

    def by_document(self, *, digits: int = 4) -> Table:
        """The exposure of every document that is listed: run by run, topic by topic, the most exposed first."""
        rows: Any = (
            (run, topic, *row)
            for s, run in enumerate(self.runs)
            for t, topic in enumerate(self.topics)
            for row in self._listed(s, t)
        )
        return Table(["run", "topic", "doc", "exposure"], rows, digits=digits)

    def to_dict(self) -> dict[str, dict[str, dict[str, float]]]:
        """The exposure of every document that is listed: ``{run: {topic: {doc: exposure}}}``."""
        return {
            run: {topic: dict(self._listed(s, t)) for t, topic in enumerate(self.topics)}
            for s, run in enumerate(self.runs)
        }

    def to_pandas(self) -> Any:
        """A pandas frame with columns run, topic, doc, exposure."""
        return self._frame("pandas")

    def to_polars(self) -> Any:
        """A polars frame with columns run, topic, doc, exposure."""
        return self._frame("polars")

    def _frame(self, library: str) -> Any:
        table = self.by_document()
        return frame_of(library, {name: table[name] for name in table.columns})

    @property
    def notes(self) -> list[str]:
        """What is to be known of these numbers: documents in no group, topics that were left out."""
        if not self.groups:
            return []
        out, share = [], float(plain_mean(plain_mean(self.outside)))
        if share > 0:
            over = "" if len(self.topics) == 1 else ", in the mean over topics,"
            what = f"{100 * share:.1f} % of the exposure{over}"
            out.append(f"{what} goes to documents in no group, which AWRF leaves out")
        seen = np.nansum(self.exposures, axis=(0, 1)).tolist()
        empty = [group for group, much in zip(self.groups, seen, strict=True) if not much]
        if empty:
            what = f"group {empty[0]} has" if len(empty) == 1 else f"{len(empty)} groups, {empty[0]} among them, have"
            out.append(f"{what} no document that is visited")
        without = int(np.isnan(self.targets).all(axis=(0, 2)).sum()) if self.runs else 0
        if without:
            what = "has no relevant document in a group" if without == 1 else "have no relevant document in a group"
            out.append(f"{without} topic{'s' * (without != 1)} {what}, so no target by relevance: no AWRF there")
        return out


@overload
def exposure(
    rankings: Rankings,
    measure: str | Measure,
    groups: GroupsOfDocuments | None = ...,
    *,
    target: Target = ...,
    unknown: str | None = ...,
    base: float = ...,
    samples: Samples | None = ...,
) -> Exposure: ...
@overload
def exposure(
    qrels: Any,
    runs: Any,
    measure: str | Measure,
    groups: GroupsOfDocuments | None = ...,
    *,
    target: Target = ...,
    unknown: str | None = ...,
    base: float = ...,
    samples: Samples | None = ...,
    **options: Unpack[AlignOptions],
) -> Exposure: ...
@aligning(Rankings)
def exposure(
    rankings: Rankings,
    measure: str | Measure,
    groups: GroupsOfDocuments | None = None,
    *,
    target: Target = "equal",
    unknown: str | None = None,
    base: float = math.e,
    samples: Samples | None = None,
) -> Exposure:
    """The exposure of documents to a measure's user, and how fairly groups of documents share it.

    Parameters
    ----------
    rankings : Rankings
        Or qrels and runs, with the options of `align`, as for `evaluate`.
    measure : str or Measure
        Whose user: ``"RBP(p=0.8)"``. Of a population, the mean over its users; of a Markov user, who never stops, the
        share of visits. Lists are looked at as far as the user goes, also below rank k of ``@k`` if she reads on there.
    groups : {doc: group}, {doc: [group, …]}, {doc: {group: share}}, or path, optional
        The groups of documents, or a file of lines ``doc group`` or ``doc group share``, a line for each group of a
        document. Without shares, a document belongs to each of its groups alike; what shares lack to 1 is in no group.
    target : {"equal", "relevance"}, {group: share}, {topic: {group: share}}, or path
        The shares that groups should have: the same for each, or in proportion to the grades of their judged documents,
        or as given, as by a file of lines ``group share`` or ``topic group share``.
    unknown : str, optional
        A group for the documents in no group. Without it, they are left out of the groups' shares.
    base : float
        Of the logarithms in AWRF: e as in TREC 2021's program; with 2, AWRF is between 0 and 1.
    samples : {system: pattern}, optional
        Which runs are several rankings by one system: a pattern of their names, such as ``"mine-*"``, or several; the
        exposure is the mean over them. Other runs are systems of one ranking.

    Returns
    -------
    Exposure

    Examples
    --------
    >>> import amble
    >>> qrels = {"1": {"a": 1, "b": 0, "c": 1}}
    >>> runs = {"x": {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}, "y": {"1": {"c": 2.0, "a": 1.0}}}
    >>> found = amble.exposure(qrels, runs, "RBP(p=0.5)", {"a": "old", "b": "old", "c": "new"})
    >>> found["x", "1"]
    {'a': 1.0, 'b': 0.5, 'c': 0.25}
    >>> found  # of x, old: 1.5 of 1.75; EEL: .25² + .25² + .5², as a and c should have (1 + .5) / 2, and b .25
    Exposure(2 runs, 1 topic, 2 groups, RBP(p=0.5))
    >>> print(found)
    run    AWRF     EED     EER     EEL    Gini
    x    0.9237  1.3125  1.0625  0.3750  0.2857
    y    0.9856  1.2500  1.1250  0.1250  0.4444
    >>> print(found.by_group())
    run  group  exposure   share  target
    x    old      1.5000  0.8571  0.5000
    x    new      0.2500  0.1429  0.5000
    y    old      0.5000  0.3333  0.5000
    y    new      1.0000  0.6667  0.5000
    """
    one = of_lists(parse(measure))
    _check(one, rankings)
    base = checks.number(base, "base", kind=AlignError)
    if base < 2:
        raise AlignError(f"base={base:g}, expected at least 2, so that AWRF is at least 0")
    if groups is None and (not isinstance(target, str) or target != "equal" or unknown is not None):
        raise AlignError("target and unknown are of groups: expected groups of documents")
    wanted = Targets(target)
    grouping = None if groups is None else DocumentGroups.of(groups, unknown, wanted.groups)
    systems = _Systems(rankings, samples)
    lists, visits = Lists.of_rankings(rankings), _Visits(one)
    on_topics = _exposures(rankings, systems, lists, visits)
    merit = np.maximum(lists.grades, 0.0)  # of each judgment
    shape = len(systems.runs), len(systems.topics)
    names = grouping.names if grouping is not None else ()
    exposures, shares, targets = np.full((3, *shape, len(names)), np.nan)
    outside = np.full(shape, np.nan)
    if grouping is not None:
        if not any(grouping.knows(here.docs) for here in on_topics):
            some = ", ".join(grouping.docs[:3])
            raise AlignError(f"groups: none is of a document in a run or judged: found those of {some}")
        if not wanted.by_relevance:
            targets[:] = wanted.shares(names, systems.topics)
        for t, here in enumerate(on_topics):
            of_docs = grouping.shares_of(here.docs)
            mine = systems.run[systems.topic == t]
            exposures[mine, t] = (here.exposure @ of_docs).toarray()[mine]
            total, known = here.exposure.sum(axis=1)[mine], exposures[mine, t].sum(axis=1)
            none = np.full(mine.size, np.nan)
            outside[mine, t] = np.divide(total - known, total, out=none, where=total > 0).clip(0.0)
            shares[mine, t] = np.divide(
                exposures[mine, t],
                known[:, None],
                out=np.full((mine.size, len(names)), np.nan),
                where=known[:, None] > 0,
            )
            if wanted.by_relevance:
                own = merit[lists.rows[t] : lists.rows[t + 1]]
                most = max(own.max(initial=0.0), 1e-300)  # grades may add up to more than floats can hold
                due = own / most @ of_docs[: here.judged]
                targets[:, t] = due / due.sum() if due.sum() > 0 else np.nan
    measures = [*([AWRF] if grouping is not None else []), EED, EER, EEL, GINI]
    values = np.full((*shape, len(measures)), np.nan)
    ideal = _Ideal(lists, merit, visits)
    for s, t, own in zip(systems.run.tolist(), systems.topic.tolist(), systems.lists, strict=True):
        values[s, t, -4:] = _expected(on_topics[t], s, ideal, t, rankings.length[own])
        if grouping is not None and not np.isnan(targets[s, t, 0]):
            nothing = not values[s, t, 1]  # is exposed: as bad as can be
            values[s, t, 0] = 0.0 if nothing else 1.0 - divergence(shares[s, t], targets[s, t], base)
    scored: Scored = systems if samples else rankings
    return Exposure(Scores(scored, measures, values), one, names, (exposures, shares, targets), outside, on_topics)


def _check(measure: ListMeasure, rankings: Rankings) -> None:
    """Refuse measures whose users' visits are not known, and lists whose documents have no one rank."""
    if measure.of_intents:
        raise MeasureError(f"{measure}: what its people visit differs by intent, expected one user, such as RBP")
    _ = [one.one_user for _, one in measure.members]  # may raise
    if rankings.costs is not None:
        raise AlignError("costs: exposure is by visits, and what documents of an ideal list cost is not known")
    for option, other in (("ties", "expected"), ("unjudged", "condense")):
        if rankings.options[option] == other:
            raise AlignError(f"exposure with {option}={other!r}: documents need the one rank that is shown")


def _exposures(rankings: Rankings, systems: _Systems, lists: Lists, visits: _Visits) -> list[_OnTopic]:
    """The exposure of every document by every system, topic by topic."""
    from scipy.sparse import csr_array

    qrels, offsets = rankings.qrels, rankings.qrels.offsets.tolist()
    number = [{doc: d for d, doc in enumerate(qrels.docs[a:b])} for a, b in pairwise(offsets)]
    judged = [len(docs) for docs in number]
    samples = np.zeros((len(systems.runs), len(systems.topics)))
    np.add.at(samples, (systems.system, rankings.topic), 1.0)
    parts: list[list[tuple[int, Ints, Array]]] = [[] for _ in number]
    with Progress("exposure") as line:
        for done, (i, docs) in enumerate(rankings.documents("exposures of documents"), 1):
            s, t = int(systems.system[i]), int(rankings.topic[i])
            own = number[t]
            places = np.array([own.setdefault(doc, len(own)) for doc in docs], np.int64)
            parts[t].append((s, places, visits.on(lists, i) / samples[s, t]))
            line(done, len(rankings))
    out = []
    for docs_of, first, found in zip(number, judged, parts, strict=True):
        rows = np.repeat(np.array([s for s, _, _ in found], np.int64), [places.size for _, places, _ in found])
        columns = np.concatenate([np.zeros(0, np.int64), *(places for _, places, _ in found)])
        data = np.concatenate([np.zeros(0), *(v for _, _, v in found)])
        shape = len(systems.runs), len(docs_of)
        out.append(_OnTopic(list(docs_of), first, csr_array((data, (rows, columns)), shape=shape)))
    return out


class _Ideal:
    """The exposure by a system that knows the judgments, and draws the order of documents of the same grade."""

    def __init__(self, lists: Lists, merit: Array, visits: _Visits) -> None:
        self.lists, self.merit, self.visits = lists, merit, visits
        self.kept: dict[tuple[int, int], Array] = {}

    def sums(self, t: int, n: int) -> Array:
        """The visits down to each rank of the ideal list of n documents, from none on."""
        if (t, n) not in self.kept:
            rows = self.lists.rows
            due = self.merit[rows[t] : rows[t + 1]]
            best = np.argsort(-due, kind="stable")[: min(n, np.count_nonzero(due))]
            alone = self.lists.of_rows(t, best + rows[t], n)
            self.kept[t, n] = np.concatenate(([0.0], np.cumsum(self.visits.on(alone, 0))))
        return self.kept[t, n]

    def of(self, t: int, lengths: NDArray[Any], others: int) -> tuple[Array, float]:
        """The target of each judged document of a topic, and that of each of the ``others``, which are not judged.

        It is the mean over ideal lists of the lengths given; of all judged documents in the place of an empty one.
        Documents that such a list has no place for are not exposed by it.
        """
        due = self.merit[self.lists.rows[t] : self.lists.rows[t + 1]]
        levels, level, count = np.unique(-due, return_inverse=True, return_counts=True)
        if levels.size == 0 or levels[-1] < 0:  # there may be others
            count = np.append(count, 0)
        count[-1] += others
        ends = np.cumsum(count)
        each = np.zeros(count.size)
        for n, times in zip(*np.unique(lengths, return_counts=True), strict=True):
            total = self.sums(t, int(n) or due.size)
            upto = total[np.minimum(ends, total.size - 1)]
            each += times * np.diff(upto, prepend=0.0)
        each = np.divide(each, count * lengths.size, out=np.zeros(count.size), where=count > 0)
        return each[level], float(each[-1])


def _expected(here: _OnTopic, s: int, ideal: _Ideal, t: int, lengths: NDArray[Any]) -> tuple[float, ...]:
    """EED, EER, EEL and Gini of a system on a topic."""
    row = slice(int(here.exposure.indptr[s]), int(here.exposure.indptr[s + 1]))
    doc, own = here.exposure.indices[row], here.exposure.data[row]
    others = int(np.count_nonzero(doc >= here.judged))
    target, rest = ideal.of(t, lengths, others)
    mine = np.where(doc < here.judged, target[np.minimum(doc, here.judged - 1)], rest)
    unlisted = np.ones(here.judged, bool)
    unlisted[doc[doc < here.judged]] = False
    loss = np.square(own - mine).sum() + np.square(target[unlisted]).sum()
    return float(own @ own), float(own @ mine), float(loss), gini(own, int(np.count_nonzero(unlisted)))
