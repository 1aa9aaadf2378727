"""Tests of pairs of systems: paired tests with a correction, or Tukey's tests of all systems at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack, overload

import numpy as np

from amble import checks
from amble.arrays import Array, Bools, Ints
from amble.comparison import effect_sizes as effects
from amble.comparison import paired_tests as paired
from amble.comparison import resampling
from amble.comparison.comparison import ALL_COUNTED, Comparison, PairResults
from amble.comparison.corrections import adjust
from amble.comparison.design import FAMILIES, TESTS, TestDesign
from amble.comparison.group_differences import differences_between
from amble.comparison.p_values import reaches, smallest_attainable
from amble.comparison.systems import Differences, Systems, differences, pairs_of, systems_of
from amble.comparison.tukey import critical_difference, critical_range, dealt_ranges, exceeds, range_p
from amble.comparison.variance import complete_scores, error_variance
from amble.errors import AlignError, AmbleError
from amble.evaluation.inputs import aligning
from amble.evaluation.scores import Scores, Undefined, scores_of
from amble.evaluation.topic_groups import Groups, topic_groups
from amble.measures import Measure
from amble.progress import Progress
from amble.rankings.alignment import AlignOptions, Rankings, plain_median
from amble.rankings.costs import Prices
from amble.sessions.sessions import Sessions

__all__ = ["compare", "compare_by"]

Report = Callable[[int], None]
ByRun = Mapping[str, Mapping[str, float]]

_LEAST = 2  # topics that a test needs
_MOST_ROUNDS = 1 << 40  # what these do not find, no number of rounds does


@overload
def compare(
    scores: Scores | ByRun | Rankings | Sessions,
    measure: str | Measure | None = ...,
    baseline: str | Sequence[str] | None = ...,
    test: str = ...,
    sides: str = ...,
    correction: str | None = ...,
    alpha: float = ...,
    seed: int = ...,
    rounds: int = ...,
    *,
    interval: str | None = ...,
    groups: Groups | None = ...,
    undefined: Undefined | None = ...,
    progress: Callable[[int, int], None] | None = ...,
    executor: Any = ...,
    costs: Prices | None = ...,
) -> Comparison: ...
@overload
def compare(
    qrels: Any,
    runs: Any,
    measure: str | Measure,
    baseline: str | Sequence[str] | None = ...,
    test: str = ...,
    sides: str = ...,
    correction: str | None = ...,
    alpha: float = ...,
    seed: int = ...,
    rounds: int = ...,
    *,
    interval: str | None = ...,
    groups: Groups | None = ...,
    undefined: Undefined | None = ...,
    progress: Callable[[int, int], None] | None = ...,
    **options: Unpack[AlignOptions],
) -> Comparison: ...
@aligning(Scores, Mapping, Rankings, Sessions)
def compare(
    scores: Scores | ByRun | Rankings | Sessions,
    measure: str | Measure | None = None,
    baseline: str | Sequence[str] | None = None,
    test: str = TestDesign.test,
    sides: str = TestDesign.sides,
    correction: str | None = None,
    alpha: float = TestDesign.alpha,
    seed: int = TestDesign.seed,
    rounds: int = TestDesign.rounds,
    *,
    interval: str | None = None,
    groups: Groups | None = None,
    undefined: Undefined | None = None,
    progress: Callable[[int, int], None] | None = None,
    executor: Any = None,
) -> Comparison:
    """Test the differences of runs on a measure, topic by topic.

    Parameters
    ----------
    scores : Scores, or {run: {topic: score}}
        As `evaluate` makes them, or from elsewhere; topics are paired by their ids. Or what `evaluate` takes: rankings,
        sessions, or qrels and runs with the options of `align`.
    measure : str or Measure, optional
        Which one; not needed with scores of one measure.
    baseline : str or list of str, optional
        The run that all others are compared with, or several: each run is compared with each of them, all in one family
        for the correction. Without it, all pairs are compared.
    test : {"t", "wilcoxon", "sign", "permutation", "bootstrap", "tukey", "anova"}
        The last two test all runs at once: Tukey's HSD by randomisation, and after a two-way analysis of variance.
    sides : {"two", "greater", "less"}
        "greater": is the first run of a pair (with a baseline: the other run) better? "less": is it worse?
    correction : {"holm", "bonferroni", "bh", "none", "hochberg", "hommel", "by"}, optional
        For the number of comparisons. Without it, Holm's; Tukey's tests need none and take none. The last three are
        statsmodels' (the extra ``stats``).
    alpha : float
        A significant difference is found where the adjusted p-value is at most alpha; confidence intervals are of
        confidence 1 - alpha.
    seed, rounds : int
        Of "permutation", "bootstrap" and "tukey": same seed, same answer.
    interval : {"t", "percentile", "bca"}, optional
        How the confidence intervals of differences are made: by Student's t or by the bootstrap. Without it, "bca" for
        the bootstrap test and "t" for others; Tukey's tests have their own. They are not corrected for the number of
        comparisons; Tukey's are.
    groups : {topic: group} or path, optional
        Groups of topics, or a file of lines ``topic group``: runs are compared within each group, too, all pairs and
        groups in one family (``Comparison.groups``, ``by_group``), and Welch's t-test asks whether the difference of
        two runs is another in one group than in another (``Comparison.between``). Topics in no group are in none of
        these tests; groups in which two runs have fewer than two topics in common are not tested.
    undefined : {"zero", "skip"}, optional
        As for `evaluate`, unless scores are given.
    progress : function, optional
        Called with what is done and what there is to do.
    executor : optional
        Who permutes, resamples and deals, and reads and scores runs, as `Workers` takes it; without one, this process.
        The answer is the same, bit for bit.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import amble
    >>> scores = {
    ...     "x": {"1": 0.1, "2": 0.5, "3": 0.6, "4": 0.2},
    ...     "y": {"1": 0.3, "2": 0.6, "3": 0.9, "4": 0.4},
    ... }
    >>> found = amble.compare(scores, baseline="x")
    >>> found.difference.round(4), found.p.round(4)  # .2 .1 .3 .2: mean .2, deviation .0816, t 4.899
    (array([0.2]), array([0.0163]))
    >>> amble.compare(scores, baseline="x", test="permutation").p  # of 16 assignments of signs 2 are as extreme
    array([0.125])
    """
    design = TestDesign(
        baseline, test, sides, checks.or_usual(correction, ""), alpha, seed, rounds, checks.or_usual(interval, "")
    )
    return compare_by(scores_of(scores, measure, undefined, executor), measure, design, progress, groups, executor)


def compare_by(
    scores: Scores | ByRun,
    measure: str | Measure | None,
    design: TestDesign,
    progress: Callable[[int, int], None] | None = None,
    groups: Groups | None = None,
    executor: Any = None,
) -> Comparison:
    """The comparison of runs on a measure by a design; see `compare`."""
    systems = systems_of(scores, measure)
    a, b = pairs_of(systems, design.baselines)
    design = replace(design, baseline=[systems.names[systems.place(name)] for name in design.baselines] or None)
    left_out = 0
    if design.test in FAMILIES:
        if groups is not None:
            raise AmbleError(f"test={design.test!r} is about all runs on all topics: groups need another, such as 't'")
        systems, left_out = systems.on(systems.complete), complete_scores(systems)[1]
    with Progress(f"comparing on {systems.measure}") as line:
        report = progress or line
        found, how, limit = _test(systems, a, b, design, report, executor)
        whole = Comparison(systems, (a, b), design, found, how=how, left_out=left_out, limit=limit)
        if groups is not None:
            _within_groups(whole, systems, groups, report, executor)
    return whole


def _within_groups(
    whole: Comparison, systems: Systems, groups: Groups, progress: Callable[[int, int], None], executor: Any
) -> None:
    """Add the comparisons within groups, in one family, and between them."""
    pairs, design = (whole.a, whole.b), whole.design
    grouping = topic_groups(groups, systems.topics, systems.item)
    known = (~np.isnan(systems.values)).astype(np.float64)
    common = {name: (known[:, kept] @ known[:, kept].T)[pairs].min() for name, kept in grouping.members.items()}
    members = {name: kept for name, kept in grouping.members.items() if common[name] >= _LEAST}
    if not members:
        raise AlignError(f"no group has two {systems.item}s that both runs of every pair have, which a test needs")
    each = [systems.on(kept) for kept in members.values()]
    tested = [(own, *_test(own, *pairs, design, progress, executor)[:2]) for own in each]
    p = np.concatenate([found.p for _, found, _ in tested])
    changed = np.concatenate([found.wins + found.losses for _, found, _ in tested])
    limit = _limit(design, changed, 0.0, systems.item)
    adjusted = np.split(adjust(p, design.correction), len(tested))
    whole.grouping = grouping
    uneven = any(bool(found.missing.any() or (found.n < len(own.topics)).any()) for own, found, _ in tested)
    for name, (own, found, how), mine in zip(members, tested, adjusted, strict=True):
        found.adjusted = mine
        more: dict[str, Any] = {"how": how, "limit": limit, "family": (p.size, len(tested)), "uneven": uneven}
        whole.groups[name] = Comparison(own, pairs, design, found, **more)
    whole.between = differences_between(systems, members, *pairs, design)


class _Tested(NamedTuple):
    """The results of a test of some pairs."""

    statistic: Array
    p: Array
    low: Array
    high: Array
    exact: Bools
    df: Array
    w_minus: Array  # of Wilcoxon's test, whose statistic is W+


def _test(
    systems: Systems, a: Ints, b: Ints, design: TestDesign, progress: Callable[[int, int], None], executor: Any
) -> tuple[PairResults, str, tuple[str, int]]:
    missing = np.asarray((systems.answered[a] ^ systems.answered[b]).sum(axis=1), np.int64)
    family, dealt = _family(systems, design, progress, executor) if design.test in FAMILIES else (None, 0.0)
    kept: list[dict[str, Any]] = []
    for rows, d in differences(systems, a, b):
        _enough(systems, a[rows], b[rows], d, design)

        def report(done: int, start: int = rows.start) -> None:
            progress(start + done, a.size)

        tested = family(d) if family is not None else _paired(d, design, report, executor)
        wins, ties, losses = effects.counts(d)
        kept.append(
            {
                **tested._asdict(),
                "n": d.n,
                "difference": d.mean,
                "median_difference": plain_median(np.where(d.shared, d.values, np.nan)),
                "w_plus": tested.statistic if design.test == "wilcoxon" else np.full(d.n.size, np.nan),
                "g": effects.hedges_g(d),
                "superiority": effects.superiority(wins, ties, losses),
                "wins": wins,
                "ties": ties,
                "losses": losses,
            }
        )
    arrays = {key: np.concatenate([some[key] for some in kept]) for key in kept[0]}
    exact = arrays.pop("exact")
    adjusted = adjust(arrays["p"], design.correction)
    limit = _limit(design, arrays["wins"] + arrays["losses"], dealt, systems.item)
    return PairResults(missing=missing, adjusted=adjusted, **arrays), _how(design, exact), limit


def _enough(systems: Systems, a: Ints, b: Ints, d: Differences, design: TestDesign) -> None:
    few = np.flatnonzero(d.n < _LEAST)
    if few.size:
        i = int(few[0])
        names = f"{systems.names[int(a[i])]} and {systems.names[int(b[i])]}"
        n = int(d.n[i])
        raise AlignError(f"{names} have scores on {n} common {systems.item}{'s' * (n != 1)}, {_needs(design.test)}")


def _needs(test: str) -> str:
    name = TESTS[test]
    return f"{name if name[0].isupper() else f'the {name}'} needs at least {_LEAST}"


def _paired(d: Differences, design: TestDesign, report: Report, executor: Any) -> _Tested:
    exact, drawn = np.zeros(d.n.size, bool), (design.sides, design.rounds, design.seed)
    df, w_minus = np.full((2, d.n.size), np.nan)
    if design.test == "t":
        statistic, p = paired.t_test(d, design.sides)
        df = d.n - 1.0
    elif design.test == "sign":
        statistic, p = paired.sign_test(d, design.sides)
    elif design.test == "wilcoxon":
        statistic, p, exact = paired.wilcoxon_test(d, design.sides, report)
        n = np.count_nonzero(d.values, axis=1)
        w_minus = n * (n + 1) / 2 - statistic
    elif design.test == "permutation":
        statistic, p, exact = resampling.permutation_test(d, *drawn, report, executor)
    else:
        statistic, p = resampling.bootstrap_test(d, *drawn, report, executor)
    if design.interval == "t":
        low, high = paired.t_interval(d.mean, d.deviation, d.n, design.sides, design.alpha)
    else:
        low, high = resampling.bootstrap_interval(
            d, design.interval, design.sides, design.alpha, design.rounds, design.seed, report, executor
        )
    return _Tested(statistic, p, low, high, exact, df, w_minus)


def _family(
    systems: Systems, design: TestDesign, progress: Callable[[int, int], None], executor: Any
) -> tuple[Callable[[Differences], _Tested], float]:
    """The test of all systems at once, as a function of some pairs, and the smallest p-value it could give any."""
    k, n = systems.values.shape
    if n < _LEAST:
        raise AlignError(f"{n} {systems.item} on which all runs have a score, {_needs(design.test)}")
    if design.test == "tukey":
        ranges = dealt_ranges(systems.values, design.rounds, design.seed, progress, executor)
        width = critical_difference(ranges, design.alpha)

        def by_randomisation(d: Differences) -> _Tested:
            mean = d.mean
            p = np.where(mean == 0, 1.0, range_p(ranges, mean, 2 * d.unit))
            none = np.full(mean.size, np.nan)
            return _Tested(mean, p, mean - width, mean + width, np.zeros(mean.size, bool), none, none)

        widest = np.ptp(systems.values, axis=0).mean(keepdims=True)
        return by_randomisation, float(range_p(ranges, widest, 2 * systems.unit)[0])
    freedom = (k - 1) * (n - 1)
    error = float(np.sqrt(error_variance(systems.values, systems.unit) / n))
    width = critical_range(design.alpha, k, freedom) * error

    def by_variance(d: Differences) -> _Tested:
        mean = d.mean
        if error == 0:  # nothing but systems and topics
            ratio = np.where(mean == 0, 0.0, np.copysign(np.inf, mean))
            p = np.where(mean == 0, 1.0, 0.0)
        else:
            ratio = mean / error
            p = np.where(mean == 0, 1.0, exceeds(np.abs(ratio), k, freedom))
        df, none = np.full(mean.size, float(freedom)), np.full(mean.size, np.nan)
        return _Tested(ratio, p, mean - width, mean + width, np.zeros(mean.size, bool), df, none)

    return by_variance, 0.0


def _limit(design: TestDesign, changed: Ints, dealt: float, item: str) -> tuple[str, int]:
    """What keeps a test from finding any difference, topics (or sessions), "rounds" or "", and the rounds needed.

    ``dealt`` is the smallest p-value that Tukey's test has with these scores, by its rounds: if on every topic one run
    had the best score and one other the worst.
    """
    if not changed.any():
        return "", 0  # runs that are the same, whatever the test

    def finds(rounds: int) -> bool:
        least = smallest_attainable(design.test, design.sides, rounds, changed)
        return bool(reaches(adjust(least, design.correction), design.alpha).any())

    if finds(design.rounds):
        return (f"{item}s", 0) if dealt and not reaches(np.array(dealt), design.alpha) else ("", 0)
    if not finds(_MOST_ROUNDS):
        return f"{item}s", 0
    low, high = design.rounds, _MOST_ROUNDS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if finds(middle) else (middle, high)
    return "rounds", high


def _how(design: TestDesign, exact: Bools) -> str:
    """How p-values were computed, where there is a choice."""
    drawn = f"{design.rounds:,} rounds, seed {design.seed}"
    if design.test == "permutation":
        if exact.all():
            return ALL_COUNTED
        return drawn + (f"; {int(exact.sum())} of the pairs exactly" if exact.any() else "")
    if design.test == "wilcoxon":
        if exact.all():
            return "exact"
        return "normal approximation" + (f"; {int(exact.sum())} of the pairs exactly" if exact.any() else "")
    return drawn if design.test in ("bootstrap", "tukey") or design.interval in ("percentile", "bca") else ""
