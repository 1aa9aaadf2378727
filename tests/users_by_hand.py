"""Users by hand: the formula of each, as transition probabilities between ranks, and random lists to try them on.

A user is what its formula says and nothing else; `amble.users.DenseUser` answers everything from it. A user who reads
on for ever has one state more, for all ranks below the list: the visits there are those of the tail, in closed form, so
that no tail is cut.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import markov_reference
import numpy as np
from drawing import SHARE
from numpy.typing import ArrayLike, NDArray
from scipy.special import polygamma

import amble
from amble.measures import ListMeasure, Lists
from amble.measures.list_measure import of_lists
from amble.rankings.costs import Costs
from amble.rankings.lists import Gains
from amble.users import DenseUser, Effort, Utility
from amble.users.chain_on_list import ChainOnList

Array = NDArray[np.float64]

LISTS = round(2000 * SHARE) if SHARE >= 1 else 60
MOST = 3.0  # the largest grade
nan = math.nan


def part(share: int) -> int:
    """How many lists are scored where that takes long: 1 / share of them, but all with ``AMBLE_EXAMPLES=all``."""
    return LISTS if SHARE >= 1 else max(LISTS // share, 2)


# ---- lists


class Ranked(NamedTuple):
    """A list: the grades by rank, NaN where unjudged, and the grades of documents that it does not hold."""

    grades: Array
    rest: Array


def ranked(grades: ArrayLike, rest: ArrayLike = ()) -> Ranked:
    return Ranked(np.array(grades, np.float64), np.array(rest, np.float64))


@cache
def drawn(count: int = LISTS, longest: int = 9, seed: int = 0) -> tuple[Ranked, ...]:
    """Random lists, of 1 to so many documents, each of a topic of its own."""
    rng = np.random.default_rng([seed, longest])
    grades, out = np.array([nan, -1.0, 0.0, 1.0, 2.0, 3.0]), []
    for _ in range(count):
        odds = rng.dirichlet([1.0, 0.2, 2.0, 1.0, 0.7, 0.5])
        out.append(
            ranked(rng.choice(grades, rng.integers(1, longest + 1), p=odds), rng.choice(grades[1:], rng.integers(4)))
        )
    return tuple(out)


def together(topics: Sequence[Ranked]) -> Lists:
    """All of them as they stand in the judgments of their topics."""
    judged = [np.flatnonzero(~np.isnan(one.grades)) for one in topics]
    tables = [np.concatenate((one.grades[at], one.rest)) for one, at in zip(topics, judged, strict=True)]
    rows = np.concatenate(([0], np.cumsum([table.size for table in tables])))
    return Lists(
        grades=np.concatenate(tables),
        rows=rows,
        topic=np.arange(len(topics)),
        length=np.array([one.grades.size for one in topics]),
        offsets=np.concatenate(([0], np.cumsum([at.size for at in judged]))),
        position=np.concatenate(judged) + 1,
        row=np.concatenate([start + np.arange(at.size) for start, at in zip(rows, judged, strict=False)]),
        max_grade=MOST,
    )


def binary(grades: Array, rel: float = 1) -> Array:
    return np.where(grades >= rel, 1.0, 0.0)


def linear(grades: Array) -> Array:
    return np.where(grades > 0, grades, 0.0)


def scaled(grades: Array) -> Array:
    return linear(grades) / MOST


def exponential(grades: Array) -> Array:
    return np.where(grades > 0, 2.0**grades - 1.0, 0.0)


def by_table(grades: Array) -> Array:
    return np.select([grades == 1, grades == 2, grades == 3], [1.0, 5.0, 4.0], 0.0)


def satisfying(grades: Array) -> Array:
    return np.asarray(exponential(grades) / 2.0**MOST)


# ---- users who walk down: C by rank


class Seen(NamedTuple):
    """What a user may look at: gains and costs by rank, and how many documents of the topic gain something."""

    y: Array
    relevant: float
    cost: Array
    available: float = 0.0  # the gain of all judged documents of the topic

    def down_to(self, k: int) -> Seen:
        """The same, with k ranks at least."""
        if k <= self.y.size:
            return self
        more = k - self.y.size
        return self._replace(y=np.append(self.y, np.zeros(more)), cost=np.append(self.cost, np.ones(more)))

    @property
    def i(self) -> Array:
        """The ranks."""
        return np.arange(1.0, self.y.size + 1)

    @property
    def total(self) -> Array:
        """The gain so far."""
        return np.cumsum(self.y)


class Down(NamedTuple):
    """C by rank, and what those do who go on after the last of these ranks: ``stop`` there, leave with ``nothing``, or
    visit ranks below, as one state that is visited again with that probability."""

    c: Array
    end: str | float = "stop"


class Remembered(DenseUser):
    """A user whose chains on the lists last asked about are kept: one solution for all questions."""

    _gains: Gains | None = None

    def on(self, gains: Gains, i: int) -> ChainOnList:
        if self._gains is not gains:
            self._gains, self._chains = gains, dict[int, ChainOnList]()
        if i not in self._chains:
            self._chains[i] = super().on(gains, i)
        return self._chains[i]


class Forward(Remembered):
    """A user who walks down, by C."""

    def __init__(self, rule: Callable[[Seen], Down], more: int = 0) -> None:
        self.rule, self.more = rule, more

    def _down(self, gains: Gains, i: int) -> Down:
        y = gains.by_rank(i)
        cost = np.ones(y.size)
        if gains.lists.costs is not None:
            cost[:] = gains.lists.costs.stretch(np.array([i]), 0, y.size)[0]
        t = int(gains.lists.topic[i])
        available = float(gains.by_row[gains.lists.rows[t] : gains.lists.rows[t + 1]].sum())
        return self.rule(Seen(y, float(gains.relevant[i]), cost, available).down_to(y.size + self.more))

    def transitions(self, gains: Gains, i: int) -> tuple[Array, Array]:
        c, end = self._down(gains, i)
        if isinstance(end, str):
            return np.diag(c[:-1], 1), np.eye(c.size)[0]
        p = np.diag(c, 1)
        p[-1, -1] = end
        return p, np.eye(c.size + 1)[0]

    def leaving(self, gains: Gains, i: int) -> Array | None:
        c, end = self._down(gains, i)
        return np.append(np.zeros(c.size - 1), c[-1]) if end == "nothing" else None


def by_visits(v: Array, end: str | float = "stop") -> Down:
    """C by the probabilities of reaching ranks 1, 2, ...; of one rank more than there is."""
    return Down(np.divide(v[1:], v[:-1], out=np.zeros(v.size - 1), where=v[:-1] > 0), end)


def by_last(last: Array) -> Down:
    """C by the probabilities that a rank is the last; those for whom none is leave with nothing."""
    return by_visits(1.0 - np.concatenate(([0.0], np.cumsum(last))).round(15), "nothing")


def squares(x: Any) -> Any:
    """(x / (x + 1))^2; 0 where x is not above 0."""
    return np.where(x > 0, (x / (x + 1.0)) ** 2, 0.0)


def inverse_squares(i: Array, shift: Any, survival: Any = 1.0) -> Down:
    """C(i) = ((i + s) / (i + s + 1))^2, and below the last rank n for ever so: after a first visit with x = n + 1 + s
    there are x^2 / x^2 + x^2 / (x + 1)^2 + ... = x^2 psi'(x) of them."""
    x = float(i[-1] + 1.0 + np.broadcast_to(shift, i.shape)[-1])
    return Down(squares(i + shift) * survival, 1.0 - 1.0 / float(x * x * polygamma(1, x)))


