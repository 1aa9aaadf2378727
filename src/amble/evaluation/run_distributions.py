"""Distributions of the scores of runs over users and topics, exact or simulated.

A run's distribution is the mixture of its topics' distributions, all topics equally likely.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Unpack, overload

import numpy as np

from amble import checks
from amble.arrays import NDArray
from amble.distributions.distribution import Distribution, summary_of
from amble.errors import AlignError, MeasureError, SimulationWarning
from amble.evaluation.inputs import Scored, aligning
from amble.evaluation.simulated_distributions import Readers, simulate_lists
from amble.measures import ListMeasure, Lists, Measure, parse
from amble.measures.list_measure import of_lists
from amble.parallel import spread
from amble.progress import Progress
from amble.rankings.alignment import AlignOptions, Rankings, SentRankings, byte_order, plain_mean
from amble.rankings.costs import Prices
from amble.table import Table, Tabled
from amble.users.protocol import NoExactDistributionError, Question

__all__ = [
    "RunDistributions",
    "chosen_lists",
    "chosen_runs",
    "chosen_topics",
    "means_of",
    "orders_of",
    "run_distributions",
]

_TOGETHER = 8  # lists whose distributions are one piece of work
USERS = 100_000  # where there is no exact distribution


def chosen_lists(
    rankings: Rankings, topics: str | int | Iterable[str | int] | None = None, runs: Iterable[str] | None = None
) -> list[list[int]]:
    """The numbers of the lists of each run, or of some runs: of all its topics, or of some."""
    names_of_runs = chosen_runs(rankings, runs)
    wanted = set(range(len(rankings.topics)))
    if topics is not None:
        wanted = set(chosen_topics(rankings, topics))
    groups: list[list[int]] = [[] for _ in rankings.runs]
    for i, (run, topic) in enumerate(zip(rankings.run.tolist(), rankings.topic.tolist(), strict=True)):
        if topic in wanted:
            groups[run].append(i)
    groups = [groups[rankings.index(name)] for name in names_of_runs]
    for run, group in zip(names_of_runs, groups, strict=True):
        if not group:
            raise AlignError(f"run {run} has no list for the topics chosen")
    return groups


def chosen_topics(scored: Scored, topics: str | int | Iterable[str | int], what: str = "topic") -> list[int]:
    """The numbers of some topics, or of one; a topic may be a whole number, as where it is read."""
    each = list(topics) if isinstance(topics, Iterable) and not isinstance(topics, str) else [topics]
    names = [checks.id_text(topic) for topic in each]
    unknown = [name for name in names if not isinstance(name, str) or name not in scored.topics]
    if unknown:
        known = ", ".join(scored.topics[:5]) + ("…" if len(scored.topics) > 5 else "")
        raise AlignError(f"{what} {unknown[0]!r:.60} is not among the {len(scored.topics)} {what}s scored: {known}")
    return [scored.topics.index(name) for name in names]


def chosen_runs(rankings: Scored, runs: Iterable[str] | None = None) -> list[str]:
    """The names of all runs, or of those named, each once."""
    if runs is None:
        return list(rankings.runs)
    names = []
    for name in [runs] if isinstance(runs, str) else list(runs):
        try:
            names.append(rankings.runs[rankings.index(name)])
        except KeyError:
            raise AlignError(f"run {name!r} is not among {', '.join(rankings.runs[:5])}") from None
    if not names:
        raise AlignError("no runs chosen, expected at least one")
    return list(dict.fromkeys(names))


class RunDistributions(Tabled, dict[str, Distribution]):
    """The distribution of each run, ``{run: Distribution}``; made by `run_distributions`."""

    def table(self, *, digits: int = 4) -> Table:
        """Mean, standard deviation and quantiles, a row for each run."""
        return summary_of(self, digits)

    def __repr__(self) -> str:
        return f"RunDistributions({super().__repr__()})"


@overload
def run_distributions(
    rankings: Rankings,
    measure: str | Measure,
    *,
    topics: str | int | Iterable[str | int] | None = ...,
    runs: Iterable[str] | None = ...,
    users: int | None = ...,
    seed: int = ...,
    threads: int | None = ...,
    progress: Callable[[int, int], None] | None = ...,
    executor: Any = ...,
    costs: Prices | None = ...,
) -> RunDistributions: ...
@overload
def run_distributions(
    qrels: Any,
    runs: Any,
    measure: str | Measure,
    *,
    topics: str | int | Iterable[str | int] | None = ...,
    users: int | None = ...,
    seed: int = ...,
    progress: Callable[[int, int], None] | None = ...,
    **options: Unpack[AlignOptions],
) -> RunDistributions: ...
@aligning(Rankings)
def run_distributions(
    rankings: Rankings,
    measure: str | Measure,
    *,
    topics: str | int | Iterable[str | int] | None = None,
    runs: Iterable[str] | None = None,
    users: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    executor: Any = None,
) -> RunDistributions:
    """The distribution of every run's score over users and topics.

    Parameters
    ----------
    rankings : Rankings
        Or qrels and runs, with the options of `align`, as for `evaluate`.
    measure : str or Measure
        A measure that is a user.
    topics : list of str, optional
        Some of the topics; without it, all of them.
    runs : list of str, optional
        Of rankings: some of the runs; without it, all of them.
    users : int, optional
        How many to simulate on every topic. Without it the distributions are exact; where there is none,
        100,000 users are simulated, with a `SimulationWarning`.
    seed, threads, progress, executor
        As for `simulate`; workers compute exact distributions, too.

    Returns
    -------
    RunDistributions
        A dictionary, ``{run: Distribution}``, in the order of the runs, or in the order given.

    Examples
    --------
    >>> import amble
    >>> qrels = {"1": {"a": 1, "b": 1}, "2": {"c": 1}}
    >>> runs = {"x": {"1": {"a": 2.0, "b": 1.0}, "2": {"d": 2.0, "c": 1.0}}}
    >>> distribution = amble.run_distributions(qrels, runs, "AP")["x"]
    >>> distribution.values, distribution.probs  # 1 and 1 on the first topic, 1/2 on the second
    (array([0.5, 1. ]), array([0.5, 0.5]))
    """
    m = of_lists(parse(measure))
    names = chosen_runs(rankings, runs)
    groups = chosen_lists(rankings, topics, names)
    lists = Lists.of_rankings(rankings)
    if lists.ties is not None:
        raise MeasureError("ties='expected': tied documents have no one rank to walk to; use ties='docno'")
    readers = Readers(m, lists, seed, SentRankings(rankings))
    if users is None:
        try:
            with Progress(f"distributions of {m}") as line:
                return RunDistributions(zip(names, _exact(readers, groups, executor, progress or line), strict=True))
        except NoExactDistributionError as why:
            warnings.warn(f"{m}: {why}; {USERS:,} users simulated instead", SimulationWarning, stacklevel=3)
            users = USERS
    with m.wrap_errors():
        found = simulate_lists(
            m, lists, groups, users, seed, threads=threads, progress=progress, executor=executor, source=readers.source
        )
    return RunDistributions(zip(names, found, strict=True))


def _exact(
    readers: Readers, groups: list[list[int]], executor: Any, progress: Callable[[int, int], None]
) -> list[Distribution]:
    done, total = 0, sum(map(len, groups))
    blocks = [group[at : at + _TOGETHER] for group in groups for at in range(0, len(group), _TOGETHER)]
    found: list[Distribution] = []  # of the lists of one run
    out: list[Distribution] = []
    for each in spread(_distributions, readers, blocks, executor):
        found += each
        done += len(each)
        progress(done, total)
        if len(found) == len(groups[len(out)]):
            out.append(Distribution.mixture(found))
            found.clear()
    return out


def _distributions(readers: Readers, lists: list[int]) -> list[Distribution]:
    return [readers.measure.distribution_on(readers.gains, i) for i in lists]


def orders_of(
    rankings: Rankings,
    measure: str | Measure,
    topics: str | int | Iterable[str | int] | None = None,
    runs: Iterable[str] | None = None,
    known: Mapping[str, Distribution] | None = None,
) -> NDArray[np.float64]:
    """Exact orders 1 and 2 of every run, or of some: means over topics of E[T / f(H)] and E[T] / E[f(H)].

    NaN where a measure has no such order (those that divide by the recall base or an ideal list have no order 2). If
    the runs' exact distributions are ``known``, order 1 is their mean.
    """
    m = of_lists(parse(measure))
    second = means_of(Question.ORDER2, rankings, m, topics, runs)
    if np.isnan(second).any():
        return np.full((second.size, 2), np.nan)
    if known is not None:
        return np.stack((np.array([distribution.mean for distribution in known.values()]), second), axis=1)
    if m.has_order1:
        first = means_of(Question.ORDER1, rankings, m, topics, runs)
    else:  # the mean of its own distribution
        first = np.array(
            [distribution.mean for distribution in run_distributions(rankings, m, topics=topics, runs=runs).values()]
        )
    return np.stack((first, second), axis=1)


def means_of(
    question: Question,
    rankings: Rankings,
    measure: ListMeasure,
    topics: str | int | Iterable[str | int] | None = None,
    runs: Iterable[str] | None = None,
) -> NDArray[np.float64]:
    """The mean over topics of a question to a measure's user (of order 1 or 2), by run; NaN if it has no answer."""
    groups = chosen_lists(rankings, topics, runs)
    each = [one.declaration for _, one in measure.members]
    if any(d.question not in (Question.ORDER1, Question.ORDER2) or d.norm is not None for d in each):
        return np.full(len(groups), np.nan)
    lists = Lists.of_rankings(rankings)
    if runs is None or not (measure.by_list and all(d.stops for d in each)):
        answers = measure.answers(question, lists)
    else:  # such users are followed on every list: on those of these runs alone
        answers = np.full(lists.n, np.nan)
        for start, stop in ((min(group), max(group) + 1) for group in groups):
            answers[start:stop] = measure.answers(question, lists.part(start, stop))
    place = np.argsort(byte_order(rankings.topics))[rankings.topic]  # of each list's topic
    return np.array([float(plain_mean(answers[sorted(group, key=place.__getitem__)])) for group in groups])
