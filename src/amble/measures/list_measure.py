"""A measure of lists with its parameters: its scores, its user, and the distribution of the score over users."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from amble.distributions.distribution import Distribution
from amble.errors import MeasureError, SimulationWarning
from amble.expressions.domains import checked
from amble.expressions.grammar import show_value
from amble.expressions.populations import Population
from amble.measures.arguments import rebuild
from amble.measures.declaration import Declaration
from amble.measures.gain_maps import scaled
from amble.rankings.lists import Gains, Lists
from amble.users import (
    forward_dense as dense,
)
from amble.users import (
    forward_sparse as sparse,
)
from amble.users import (
    forward_static as static,
)
from amble.users import (
    markov_scores,
)
from amble.users import (
    walk_scores as walking,
)
from amble.users.forward import Behaviour, Forward, distribution_of_stops
from amble.users.joint_distribution import NoExactDistributionError
from amble.users.walk import Walk
from amble.users.walk_on_list import WalkOnList

__all__ = ["Measure", "plain_parameters"]

Array = NDArray[np.float64]
_WALKED = ("order2", "total", "depth", "inside", "both")  # about visits, not about the last one


class Measure:
    """A measure with its parameters: `value` scores one list, `scores` many, ``str`` is its canonical name.

    Examples
    --------
    >>> import amble
    >>> m = amble.parse("AP(rel=1)@100")
    >>> str(m), m.label
    ('AP@100', 'AP(rel=1)@100')
    >>> m.value([1, 0, 1], relevant=2)  # (1/1 + 2/3) / 2
    0.8333333333333333
    """

    typed: str = ""

    def __init__(
        self,
        declaration: Declaration,
        values: dict[str, Any],
        cut: int | None,
        written: Measure | None = None,
        given: Iterable[str] = (),
    ) -> None:
        self.declaration = declaration
        self.values = values
        self.cut = cut
        self.given = frozenset(given)  # the parameters that were written down, whatever their values
        self.written = written  # the measure as written, where its parameters make another one of it

    @property
    def name(self) -> str:
        """The name without parameters."""
        return self.declaration.name

    @property
    def label(self) -> str:
        """The name in tables: the expression as typed, or the canonical name where nothing was typed."""
        return self.typed or str(self)

    def __str__(self) -> str:
        if self.written is not None:
            return str(self.written)
        d = self.declaration
        shown = [
            f"{key}={show_value(value)}"
            for key, value in self.values.items()
            if value != d.parameters[key].default and key != d.at
        ]
        at = self.values.get(d.at) if d.at else self.cut
        if d.at and at == d.parameters[d.at].default:
            at = None
        return d.name + (f"({','.join(shown)})" if shown else "") + ("" if at is None else f"@{show_value(at)}")

    def __repr__(self) -> str:
        return f"parse({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __call__(self, /, *values: Any, **parameters: Any) -> Self:
        """The measure with other parameters, ``RBP(p=0.9)``; the first may go without its name, ``RBP(0.9)``."""
        return rebuild(self, values, parameters)

    def __matmul__(self, at: float) -> Self:
        """The measure at a rank, ``nDCG @ 10``, or at whatever ``@`` sets."""
        return rebuild(self, (), {}, at)

    # ---- many lists

    def scores(self, lists: Lists) -> Array:
        """The score of every list."""
        with self.wrap_errors():
            out = self._scores(lists)
        if out.shape != (lists.n,):
            raise MeasureError(f"{self}: gave scores of shape {out.shape}, expected one for each of {lists.n} lists")
        return out

    @contextlib.contextmanager
    def wrap_errors(self) -> Iterator[None]:
        """Context in which errors become a `MeasureError` of one line that names the measure.

        So do overflow and division by 0. Unexpected errors in amble's own measures pass, as they are bugs.
        """
        ours = self.declaration.family != "yours"
        how: Literal["raise", "warn"] = "raise" if ours else "warn"
        try:
            with np.errstate(over=how, divide=how, invalid=how):
                yield
        except FloatingPointError as error:
            raise MeasureError(f"{self}: a parameter or a grade is too extreme to compute with: {error}") from None
        except NoExactDistributionError:
            raise
        except MeasureError as error:
            raise error if self.name in str(error) else MeasureError(f"{self}: {error}") from None
        except Exception as error:
            if ours:
                raise
            raise MeasureError(f"{self}: its function failed with {type(error).__name__}: {error}") from error

    def members(self) -> list[tuple[float, Measure]]:
        """Weights and measures of the users of a population; only this one where no parameter is a population."""
        mixed = [key for key, value in self.values.items() if isinstance(value, Population)]
        if not mixed:
            return [(1.0, self)]
        points, weights = self.values[mixed[0]].nodes()
        out = []
        for x, w in zip(points.tolist(), weights.tolist(), strict=True):
            one = Measure(self.declaration, self.values | {mixed[0]: x}, self.cut)
            out += [(w * v, inner) for v, inner in one.members()]
        return out

    @property
    def is_population(self) -> bool:
        """Whether a parameter differs from user to user."""
        return any(isinstance(value, Population) for value in self.values.values())

    @property
    def is_static(self) -> bool:
        """Whether the user ignores the grades, so that one vector of weights serves all lists."""
        if self.is_population:
            return False
        d = self.declaration
        arguments = {key: self.values[key] for key in self.own_keys()}
        walk = self.walk_user(arguments)
        if walk is not None:
            return not walk.looks and walk.utility.separable
        return d.question in ("order2", "total") and static.static_user(d.function, d.seen, arguments, None) is not None

    def with_value(self, name: str, value: Any) -> Measure:
        """The same measure with another value of a parameter."""
        d = (written := self.written or self).declaration
        new = {name: checked(d.name, name, d.parameters[name].domain, value)}
        return type(self)(d, written.values | new, written.cut, given={*written.given, name}).resolve_variant()

    def resolve_variant(self) -> Self:
        """The measure that the parameters make of this one, as written; itself where they make no other."""
        if self.declaration.variant is None:
            return self
        given = frozenset(name for name in self.given if self.values[name] is not None)  # None says nothing
        declaration, values, cut = self.declaration.variant(self.declaration, self.values, self.cut, given)
        return type(self)(declaration, values, cut, self)

    def scores_for(self, question: str, lists: Lists) -> Array:
        """The answer of every list to another question than the measure's own.

        "total": expected gain; "depth": expected number of documents looked at; "both" of them, stacked; "inside":
        expected number of documents of the list; "cost": expected cost; or one of `QUESTIONS`.
        """
        d = self.declaration
        same = (question in _WALKED) == (d.question in _WALKED)
        stops = d.stops if same else None  # another kind of question may need what is between the gains
        other = Measure(d._replace(question=question, norm=None, tied=None, stops=stops), self.values, self.cut)
        with self.wrap_errors():
            return other._scores(lists)

    def gains_of(self, lists: Lists) -> Gains:
        """The gains of the judged documents of lists, down to the measure's rank k.

        For a user who goes no further than a list does, the lists end at rank k; for one who reads on, for ever or to
        another depth, nothing is judged below it.
        """
        if self.cut is not None:
            lists = lists.ending_at(self.cut) if self.ends else lists.silent_below(self.cut)
        one = self.members()[0][1]  # of a population: all gain from the same documents
        return lists.gains(one.declaration.gain.make(one.values))

    @property
    def _first(self) -> Any:
        """The user at rank 1 with nothing seen yet, whether or not grades matter further down."""
        if self.is_population:
            return self.members()[0][1]._first
        one, none = np.ones(1), np.zeros(1)
        points = {"rank": one, "gain": none, "seen": none, "cost": 1.0, "spent": one, "relevant": np.float64(1.0)}
        d = self.declaration
        return d.function(
            **{name: points[name] for name in d.seen}, **{key: self.values[key] for key in self.own_keys()}
        )

    @property
    def ends(self) -> bool:
        """Whether the user looks no further than the end of the list."""
        return self.declaration.question == "markov" or bool(self._first.ends)

    @property
    def deepest(self) -> int | None:
        """The rank below which nothing is gained; None if there is none."""
        if self.cut is not None or not self.declaration.is_user or self.declaration.question == "markov":
            return self.cut
        return getattr(self._first, "depth", None)

    def _scores(self, lists: Lists) -> Array:
        if self.is_population:
            return np.asarray(sum(w * one._scores(lists) for w, one in self.members()))
        d = self.declaration
        gains = self.gains_of(lists)
        costs = gains.lists.costs
        arguments = {key: self.values[key] for key in self.own_keys()}
        walk = self.walk_user(arguments)
        if walk is not None:
            return walking.score_walk(walk, str(d.question), gains)
        if gains.lists.ties is not None:
            return self._expected(gains, arguments)
        if d.question is None:
            return np.asarray(d.function(gains, **arguments), np.float64)
        if d.question == "markov":
            return markov_scores.score_markov(self, gains)
        if d.question in _WALKED:
            weights = static.static_user(d.function, d.seen, arguments, costs)
            if weights is not None:
                return static.score_static(weights, d.question, gains, d.norm)
        function, names = self._function(arguments)
        if d.stops == "gain" and (costs is None or d.question in ("order1", "satisfied")):
            return sparse.score_sparse(function, names, d.question, gains)
        if d.stops == "piecewise" and d.question in _WALKED and costs is None:
            return sparse.score_piecewise(function, names, d.question, gains)
        return dense.score_dense(function, names, d.question, gains, d.norm)

    def walk_user(self, arguments: dict[str, Any] | None = None) -> Walk | None:
        """The user, if it is a walk back and forth; else None."""
        d = self.declaration
        if d.seen or d.question is None:
            return None
        user = d.function(**({key: self.values[key] for key in self.own_keys()} if arguments is None else arguments))
        if not isinstance(user, Walk):
            return None
        if d.norm is not None or d.question == "satisfied":
            raise MeasureError(f"{self.name}: a walk has no norm, and the question order1, order2 or total")
        return user

    def own_keys(self) -> Iterable[str]:
        """The parameters that the function itself takes."""
        code = self.declaration.function.__code__
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return [name for name in names if name in self.values and name not in self.declaration.seen]

    def _function(self, arguments: dict[str, Any]) -> tuple[Callable[..., Forward], tuple[str, ...]]:
        """The user as a function of what is seen at a rank, and the names of its arguments."""
        d = self.declaration
        if d.seen:
            return (lambda **seen: d.function(**seen, **arguments)), d.seen
        user: Forward = d.function(**arguments)

        if user.kind == "continuation" and np.ndim(user.rule) == 0 and user.depth is None:
            return (lambda: user), ()

        def fixed(rank: Array) -> Forward:
            c = user.over(int(rank[-1]) + 1).continuation  # one more, so that the last of these is not an end
            return Forward(continuation=c[rank.astype(np.int64) - 1], depth=user.depth, beyond=user.beyond)

        return fixed, ("rank",)

    def _expected(self, gains: Gains, arguments: dict[str, Any]) -> Array:
        """The mean over all orders of the tied."""
        d = self.declaration
        if d.question in ("order2", "total"):
            weights = static.static_user(d.function, d.seen, arguments, gains.lists.costs)
            if weights is not None:
                return static.score_static(weights, d.question, gains, d.norm)
        if d.tied is not None:
            return d.tied(gains, **arguments)
        raise MeasureError(
            f"{self}: no closed form for ties='expected'; use ties='docno' (P, R, AP, RR, nDCG and every user who "
            f"does not look at the grades have one)"
        )

    # ---- one list

    def gains_of_grades(self, grades: ArrayLike, **context: Any) -> Gains:
        """The gains of one list, down to the measure's rank k; the context is that of `value`."""
        known = ["relevant", "ideal", "max_grade"] + ["most"] * (self.declaration.question == "markov")
        unknown = set(context) - set(known)
        if unknown:
            raise MeasureError(f"{self}: unknown context {', '.join(sorted(unknown))}; expected {', '.join(known)}")
        rel = self.values.get("rel", 1)
        rel = 1.0 if isinstance(rel, Population) else float(rel)
        if self.declaration.gain is scaled and self.values["max_grade"] is None and context.get("max_grade") is None:
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
        score = float(self.scores(self.gains_of_grades(grades, **context).lists)[0])
        if not np.isfinite(score):
            raise MeasureError(f"{self}: the score is {score}, not a finite number")
        return score

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

        return residual_interval(self, grades, **context)

    def user(self, grades: ArrayLike = (), **context: Any) -> Behaviour | WalkOnList:
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
        with self.wrap_errors():
            if self.declaration.question == "markov":
                return markov_scores.markov_user_on(self, self.gains_of_grades(grades, **context), 0)
            walk = None if self.is_population else self.walk_user()
            if walk is not None:
                return walking.walk_on(walk, self.gains_of_grades(grades, **context).lists, 0)
            return self.behaviour(self.gains_of_grades(grades, **context), 0)[0]

    def behaviour(self, gains: Gains, i: int) -> tuple[Behaviour, Array]:
        """The behaviour of a user who walks down list i of `gains_of`, and the gain at each rank."""
        d = self.declaration
        if d.question is None:
            raise MeasureError(f"{self.name} is not a user: it is computed from the whole list at once")
        if self.is_population:
            raise MeasureError(f"{self} is a population, not one user; expected one user, or use its distribution")
        if d.question == "markov":
            raise MeasureError(f"{self.name}'s user stops at no rank, so there is no probability of going on")
        arguments = {key: self.values[key] for key in self.own_keys()}
        if d.seen:
            function, names = self._function(arguments)
            return dense.behaviour_on(function, names, gains, i)
        user: Forward = d.function(**arguments)
        behaviour = user.over(int(gains.lists.length[i]))
        gain = np.zeros(behaviour.visits.size)
        hits = slice(int(gains.offsets[i]), int(gains.offsets[i + 1]))
        gain[gains.position[hits] - 1] = gains.gain[hits]
        return behaviour, gain

    def scale(self, gains: Gains, i: int) -> float:
        """The number that the score of list i is divided by."""
        norm = self.declaration.norm
        if norm is None:
            return 1.0
        return float(gains.relevant[i]) if norm == "relevant" else self._ideal(gains, i)

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
        from amble.users.simulation import (  # scores do without its engine
            ScoreCounts,
            check_users,
            simulated_distribution,
            simulated_steps,
        )

        check_users(users, seed, 1)
        gains = self.gains_of_grades(grades, **context)
        try:
            return self.distribution_on(gains, 0)
        except NoExactDistributionError as why:
            warnings.warn(f"{self}: {why}; {users:,} users simulated instead", SimulationWarning, stacklevel=2)
        distributions: list[Distribution] = []
        weights = []
        for w, one in self.members():
            walk = one.walk_user()
            seen = one.gains_of(gains.lists)
            if one.declaration.question == "markov":
                user = markov_scores.markov_user_on(one, seen, 0)
                distributions.append(
                    simulated_steps(user, ScoreCounts(), users=users, seed=seed).distribution(users, seed)
                )
            elif walk is None:
                distributions.append(one.distribution_on(seen, 0))
            else:
                on_list, y = walking.walk_on(walk, seen.lists, 0), walking.gains_on(seen, 0)
                with self.wrap_errors():
                    distributions.append(simulated_distribution(on_list, y, users=users, seed=seed))
            weights.append(w)
        return distributions[0] if len(distributions) == 1 else Distribution.mixture(distributions, weights)

    def distribution_on(self, gains: Gains, i: int) -> Distribution:
        """The exact distribution of the score of list i of `gains_of`; NoExactDistributionError where there is none."""
        with self.wrap_errors():
            return self._distribution_on(gains, i)

    def _distribution_on(self, gains: Gains, i: int) -> Distribution:
        if self.is_population:
            members = self.members()
            distributions = [
                one.distribution_on(one.gains_of(gains.lists), i) for _, one in members
            ]  # each may see other gains
            return Distribution.mixture(distributions, [w for w, _ in members])
        if self.declaration.question == "markov":
            return markov_scores.markov_user_on(self, gains, i).distribution
        walk = self.walk_user()
        if walk is not None:
            return walking.walk_on(walk, gains.lists, i).distribution(walking.gains_on(gains, i))
        behaviour, gain = self.behaviour(gains, i)
        return distribution_of_stops(behaviour, gain, str(self.declaration.question), self.scale(gains, i))

    def _ideal(self, gains: Gains, i: int) -> float:
        gain, starts = gains.ideal
        topic = int(gains.lists.topic[i])
        gain = gain[starts[topic] : starts[topic + 1]][: self.cut]
        arguments = {key: self.values[key] for key in self.own_keys()}
        visits = self.declaration.function(**arguments).over(max(gain.size, 1)).visits[: gain.size]
        return float(visits @ gain)


def plain_parameters(measure: Measure) -> dict[str, str | int | float | None]:
    """The parameters of a measure as JSON has them: strings, numbers and None, other values as text."""
    return {
        key: value if isinstance(value, str | int | float | None) else str(value)
        for key, value in measure.values.items()
    }