def p_at(k: int | None) -> Callable[[Seen], Down]:
    def rule(look: Seen) -> Down:
        look = look.down_to(k or 1)
        return Down(np.where(look.i < (k or look.i.size), 1.0, 0.0))

    return rule


def dcg(base: float | None = None, k: int | None = None) -> Callable[[Seen], Down]:
    def rule(look: Seen) -> Down:
        i = np.arange(1.0, look.down_to(k or 1).i.size + 2)
        v = 1.0 / np.log2(i + 1.0) if base is None else 1.0 / np.maximum(1.0, np.log(i) / np.log(base))
        return by_visits(np.where(i <= (k or i.size - 1), v, 0.0))

    return rule


def rbp(p: float, finite: bool = False) -> Callable[[Seen], Down]:
    return lambda look: Down(np.full(look.y.size, p), "stop" if finite else p)


def ap(look: Seen) -> Down:
    return by_last(look.y / max(look.relevant, 1.0))


def graded_ap(look: Seen) -> Down:
    return by_last(look.y / max(look.available, 1e-300))


def ncp(weights: Callable[[int], float]) -> Callable[[Seen], Down]:
    """The k-th relevant document satisfies in proportion to weights(k)."""

    def rule(look: Seen) -> Down:
        every = sum(weights(k) for k in range(1, int(look.relevant) + 1))
        last = [weights(int(k)) / every if y else 0.0 for k, y in zip(look.total, look.y, strict=True)]
        return by_last(np.array(last))

    return rule


