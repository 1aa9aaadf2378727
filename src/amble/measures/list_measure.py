"""A measure of lists: its scores, its user, and the distribution of the score over users.

A measure builds its reader once, puts its question to it, and divides by what the declaration says. Whatever kind of
user the reader is, it answers for itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, Self, cast

import numpy as np

from amble.arrays import ArrayLike, NDArray
from amble.distributions.distribution import Distribution
from amble.errors import AmbleWarning, MeasureError, SimulationWarning
from amble.expressions.populations import GRIDS, Population
from amble.measures.gain_maps import scaled
from amble.measures.measure import Measure
from amble.rankings.alignment import aggregate, byte_order
from amble.rankings.lists import GainMap, Gains, Lists
from amble.users.forward import first_look
from amble.users.protocol import ANSWERS, NoExactDistributionError, Question, Scorer, TiedError, User

__all__ = ["ListMeasure", "of_lists", "scores_of_each"]

Array = NDArray[np.float64]
_SAME = 1e-10  # a change of the mean over users of a joint distribution that is none


class ListFunction:
    """A function of all lists' gains: a reader with scores, and no more."""

    def __init__(self, function: Callable[..., Any], arguments: dict[str, Any]) -> None:
        self.function, self.arguments = function, arguments

    def scores(self, question: Question | None, gains: Gains) -> Array:
        """The score of every list."""
        if gains.lists.ties is not None:
            raise TiedError
        return np.asarray(self.function(gains, **self.arguments), np.float64)


