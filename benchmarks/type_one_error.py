"""How often each test finds a difference where there is none: its rate of errors of the first kind, by simulation.

Two systems are exchangeable: on every topic their scores are drawn from one distribution, which differs from topic to
topic. So every difference that a test finds is false, and at the level .05 it should find one in about 5 of 100
collections, or less. A few distributions of scores: normal; bounded (a logistic normal); skewed, with many scores near
0, as AP has them; graded, with many ties and zeros, as P@10 has them; and with heavy tails. A sixth is not
exchangeable: the mean difference is 0, but on most topics the first system is a little better, and on a few much worse.
Tests of the mean should keep their level there, too, if there are enough topics; the sign test and Wilcoxon's ask
another question, and find its answer.

Then ten exchangeable systems: how often a significant difference is found in any of the 45 pairs, by tests
of all at once and by corrections.

A rate is marked where it is below (-) or above (+) the 99 % bounds of a binomial with the level as its probability.
Tests with few possible p-values cannot be at the level, only below it.

Run ``python benchmarks/type_one_error.py [--collections N] [--families N] [--rounds N] [--seed S]``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from scipy.special import bdtr

import amble
from amble.comparison import paired_tests as paired
from amble.comparison import resampling
from amble.comparison.systems import Differences

ALPHA = 0.05
TOPICS = (10, 25, 50)
Drawer = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def normal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Normal scores around a topic's own mean."""
    return rng.normal(0.3, 0.2, (*shape[:-2], 1, shape[-1])) + rng.normal(0, 0.1, shape)


def bounded(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Scores between 0 and 1: the logistic function of normal ones."""
    return 1 / (1 + np.exp(-rng.normal(-1, 1.5, (*shape[:-2], 1, shape[-1])) - rng.normal(0, 0.7, shape)))


def skewed(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Scores of beta distributions, most near 0."""
    mean = rng.beta(0.6, 2.4, (*shape[:-2], 1, shape[-1])) * 0.98 + 0.01
    return rng.beta(np.broadcast_to(4 * mean, shape), np.broadcast_to(4 * (1 - mean), shape))


def graded(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Tenths, with many ties."""
    probability = rng.beta(0.8, 1.5, (*shape[:-2], 1, shape[-1]))
    return rng.binomial(10, np.broadcast_to(probability, shape)) / 10


def heavy(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Student's t with two degrees of freedom, whose variance is infinite."""
    return rng.standard_t(2, shape)


def lopsided(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Not exchangeable: the first is a little better mostly, and much worse seldom; the mean difference is 0."""
    out = np.zeros(shape)
    out[..., 0, :] = 1.0 - rng.exponential(1.0, (*shape[:-2], shape[-1]))
    return out


DISTRIBUTIONS: dict[str, Drawer] = {f.__name__: f for f in (normal, bounded, skewed, graded, heavy, lopsided)}


def tests(d: Differences, rounds: int, seed: int) -> dict[str, np.ndarray]:
    """The p-values of all collections at once: each is a pair, as `amble.compare` has them."""
    return {
        "t": paired.t_test(d, "two")[1],
        "Wilcoxon": paired.wilcoxon_test(d, "two")[1],
        "sign": paired.sign_test(d, "two")[1],
        "permutation": resampling.permutation_test(d, "two", rounds, seed)[1],
        "bootstrap": resampling.bootstrap_test(d, "two", rounds, seed)[1],
    }


def marked(found: int, of: int) -> str:
    """A rate, and whether it is out of bounds."""
    if bdtr(found, of, ALPHA) < 0.005:
        sign = "-"
    elif found > 0 and 1 - bdtr(found - 1, of, ALPHA) < 0.005:
        sign = "+"
    else:
        sign = " "
    return f"{found / of:.3f}{sign}"


def pairs(collections: int, rounds: int, seed: int) -> None:
    """Two systems."""
    print(f"two systems, {collections:,} collections each, level {ALPHA}: rate of false differences")
    head = None
    for name, draw in DISTRIBUTIONS.items():
        for topics in TOPICS:
            rng = np.random.default_rng([seed, topics, list(DISTRIBUTIONS).index(name)])
            scores = draw(rng, (collections, 2, topics))
            unit = 2.0**-43 * float(np.abs(scores).max())
            values = np.rint((scores[:, 0] - scores[:, 1]) / unit) * unit
            d = Differences(values, np.ones(values.shape, bool), np.full(collections, topics), unit)
            found = {test: marked(int((p <= ALPHA).sum()), collections) for test, p in tests(d, rounds, seed).items()}
            if head is None:
                head = f"{'scores':10s} topics  " + "  ".join(f"{test:>11s}" for test in found)
                print(head)
            print(f"{name:10s} {topics:6d}  " + "  ".join(f"{rate:>11s}" for rate in found.values()), flush=True)


def families(collections: int, seed: int) -> None:
    """Ten systems."""
    print(
        f"\nten systems, {collections:,} collections each, level {ALPHA}: rate of any false difference among 45 pairs"
    )
    asked = {
        "t, none": ("t", "none"),
        "t, Bonferroni": ("t", "bonferroni"),
        "t, Holm": ("t", "holm"),
        "t, BH": ("t", "bh"),
        "Tukey, random": ("tukey", None),
        "Tukey, ANOVA": ("anova", None),
    }
    print(f"{'scores':10s} topics  " + "  ".join(f"{name:>13s}" for name in asked))
    for name in ("normal", "bounded", "skewed", "graded"):
        for topics in (25, 50):
            rng = np.random.default_rng([seed, topics, 100 + list(DISTRIBUTIONS).index(name)])
            wrong = dict.fromkeys(asked, 0)
            for k in range(collections):
                rows = DISTRIBUTIONS[name](rng, (10, topics))
                scores = {f"{i}": {f"{t:03d}": x for t, x in enumerate(row)} for i, row in enumerate(rows.tolist())}
                for how, (test, correction) in asked.items():
                    done = amble.compare(scores, test=test, correction=correction, rounds=1000, seed=seed + k)
                    wrong[how] += bool(done.significant.any())
            rates = (marked(found, collections) for found in wrong.values())
            print(f"{name:10s} {topics:6d}  " + "  ".join(f"{rate:>13s}" for rate in rates), flush=True)


def main() -> None:
    """Simulate, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--collections", type=int, default=10_000, help="of two systems (default: %(default)s)")
    parser.add_argument("--families", type=int, default=1000, help="collections of ten systems (default: %(default)s)")
    parser.add_argument(
        "--rounds", type=int, default=10_000, help="of permutations and bootstraps (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="same seed, same figures (default: %(default)s)")
    args = parser.parse_args()
    start = time.perf_counter()
    pairs(args.collections, args.rounds, args.seed)
    families(args.families, args.seed)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