def by_rank(*c: float) -> Callable[[Seen], Down]:
    def rule(look: Seen) -> Down:
        n = max(look.y.size, len(c))
        return Down(np.array([*c, *[c[-1]] * n][:n]), c[-1])

    return rule


def inst(t: float) -> Callable[[Seen], Down]:
    # C(i) = ((i + T + T_i - 1) / (i + T + T_i))^2, T_i = T - gain so far
    return lambda look: inverse_squares(look.i, t + (t - look.total) - 1.0)


def insq(t: float) -> Callable[[Seen], Down]:
    return lambda look: inverse_squares(look.i, 2.0 * t - 1.0)


def adaptive(t: float, printed: bool) -> Callable[[Seen], Down]:
    # T_i = max(0, T - gain so far); the paper's figures are of ((i + 2 T_i) / (i + 2 T_i + 1))^2
    return lambda look: inverse_squares(look.i, 2.0 * np.maximum(0.0, t - look.total) - (1.0 if printed else 0.0))


def bpm(t: float, k: int) -> Callable[[Seen], Down]:
    def rule(look: Seen) -> Down:
        look = look.down_to(k)
        return Down(np.where((look.total < t - 1e-9) & (look.i < k), 1.0, 0.0))

    return rule


def bpmd(t: float, k: float, hb: float, hc: float, median: float) -> Callable[[Seen], Down]:
    def rule(look: Seen) -> Down:
        out, hope, patience, total = [], t, k, 0.0
        for i, y in enumerate(look.y.tolist(), 1):
            total += y
            out.append(0.0 if total >= hope - 1e-9 or i >= patience - 1e-9 else 1.0)
            hope, patience = hope + hb * (y - median), patience + hc * (y - median)
        return Down(np.array(out))

    return rule


def goal(look: Seen, t: float, b: float, r: float) -> Array:
    return 1.0 - 1.0 / (1.0 + b * np.exp((t - look.total) * r))


def rate(look: Seen, a: float, b: float, r: float) -> Array:
    return 1.0 / (1.0 + b * np.exp((a - look.total / np.cumsum(look.cost)) * r))


def tbg(h: float) -> Callable[[Seen], Down]:
    # V(i) = 2^(-cost before i / h); below the list every document costs 1
    return lambda look: Down(2.0 ** (-look.cost / h), 2.0 ** (-1.0 / h))


def u(length: float) -> Callable[[Seen], Down]:
    def rule(look: Seen) -> Down:
        look = look.down_to(look.y.size + math.ceil(length))
        return by_visits(np.maximum(0.0, 1.0 - np.concatenate(([0.0], np.cumsum(look.cost))) / length))

    return rule


def nerr(k: int, patience: Callable[[Array], Array]) -> Callable[[Seen], Down]:
    def rule(look: Seen) -> Down:
        look = look.down_to(k)
        return Down(np.where(look.i < k, patience(look.i) * (1.0 - look.y), 0.0))

    return rule


@cache
def parsed(expression: str) -> ListMeasure:
    return of_lists(amble.parse(expression))


@cache
def first_drawn(count: int) -> tuple[Ranked, ...]:
    return drawn()[:count]


@cache
def by_hand(case: Case, more: int) -> Forward:
    out = Forward(case.rule, more)
    out.effort = Effort(case.effort)
    return out


@cache
def gains_of_topics(case: Case) -> Gains:
    return case.measure.gains_of(together(case.topics))