class ListMeasure(Measure):
    """A measure of lists with its parameters: `value` scores one list, `scores` many.

    Examples
    --------
    >>> import amble
    >>> from amble.measures import Lists
    >>> m = amble.parse("RBP(p=0.5)")
    >>> m.question.text, m.one_user.is_static
    ('expected gain over expected effort, E[T]/E[H] (order 2)', True)
    >>> m.scores(Lists.of_grades([1, 0, 1]))  # 1/2 + 1/8
    array([0.625])
    """

    # ---- the reader

    @property
    def question(self) -> Question:
        """What the measure asks its user; an error if it has none."""
        if self.declaration.question is None:
            raise MeasureError(f"{self.name} is not a user: it is computed from the whole list at once")
        return self.declaration.question

    @cached_property
    def reader(self) -> Scorer:
        """Who reads the lists: a user, or a function that has scores and no more."""
        d, arguments = self.declaration, self.arguments
        if self.is_population:
            why = "has another user for each topic" if self.by_topic else "is a population"
            raise MeasureError(f"{self} {why}, not one user; expected one user, or use its distribution")
        if d.question is None:
            return ListFunction(d.function, arguments)
        user = d.function(**first_look(d.seen), **arguments)
        missing = [name for name in ANSWERS if not hasattr(user, name)]
        if missing:
            raise MeasureError(
                f"its function returned {user!r:.60}, expected a user, such as Forward: it has no {missing[0]}"
            )
        user.check(d.question)
        if d.seen:
            user = user.looking(lambda **seen: d.function(**seen, **arguments), d.seen, d.stops)
        if d.effort is not None:
            user = user.paying(d.effort)
        return cast(User, user)

    def resolve_variant(self) -> Self:
        """The measure that the parameters make of this one; an error if its user would not do."""
        out = super().resolve_variant()
        if out is not self and out.declaration.is_user:
            try:
                with np.errstate(over="raise", divide="raise", invalid="raise"):
                    _ = out.members[0][1].one_user  # built once, and may raise
            except FloatingPointError as error:
                raise MeasureError(f"a parameter is too extreme to compute with: {error}") from None
        return out

    @property
    def one_user(self) -> User:
        """The user; an error if the measure is none, or a population of several."""
        _ = self.question  # may raise
        return cast(User, self.reader)

    @property
    def is_static(self) -> bool:
        """Whether the user ignores the grades, so that one vector of weights serves all lists."""
        return self.declaration.is_user and not self.is_population and self.one_user.is_static

    @property
    def has_order1(self) -> bool:
        """Whether E[T/H] of any list is computed without its distribution."""
        return all(one.one_user.has_order1 or one.question is Question.ORDER1 for _, one in self.members)

    @cached_property
    def ends(self) -> bool:
        """Whether the user looks no further than the end of the list, as who is no user does."""
        return not self.declaration.is_user or self.members[0][1].one_user.ends

    @property
    def deepest(self) -> int | None:
        """The rank below which nothing is gained; None if there is none."""
        if self.cut is not None:
            return self.cut
        if not self.declaration.is_user:
            return self.values.get("k")
        return self.members[0][1].one_user.depth

    @property
    def looks_at_costs(self) -> bool:
        """Whether the user, or one of a population, looks at what documents cost."""
        users = [one for _, one in self.members]
        return any(
            one.values.get("seconds") == "costs" or {"cost", "spent"} & set(one.declaration.seen) for one in users
        )

    @property
    def by_list(self) -> bool:
        """Whether a list's score is the same, bit for bit, whatever other lists are scored with it."""
        joint = any(isinstance(value, Population) and value.is_joint for value in self.values.values())
        own = self.declaration.family == "yours" and not self.declaration.is_user
        alone = not any(getattr(one.reader, "looks_at_others", False) for _, one in self.members)
        return alone and not joint and not own

    # ---- many lists

    def scores(self, of: Lists) -> Array:
        """The score of every list."""
        with self.wrap_errors():
            out = self._scores(of)
        if out.shape != (of.n,):
            raise MeasureError(f"{self}: gave scores of shape {out.shape}, expected one for each of {of.n} lists")
        return out

    def _scores(self, lists: Lists) -> Array:
        if self.is_population:
            return self._mean_scores(lists)
        d, gains = self.declaration, self.gains_of(lists)
        if d.tied is not None and gains.lists.ties is not None:
            return d.tied(gains, **self.arguments)
        answer = self.reader.scores(cast(Question, d.question), gains)
        by = self.divisors(gains)
        return answer if by is None else np.divide(answer, by, out=np.zeros(answer.size), where=by > 0)

    def _mean_scores(self, lists: Lists) -> Array:
        """The mean over users; of a joint distribution by ever more of them, until it stays as it is."""
        if self.by_topic:
            return np.asarray(sum(w * one._scores(lists) for w, one in self.members_of(lists)))
        if not any(isinstance(value, Population) and value.is_joint for value in self.values.values()):
            return self._mean_over(self.members, lists)
        before, change = self._mean_over(self.members_on(GRIDS[0]), lists), np.inf
        for grid in GRIDS[1:]:
            found = self._mean_over(self.members_on(grid), lists)
            change = float(np.abs(found - before).max(initial=0.0))
            if change < _SAME:
                return found
            before = found
        warnings.warn(f"{self}: the mean over users is known to {change:.0e}, not {_SAME:g}", AmbleWarning, 2)
        return before

    def _mean_over(
        self, members: Sequence[tuple[float, Self]], lists: Lists, question: Question | None = None
    ) -> Array:
        """The mean over some users of their scores, or of their answers to another question."""
        one = members[0][1]
        together = getattr(one.reader, "mean_scores", None)
        of_gains = [self.values[p.name] for p in self.declaration.gain.parameters]
        divided = self.declaration.norm is not None and question is None
        if together is not None and not divided and not any(isinstance(value, Population) for value in of_gains):
            shares, users = np.array([w for w, _ in members]), [user.one_user for _, user in members]
            found = together(users, shares, question or one.question, one.gains_of(lists))
            if found is not None:
                return np.asarray(found)
        return np.asarray(
            sum(w * (user.answers(question, lists) if question else user._scores(lists)) for w, user in members)
        )

    def members_of(self, lists: Lists) -> list[tuple[Any, Self]]:
        """Weights and measures of the users; where a parameter differs by topic, weights of each list, 0 or more."""
        if not self.by_topic:
            return list(self.members)
        lists_of: dict[Self, list[int]] = {}
        for i, t in zip(*np.unique(lists.topic, return_index=True)[::-1], strict=True):
            lists_of.setdefault(self.at(lists, int(i)), []).append(int(t))
        return [
            (w * np.isin(lists.topic, topics), inner) for one, topics in lists_of.items() for w, inner in one.members
        ]

    def at(self, lists: Lists, i: int) -> Self:
        """The measure with the parameters of the topic of list i."""
        if not self.by_topic:
            return self
        if lists.topics is None:
            raise MeasureError(f"{self}: {self.by_topic[0]} differs by topic, and these lists have no topics")
        return self.at_topic(lists.topics[int(lists.topic[i])])

    def divisors(self, gains: Gains) -> Array | None:
        """What the answer of each list is divided by: the recall base, or the ideal list's answer; None: nothing."""
        norm = self.declaration.norm
        if norm is None:
            return None
        if norm == "relevant":
            return gains.relevant
        made = gains.judged.made
        key = ("ideal", self.reader, gains.lists.cut)  # not by name: two users may share one
        if key not in made:
            made[key] = self.reader.scores(self.question, gains.ideal_lists)
        return np.asarray(made[key][gains.lists.topic])

    def answers(self, question: Question, lists: Lists) -> Array:
        """The answer of every list to another question than the measure's own, divided by nothing."""
        if self.by_topic:
            return np.asarray(sum(w * one.answers(question, lists) for w, one in self.members_of(lists)))
        with self.wrap_errors():
            if self.is_population:
                return self._mean_over(self.members, lists, question)
            return self.one_user.scores(question, self.gains_of(lists))

    def gains_of(self, lists: Lists) -> Gains:
        """The gains of the judged documents of lists, down to the measure's rank k.

        For a user who goes no further than a list does, the lists end at rank k; for one who reads on, for ever or to
        another depth, nothing is judged below it.
        """
        if self.cut is not None:
            lists = lists.ending_at(self.cut) if self.ends else lists.silent_below(self.cut)
        return lists.gains(self._gain_map)

    @cached_property
    def _gain_map(self) -> GainMap:
        one = self.members[0][1]  # of a population: all gain from the same documents
        return one.declaration.gain.make(one.values)

    # ---- one list

    def gains_of_grades(self, grades: ArrayLike, **context: Any) -> Gains:
        """The gains of one list, down to the measure's rank k; the context is that of `value`."""
        users = [one for _, one in self.members]
        markov = any(one.declaration.question is Question.MARKOV for one in users)
        context.pop("topic", None)  # nothing differs by it any more
        known = ["relevant", "ideal", "max_grade", "topic", "costs"] + ["most"] * markov
        unknown = set(context) - set(known)
        if unknown:
            raise MeasureError(f"{self}: unknown context {', '.join(sorted(unknown))}; expected {', '.join(known)}")
        if context.get("costs") is not None and not self.looks_at_costs:
            raise MeasureError(f"{self}: costs are given, and its user does not look at them")
        rel = max(float(one.values.get("rel", 1)) for one in users)
        if context.get("max_grade") is None and any(
            one.declaration.gain is scaled and one.values["max_grade"] is None for one in users
        ):
            top = np.nanmax(np.array(grades, np.float64), initial=0.0)
            if top > 1:
                raise MeasureError(f"{self}: a grade of {top:g}; say max_grade=, the grade whose gain is 1")
        lists = Lists.of_grades(grades, extra_grade=max(rel, 1.0) if rel != 0 else 0.0, **context)
        with self.wrap_errors():
            return self.gains_of(lists)

    def value(self, grades: ArrayLike, **context: Any) -> float:
        """The score of one list.

        Parameters
        ----------
        grades : array_like
            Grades by rank; NaN where unjudged.
        relevant : int, optional
            How many relevant documents the topic has; without it, as many as the list.
        ideal : array_like, optional
            The grades of all the topic's judged documents; zeros of the list may be left out.
        max_grade : float, optional
            The largest grade there is.
        topic : str, optional
            Whose list it is, for a measure with parameters that differ by topic.
        costs : sequence of float, optional
            What the documents cost to look at, by rank, for users who look at it; further down, 1.
        most : int, optional
            How many relevant documents the best run found, for MP with ``rescale='RR'``; without it, as many as this
            one.

        Examples
        --------
        >>> import amble
        >>> amble.parse("P@10").value([1, 0, 1])
        0.2
        >>> round(amble.parse("nDCG").value([0, 2], ideal=[2, 1, 0]), 6)  # (2/log2(3)) / (2 + 1/log2(3))
        0.479625
        """
        one, context = self.resolve_topic(context)
        score = float(one.scores(one.gains_of_grades(grades, **context).lists)[0])
        if not np.isfinite(score):
            raise MeasureError(f"{self}: the score is {score}, not a finite number")
        return score

    def of_arrays(
        self, labels: Any, scores: Any, mask: Any = None, *, ties: Literal["file", "expected"] = "file"
    ) -> float:
        """The mean over topics of arrays of labels and scores, as `amble.from_arrays` takes them.

        This is a function for scikit-learn: ``make_scorer((nDCG @ 10).of_arrays)``.

        Examples
        --------
        >>> from amble.measures import nDCG
        >>> round((nDCG @ 10).of_arrays([[0, 1, 2]], [[0.3, 0.9, 0.7]]), 4)  # (1 + 2/log2(3)) / (2 + 1/log2(3))
        0.8597
        """
        from amble.rankings.score_arrays import from_arrays  # files do without

        if isinstance(scores, Mapping):
            raise MeasureError(f"{self}: scores of several runs, expected an array; amble.evaluate takes several")
        rankings = from_arrays(labels, scores, mask, ties=ties)
        values = self.scores(Lists.of_rankings(rankings))
        return float(aggregate(self.declaration.aggregate, values[byte_order(rankings.topics)]))

    def interval(self, grades: ArrayLike, **context: Any) -> tuple[float, float]:
        """The least and the greatest score that judging the unjudged documents (NaN) could give.

        Each is taken to have grade 0 or the largest grade; grades between could lead a little further out for measures
        that divide by an ideal list, and for users who stop when they have enough.

        Examples
        --------
        >>> import amble
        >>> from math import nan
        >>> amble.parse("P@3").interval([1, nan, 0])
        (0.3333333333333333, 0.6666666666666666)
        >>> amble.parse("AP").interval([1, nan, 0], relevant=1)
        (1.0, 1.0)
        """
        from amble.measures.residuals import residual_interval

        one, context = self.resolve_topic(context)
        return residual_interval(one, grades, **context)

    def score_path(self, path: ArrayLike, grades: ArrayLike, **context: Any) -> float:
        """The score of one observed reader: T / f(H) of the visits made, divided by what the measure divides by.

        Parameters
        ----------
        path : array_like of int
            The ranks visited, one after another; a user who walks down can only have visited 1, 2, 3, …
        grades, **context
            As for `value`.

        Returns
        -------
        float
            For RR and ERR 1 / H, or 0 if the last document cannot satisfy; for Markov Precision the mean precision over
            the visits to relevant documents, or 0 if there are none.

        Examples
        --------
        >>> import amble
        >>> m = amble.parse("PH(gains='linear', loss=0.5)")  # Ferrante and Ferro (2020), Example 4.1
        >>> m.score_path([1, 2, 1, 2, 3], [3, 2, 3, 0, 1])  # (3 + 2 + 3/2 + 2/2 + 3) / 5
        2.1
        """
        if self.by_topic:
            one, context = self.resolve_topic(context)
            return one.score_path(path, grades, **context)
        gains = self.gains_of_grades(grades, **context)
        with self.wrap_errors():
            user: Any = self.one_user.on(gains, 0)
            ranks, y = user.check_path(path), gains.by_rank(0)
            score = float(self.question.score(*user.gained(ranks, y)))
            end = slice(ranks[-1] - 1, ranks[-1])
            if self.question.about_satisfaction and not (y[end].any() or user.last[end].any()):
                score = 0.0
            by = self.divisors(gains)
            return score if by is None else score / (float(by[0]) or np.inf)

    def user(self, grades: ArrayLike = (), **context: Any) -> Any:
        """The behaviour of the user on a list: C, V, L, W, expected depth, residual.

        With ``@k`` rank k is the end of the list: DCG's user stops there, AP's leaves with nothing. One who reads on
        for ever, as RBP's does, behaves as without it, and gains nothing below rank k.

        Examples
        --------
        >>> import amble
        >>> amble.parse("RR").user([0, 1, 1]).last
        array([0., 1., 0.])
        >>> round(amble.parse("RBP(p=0.8)").user([1, 0, 1]).expected_depth, 6)
        5.0
        >>> amble.parse("DCG@2").user([1, 1, 1]).visits.size, amble.parse("RBP@2").user([1, 1, 1]).visits.size
        (2, 3)
        """
        one, context = self.resolve_topic(context)
        with self.wrap_errors():
            return one.one_user.on(one.gains_of_grades(grades, **context), 0)

    def distribution(self, grades: ArrayLike, *, users: int = 100_000, seed: int = 0, **context: Any) -> Distribution:
        """The distribution of the score over users: of T / H for a user with gain T after H visits.

        Its mean is order 1, so for a measure of order 2 (RBP, say) it is not the score. For RR and ERR it is the
        distribution of 1 / H, with an atom at 0 for users who find nothing.

        It is exact, except for walks with a utility loss between 0 and 1, whose gain depends on the whole history of
        their visits, and for walks too long to be computed: these are simulated, with ``users`` users and a
        `SimulationWarning`.

        Examples
        --------
        >>> import amble
        >>> amble.parse("AP").distribution([1, 0, 1], relevant=3)
        Distribution(3 atoms, mean 0.555556, exact)
        """
        from amble.users.simulation import check_users, follower_of, simulated_mixture  # scores do without

        check_users(users, seed, 1)
        if self.by_topic:
            one, context = self.resolve_topic(context)
            return one.distribution(grades, users=users, seed=seed, **context)
        gains = self.gains_of_grades(grades, **context)
        found: list[tuple[float, Distribution]] = []
        rest, why = [], None
        for w, one in self.members:
            own = gains if one is self else one.gains_of(gains.lists)
            try:
                found.append((w, one.distribution_on(own, 0)))
            except NoExactDistributionError as error:
                rest.append((w, one, own))
                why = why or error
        if rest:
            warnings.warn(f"{self}: {why}; {users:,} users simulated instead", SimulationWarning, stacklevel=2)
            with self.wrap_errors():
                followed = [(w, follower_of(one.one_user, own, [0], seed), *one._asked(own)) for w, one, own in rest]
                found.append((sum(w for w, _, _ in rest), simulated_mixture(followed, users, seed)))
        shares, each = zip(*found, strict=True)
        return each[0] if len(each) == 1 else Distribution.mixture(each, shares)

    def _asked(self, gains: Gains) -> tuple[Question, float]:
        """The question, and what the answer of the only list is divided by."""
        by = self.divisors(gains)
        return self.question, 1.0 if by is None else float(by[0])

    def distribution_on(self, gains: Gains, i: int) -> Distribution:
        """The exact distribution of the score of list i of `gains_of`; NoExactDistributionError where there is none."""
        if self.by_topic:
            return self.at(gains.lists, i).distribution_on(gains, i)
        with self.wrap_errors():
            if self.is_population:
                each = [one.distribution_on(one.gains_of(gains.lists), i) for _, one in self.members]
                return Distribution.mixture(each, [w for w, _ in self.members])  # each may see other gains
            found = self.one_user.distribution(self.question, gains, i)
            by = self.divisors(gains)
            if by is None:
                return found
            return Distribution(found.values / by[i] if by[i] > 0 else np.zeros(found.values.size), found.probs)


def scores_of_each(measures: Sequence[ListMeasure], lists: Lists) -> Array | None:
    """The scores of every list by each measure, a row each; None if one has an error, which its own `scores` tells."""
    names, found = [str(m) for m in measures], dict[str, Array]()
    try:
        with np.errstate(over="raise", divide="raise", invalid="raise"):  # once: it takes a while
            for name, m in zip(names, measures, strict=True):
                if name not in found:  # two labels of one measure: computed once
                    found[name] = m.scores(lists) if m.declaration.family == "yours" else m._scores(lists)
    except (FloatingPointError, MeasureError):
        return None
    return np.array([found[name] for name in names])


def of_lists(measure: Measure) -> ListMeasure:
    """The measure itself, if it is one of lists; else an error."""
    if not isinstance(measure, ListMeasure):
        raise MeasureError(
            f"{measure.name} is a measure of sessions, not of lists: `amble session`, or evaluate(sessions, ...), see "
            "read_sessions"
        )
    return measure
