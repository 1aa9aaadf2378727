"""The design of a significance test: its test, sides, correction, alpha, rounds and seed, each with its one default."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from amble import checks
from amble.errors import AmbleError

__all__ = ["AGREEMENT", "CONFIDENCE", "CORRECTIONS", "FAMILIES", "INTERVALS", "POWER", "SIDES", "TESTS", "TestDesign"]

# what people write: how it is called in a sentence
TESTS = {
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
    "permutation": "permutation test",
    "bootstrap": "bootstrap test",
    "tukey": "Tukey's HSD by randomisation",
    "anova": "Tukey's HSD after two-way ANOVA",
}
SIDES = {"two": "two-sided", "greater": "one-sided (greater)", "less": "one-sided (less)"}
CORRECTIONS = {  # of so many comparisons
    "none": "{} without correction",
    "bonferroni": "Bonferroni's correction of {}",
    "holm": "Holm's correction of {}",
    "bh": "Benjamini and Hochberg's correction of {}",
    "hochberg": "Hochberg's correction of {}",
    "hommel": "Hommel's correction of {}",
    "by": "Benjamini and Yekutieli's correction of {}",
}
INTERVALS = {"t": "by Student's t", "percentile": "by the bootstrap's percentiles", "bca": "by the bootstrap (BCa)"}
# the tests of all systems at once, and their own confidence intervals
FAMILIES = {"tukey": "simultaneous, by randomisation", "anova": "simultaneous, by the studentised range"}


@dataclass(frozen=True)
class TestDesign:
    """The design of a comparison: its test and the options of that; an error where they do not go together.

    Functions, commands, files of options and the page of a report take their defaults from here.

    Attributes
    ----------
    baseline : str, tuple of str, or None
        The run, or runs, that all others are compared with; None for all pairs.
    test, sides : str
    correction : str
        For the number of comparisons; if "" was given, Holm's, and "none" for the tests of all systems at once.
    alpha : float
    seed, rounds : int
    interval : str
        How confidence intervals are made; if "" was given, "bca" for the bootstrap test, "t" for others, and the test's
        own name for those of all systems at once.

    Examples
    --------
    >>> [TestDesign(test=test).correction for test in ("t", "tukey")]
    ['holm', 'none']
    >>> TestDesign(test="bootstrap", alpha=0.01).changed
    {'test': 'bootstrap', 'alpha': 0.01}
    """

    __test__: ClassVar[bool] = False  # pytest looks for classes with such a name

    baseline: str | Sequence[str] | None = None
    test: str = "t"
    sides: str = "two"
    correction: str = ""
    alpha: float = 0.05
    seed: int = 0
    rounds: int = 10_000
    interval: str = ""

    def __post_init__(self) -> None:
        family = checks.one_of(self.test, TESTS, "test") in FAMILIES
        checks.one_of(self.sides, SIDES, "sides")
        correction = checks.or_usual(self.correction, "none" if family else "holm")
        checks.one_of(correction, CORRECTIONS, "correction")
        interval = checks.or_usual(self.interval, self.test if family else "bca" if self.test == "bootstrap" else "t")
        if not (family and interval == self.test):
            checks.one_of(interval, INTERVALS, "interval")
        alpha = checks.share(self.alpha, "alpha")
        checks.seed(self.seed)
        checks.whole(self.rounds, "rounds")
        if family and self.sides != "two":
            raise AmbleError(f"test={self.test!r} has two sides, found sides={self.sides!r}")
        if family and correction != "none":
            raise AmbleError(f"test={self.test!r} is about all runs at once: no correction={correction!r} on top of it")
        if family and interval != self.test:
            raise AmbleError(f"test={self.test!r} has intervals of its own, found interval={interval!r}")
        several = isinstance(self.baseline, list | tuple) and all(isinstance(name, str) for name in self.baseline)
        if not (self.baseline is None or isinstance(self.baseline, str) or (several and self.baseline)):
            raise AmbleError(f"baseline={self.baseline!r:.60}, expected the name of a run, or a list of names")
        named = self.baselines
        baseline = named if len(named) > 1 else named[0] if named else None
        given = {"baseline": baseline, "correction": correction, "interval": interval, "alpha": alpha}
        for name, value in given.items():
            object.__setattr__(self, name, value)

    @property
    def random(self) -> bool:
        """Whether anything is drawn at random, by seed and rounds."""
        return self.test in ("permutation", "bootstrap", "tukey") or self.interval in ("percentile", "bca")

    @property
    def baselines(self) -> tuple[str, ...]:
        """The baselines, each once; none for all pairs."""
        if self.baseline is None or isinstance(self.baseline, str):
            return () if self.baseline is None else (self.baseline,)
        return tuple(dict.fromkeys(self.baseline))

    @property
    def one_baseline(self) -> str | None:
        """The baseline, if there is one; an error where there are several."""
        if len(self.baselines) > 1:
            raise AmbleError(f"{len(self.baselines)} baselines, expected one: several go with compare")
        return self.baselines[0] if self.baselines else None

    @property
    def changed(self) -> dict[str, Any]:
        """The options that differ from the default; correction and interval, from the default of the test."""
        usual = vars(TestDesign(test=self.test)) | {"test": TestDesign.test}
        return {name: value for name, value in vars(self).items() if value != usual[name]}


# of meta-evaluation: all pairs of systems are tested with many measures, which takes time
AGREEMENT = TestDesign(rounds=1000)
POWER = TestDesign(test="bootstrap", rounds=1000)

CONFIDENCE = 1 - TestDesign.alpha  # of confidence intervals beside no test