class Case(NamedTuple):
    """A measure, its gains by grade, and its user by hand."""

    expression: str
    gain: Callable[[Array], Array]
    rule: Callable[[Seen], Down]
    more: int = 0  # ranks below the list, where no closed form says what happens there
    effort: str = "h"

    @property
    def measure(self) -> ListMeasure:
        return parsed(self.expression)

    @property
    def cut(self) -> int | None:
        return self.measure.cut

    @property
    def heavy(self) -> bool:
        """Whether V falls as 1 / i^2; then one state has the visits of the tail, but not its distribution of H."""
        return self.expression.startswith(("INSQ", "INST", "NERR11"))

    @property
    def topics(self) -> tuple[Ranked, ...]:
        """The lists to be tried: fewer where many ranks are spelled out."""
        return first_drawn(LISTS if self.more < 20 else part(6))

    def user(self, more: int = 0) -> Forward:
        return by_hand(self, self.more + (more if not self.measure.ends else 0))

    def gains(self, topics: Sequence[Ranked]) -> Gains:
        """The gains that the measure's user sees."""
        if topics is self.topics:
            return gains_of_topics(self)
        return self.measure.gains_of(together(topics))

    def gains_at_cost(self, one: Ranked, costs: dict[float, float]) -> Gains:
        lists = together([one])
        lists.costs = Costs.by_grade(lists, costs)
        return self.measure.gains_of(lists)

    def relevant(self, one: Ranked) -> float:
        return float(sum((self.gain(part) > 0).sum() for part in one))

    def ideal(self, one: Ranked) -> Ranked:
        """The best list of a topic."""
        every = np.concatenate((one.grades[~np.isnan(one.grades)], one.rest))
        every = every[self.gain(every) > 0]
        return ranked(sorted(every, key=lambda grade: -float(self.gain(np.array(grade))))[: self.cut])

    def scores(self, topics: Sequence[Ranked]) -> Array:
        """The scores of the user by hand: the measure's question, over what its declaration says."""
        m = self.measure
        found = self.user().scores(m.question, self.gains(topics))
        if m.declaration.norm is None:
            return found
        if m.declaration.norm == "relevant":
            by = np.array([self.relevant(one) for one in topics])
        else:
            by = self.user().scores(m.question, self.gains([self.ideal(one) for one in topics]))
        return np.asarray(np.divide(found, by, out=np.zeros(found.size), where=by > 0))


def rr(look: Seen) -> Down:
    return Down(np.where(look.y > 0, 0.0, 1.0), "nothing")


def err(look: Seen) -> Down:
    return Down(1.0 - look.y, "nothing")


CASES = [
    Case("P", binary, p_at(None)),
    Case("P@5", binary, p_at(5)),
    Case("P(rel=2)@20", lambda g: binary(g, 2), p_at(20)),
    Case("R@4", binary, p_at(4)),
    Case("R", binary, p_at(None)),
    Case("AP", binary, ap),
    Case("AP(rel=2)", lambda g: binary(g, 2), ap),
    Case("AP@3", binary, ap),
    Case("GMAP", binary, ap),
    Case("RR", binary, rr),
    Case("RR@3", binary, rr),
    Case("DCG", linear, dcg()),
    Case("DCG(gains='exp')", exponential, dcg()),
    Case("DCG(base=2)@5", linear, dcg(2.0)),
    Case("nDCG", linear, dcg()),
    Case("nDCG@5", linear, dcg()),
    Case("nDCG(base=3,gains='1=1,2=5,3=4')", by_table, dcg(3.0)),
    Case("ERR", satisfying, err),
    Case("ERR@3", satisfying, err),
    Case("RBP(p=0.5)", binary, rbp(0.5)),
    Case("RBP@3", binary, rbp(0.8)),
    Case("RBP(p=0.6,finite=True)", binary, rbp(0.6, True)),
    Case("RBP(p=0.6,finite=True)@4", binary, rbp(0.6, True)),
    Case("GRBP(p=0.7)", scaled, rbp(0.7)),
    Case("SDCG@6", scaled, dcg(k=6)),
    Case("INSQ(T=1)", scaled, insq(1.0)),
    Case("INSQ(T=2.3)@4", scaled, insq(2.3)),
    Case("INSQ(T=1.5,adaptive=True)", scaled, adaptive(1.5, False)),
    Case("INSQ(T=0.8,adaptive=True,form='printed')", scaled, adaptive(0.8, True)),
    Case("INSQ(T=1,adaptive=True)@3", scaled, adaptive(1.0, False)),
    Case("INST(T=1)", scaled, inst(1.0)),
    Case("INST(T=0.5)", scaled, inst(0.5)),
    Case("INST(T=2.25)@4", scaled, inst(2.25)),
    Case("CWL(C='0.9,0.3,1,0.6')", scaled, by_rank(0.9, 0.3, 1.0, 0.6)),
    Case("CWL(C='0.5,0')", scaled, by_rank(0.5, 0.0)),
    Case("CWL(H='0.1,0.7,0.4')", scaled, by_rank(0.9, 0.3, 0.6)),
    Case("CWL(V='0.7**i')", scaled, by_rank(0.7)),
    Case("CWL(C='0.6+0*i',order=1)@4", scaled, by_rank(0.6)),
    Case("CWL(W='4,3,1,1',finite=True)", scaled, lambda x: Down(np.append([0.75, 1 / 3, 1.0], 0 * x.i)[: x.i.size])),
    Case("RBAP(p=0.6)", binary, rbp(0.6)),
    Case("RBAP(p=0.6,gains='scaled')@3", scaled, rbp(0.6)),
    Case("AP(gains='scaled')", scaled, graded_ap),
    Case("P(gains='scaled')@6", scaled, p_at(6)),
    Case("CWL(C='0.9,0.7')@4", scaled, by_rank(0.9, 0.7)),
    Case("BPM(T=1)@6", scaled, bpm(1.0, 6)),
    Case("BPM(T=0.3)", scaled, bpm(0.3, 10)),
    Case("BPMD(T=1)@7", scaled, bpmd(1.0, 7, 1.0, 0.0, 0.5), 10),
    Case("BPMD(T=2,k=6,hb=0.4,hc=2,median=0.4)", scaled, bpmd(2.0, 6.0, 0.4, 2.0, 0.4), 30),
    Case("IFTGoal", scaled, lambda look: Down(goal(look, 2.0, 0.9, 10.0))),
    Case("IFTGoal(T=1,b=0.3,R=2)@5", scaled, lambda look: Down(goal(look, 1.0, 0.3, 2.0))),
    Case("IFTRate(A=0.5)", scaled, lambda look: Down(rate(look, 0.5, 0.9, 10.0)), 35),
    Case("IFTRate(A=0.3,b=2,R=5)@3", scaled, lambda look: Down(rate(look, 0.3, 2.0, 5.0)), 40),
    Case("IFT", scaled, lambda look: Down(goal(look, 2.0, 0.9, 10.0) * rate(look, 0.2, 0.9, 10.0)), 50),
    Case("TBG(h=4)", scaled, tbg(4.0)),
    Case("TBG(h=4)@5", scaled, tbg(4.0)),
    Case("U(L=6.5)", scaled, u(6.5)),
    Case("U(L=12)@3", scaled, u(12.0)),
    Case("NERR8@6", scaled, nerr(6, np.ones_like)),
    Case("NERR9@6", scaled, nerr(6, lambda i: i / (i + 1.0))),
    Case("NERR10(p=0.7)", scaled, lambda look: Down(0.7 * (1.0 - look.y), 0.7)),
    Case("NERR10(p=0.7)@3", scaled, lambda look: Down(0.7 * (1.0 - look.y), 0.7)),
    Case("NERR11(T=1.5)", scaled, lambda look: inverse_squares(look.i, 2.0, 1.0 - look.y)),
    Case("NCP", binary, ncp(lambda k: 1.0)),
    Case("NCP(g=0.6)@5", binary, ncp(lambda k: 0.6 ** (k - 1))),
    Case("NCP(g=0)", binary, ncp(lambda k: 1.0 if k == 1 else 0.0)),
    Case("NCP(distribution='3,1,2')", binary, ncp(lambda k: [3.0, 1.0, 2.0, 0.0][min(k, 4) - 1])),
    Case("PH(model='P',order=1)@6", binary, p_at(6)),
    Case("PH(model='AP')", binary, ap),
    Case("PH(model='AP',order=2)", binary, ap),
    Case("PH(model='AP',order=2)@4", binary, ap),
    Case("PH(model='RBP',p=0.5,order=1)", binary, rbp(0.5)),
    Case("PH(model='RBP',p=0.5,order=1,end='stop')", binary, rbp(0.5, True)),
    Case("PH(model='DCG')", linear, dcg(2.0), effort="1"),
    Case("PH(model='P',effort='h^2')@6", binary, p_at(6), effort="h^2"),
    Case("PH(model='AP',effort='h+2')", binary, ap, effort="h+2"),
    Case("PH(model='AP',effort='sqrt',order=2)", binary, ap, effort="sqrt"),
    Case("PH(model='RBP',p=0.5,effort='h^2')", binary, rbp(0.5), effort="h^2"),
    Case("PH(model='DCG',effort='h')", linear, dcg(2.0)),
    Case("PH(model='ERR',order=2)", satisfying, err),
    Case("PH(model='ERR',effort='log')", satisfying, err, effort="log"),
    Case("PH(model='ERR',effort='h^2',order=2,end='stop')", satisfying, lambda look: Down(1.0 - look.y), effort="h^2"),
    Case("PH(model='ERR')", satisfying, err),
    Case("PH(model='ERR',end='stop')", satisfying, lambda look: Down(1.0 - look.y)),
]


# ---- users who walk back and forth: p and q by rank


class Walk(Remembered):
    """A tridiagonal chain: forward p, back q; ``more`` ranks below the list, with which it is as good as endless."""

    def __init__(
        self,
        p: Callable[[int, float], float],
        q: Callable[[int, float], float],
        first: str = "forward",
        start: Sequence[float] = (1.0,),
        more: int = 0,
        utility: Utility | None = None,
        effort: str = "h",
    ) -> None:
        self.p, self.q, self.first, self.start, self.more = p, q, first, start, more
        self.utility, self.effort = utility or Utility(), Effort(effort)

    def transitions(self, gains: Gains, i: int) -> tuple[Array, Array]:
        grades = np.pad(gains.lists.grades_by_rank(i), (0, self.more))
        n = grades.size
        p, q = (np.array([rule(j, grade) for j, grade in enumerate(grades, 1)]) for rule in (self.p, self.q))
        if self.first == "forward":
            p[0] += q[0]
        start = np.array([*self.start, *[0.0] * n])
        start[n - 1] = start[n - 1 :].sum()  # who would start below the list start at its end
        return np.diag(p[:-1], 1) + np.diag(q[1:], -1), start[:n]


def always(x: float) -> Callable[[int, float], float]:
    return lambda rank, grade: x


def ranks(*x: float) -> Callable[[int, float], float]:
    return lambda rank, grade: x[min(rank, len(x)) - 1]


def grades(**x: float) -> Callable[[int, float], float]:
    """By grade: g0=.6, g2=.3; a grade that is not there has the probability of the next lower one, or of the least."""
    table = {float(name[1:]): value for name, value in x.items()}
    return lambda rank, grade: table[max((g for g in table if g <= grade), default=min(table))]


class Walking(NamedTuple):
    """PH, and its walk by hand."""

    expression: str
    walk: Walk

    @property
    def measure(self) -> ListMeasure:
        return parsed(self.expression)


HALF = (always(0.5), always(0.25))
ENDLESS = 70  # ranks; p = .5 and q = .25 get one rank further with .586, and .586^70 is 6e-17

WALKS = [
    Walking("PH", Walk(*HALF, utility=Utility(0.25))),
    Walking("PH(order=2)", Walk(*HALF, utility=Utility(0.25))),
    Walking("PH(loss=0)", Walk(*HALF)),
    Walking("PH(loss=0,order=2)@4", Walk(*HALF)),
    Walking("PH(loss=1)", Walk(*HALF, utility=Utility(1.0))),
    Walking("PH(loss=1,order=2)", Walk(*HALF, utility=Utility(1.0))),
    Walking("PH(utility='1,0.5,0.1')", Walk(*HALF, utility=Utility(visits=[1, 0.5, 0.1]))),
    Walking("PH(utility='0.7,0',order=2)", Walk(*HALF, utility=Utility(visits=[0.7, 0]))),
    Walking("PH(p=0.9,q=0)", Walk(always(0.9), always(0.0), utility=Utility(0.25))),
    Walking("PH(p=0.4,q=0.5,first='stop')", Walk(always(0.4), always(0.5), "stop", utility=Utility(0.25))),
    Walking("PH(p=0.7,q=0.3,loss=0)", Walk(always(0.7), always(0.3))),
    Walking("PH(first='stop',loss=0)@5", Walk(*HALF, "stop")),
    Walking("PH(p='0.9,0.5,0.6',q='0,0.4,0.1',loss=0)", Walk(ranks(0.9, 0.5, 0.6), ranks(0.0, 0.4, 0.1))),
    Walking(
        "PH(p='0=0.7,1=0.4,3=0.1',q='0=0.2,1=0.5',loss=0.5)",
        Walk(grades(g0=0.7, g1=0.4, g3=0.1), grades(g0=0.2, g1=0.5), utility=Utility(0.5)),
    ),
    Walking(
        "PH(p='0=0.7,2=0.2',q='0.1,0.3',order=2,first='stop')@5",
        Walk(grades(g0=0.7, g2=0.2), ranks(0.1, 0.3), "stop", utility=Utility(0.25)),
    ),
    Walking("PH(p='0=0.6,3=0.1',loss=0)", Walk(grades(g0=0.6, g3=0.1), always(0.25))),
    Walking("PH(start='0.5,0.2,0.3',loss=0)", Walk(*HALF, start=(0.5, 0.2, 0.3))),
    Walking("PH(start='0,0,1',first='stop')", Walk(*HALF, "stop", (0.0, 0.0, 1.0), utility=Utility(0.25))),
    Walking("PH(effort='h+1',loss=0)", Walk(*HALF, effort="h+1")),
    Walking("PH(effort='h+2.5',order=2)", Walk(*HALF, effort="h+2.5", utility=Utility(0.25))),
    Walking("PH(effort='h^2')", Walk(*HALF, effort="h^2", utility=Utility(0.25))),
    Walking("PH(effort='h^2',order=2)", Walk(*HALF, effort="h^2", utility=Utility(0.25))),
    Walking("PH(effort='sqrt',loss=0)", Walk(*HALF, effort="sqrt")),
    Walking("PH(effort='sqrt',order=2)", Walk(*HALF, effort="sqrt", utility=Utility(0.25))),
    Walking("PH(effort='log',loss=0)", Walk(*HALF, effort="log")),
    Walking("PH(effort='log',order=2)", Walk(*HALF, effort="log", utility=Utility(0.25))),
    Walking("PH(effort='1')", Walk(*HALF, effort="1", utility=Utility(0.25))),
    Walking("PH(end='endless')", Walk(*HALF, more=ENDLESS, utility=Utility(0.25))),
    Walking("PH(end='endless',order=2,loss=0)@4", Walk(*HALF, more=ENDLESS)),
    Walking("PH(p=0.4,end='endless',effort='log',loss=0)", Walk(always(0.4), always(0.25), more=45, effort="log")),
    Walking("PH(effort='log',loss=1)", Walk(*HALF, effort="log", utility=Utility(1.0))),
    Walking(
        "PH(p='0.9,0.3',q='0,0.1,0.4',end='endless',first='stop')",
        Walk(ranks(0.9, 0.3), ranks(0.0, 0.1, 0.4), "stop", more=50, utility=Utility(0.25)),
    ),
    Walking(
        "PH(p='0=0.3,1=0.6',q='0=0.4,1=0.1',end='endless',loss=0)",
        Walk(grades(g0=0.3, g1=0.6), grades(g0=0.4, g1=0.1), more=50),
    ),
]


# ---- users who never stop: cut at a rank, a chain is a cycle, and visits in a cycle are as those in the long run


class Chain(NamedTuple):
    """The transition probabilities between some ranks, and precision there: 0 where nothing is relevant."""

    ranks: list[int]
    p: Array
    precision: Array

    @property
    def visits(self) -> Array:
        """The visits until the chain comes back to the first of its ranks."""
        back = self.p.copy()
        back[:, 0] = 0.0
        return ChainOnList(back, np.eye(len(self.ranks))[0], None, Utility(), Effort()).visits


def chain_of(one: Ranked, model: str, loops: str = "NL", counts: str = "NA") -> Chain:
    """The chain of Ferrante, Ferro and Maistro (2014) on a list."""
    y = binary(np.nan_to_num(one.grades))
    connected, states, distance = model.split("_")
    ranks, p = markov_reference.transitions(y.tolist(), connected, states, loops, counts, distance)
    precision = np.cumsum(y) / np.arange(1.0, y.size + 1) * y
    return Chain(ranks, p, precision[np.array(ranks, int) - 1])
