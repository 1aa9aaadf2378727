"""What `saved_values` saves, part by part; everything is seeded.

Names of amble that a restructuring may change stand in the first block below, and nowhere else in the two scripts.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import lzma
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import amble
import amble.judging
import amble.logs
import amble.measures
import amble.metaevaluation
from amble.cli.demo_collection import make_collection
from amble.evaluation.standardisation import standardised
from amble.fusion import METHODS, NORMS
from amble.measures.residuals import list_residuals

if TYPE_CHECKING:
    from saved_values import Saved

Array = NDArray[np.float64]
Given = dict[str, Any]

# ---- names that may change: of tests, corrections and scorers, in keys, of functions

TESTS = ("t", "wilcoxon", "sign", "permutation", "bootstrap", "tukey", "anova")
CORRECTIONS = ("none", "bonferroni", "holm", "bh", "hochberg", "hommel", "by")
SCORERS = ("jaccard", "logtf", "tfidf", "cosine", "bm25", "lm")
# in keys, the older word becomes the newer
SAME = {"law": "distribution", "laws": "distributions", "draws": "by_round", "level": "confidence", "parts": "values"}
SAME |= {"moves": "transitions", "repeats": "rounds", "trials": "rounds", "question": "design", "tells": "predicts"}
run_distributions = amble.run_distributions
lists_of = amble.measures.Lists.of_rankings
sessions_of = amble.Sessions.of_array


def distribution(measure: Any, grades: Any, **options: Any) -> Any:
    """The distribution of a measure's score over users."""
    return measure.distribution(grades, **options)


def mixture(distributions: list[Any]) -> Any:
    """The distribution of a user who is drawn from several."""
    return amble.Distribution.mixture(distributions)


def stable(key: str) -> str:
    """A key in newer words."""
    return re.sub("[A-Za-z]+", lambda word: SAME.get(word[0], word[0]), key)


def kind(name: str) -> str:
    """Whether a registered measure is one of ``sessions``, a ``user`` of lists, or a ``number``."""
    declaration = amble.measures.REGISTRY[name]
    return "sessions" if declaration.of_sessions else "user" if declaration.is_user else "number"


def parameters(name: str) -> dict[str, tuple[tuple[Any, ...], bool]]:
    """Of each parameter of a registered measure, the words it may be, and whether it must be one of them."""
    domains = {key: found.domain for key, found in amble.measures.REGISTRY[name].parameters.items()}
    inner = {key: getattr(domain, "domain", domain) for key, domain in domains.items()}
    return {key: (getattr(inner[key], "words", ()), inner[key] is domain) for key, domain in domains.items()}


# ---- measures with parameters

VALUES = [
    "0", "0.05", "0.3", "0.5", "0.9", "0.99", "1", "1.5", "2", "3", "10", "100", "True", "False", "'linear'",
    "'exp'", "'1=3,2=9'", "'0.9,0.5,0.7'", "'2,-0.5,-1,0.25'", "'0=0.6,1=0.3'", "'h+1'", "'h^2'", "'sqrt'", "'log'",
    "'1'", "'nDCG@10'", "'ERR@5'", "'AP'", "'fit.toml'", "'fit.toml#walk-rank'", "'fit.toml#walk-grade'",
]  # fmt: skip
ONLY = {"max_grade": ["4", "5.5", "100"]}  # values of parameters for which most others are refused
POPULATIONS = ("Beta(8,2)", "Uniform(1.2,3)", "Gamma(2,1)")
CUTS = ("1", "10", "100", "0.1")
ALWAYS = {"esM": {"of": "'nDCG@10'", "users": "50"}, "PerQuery": {"of": "'nDCG@10'"}}
DRAWN = {"PH": 150, "MP": 40, "MsM": 40}  # parameter sets drawn at random; of others 12
BY_HAND = [
    "MsM(p=0.5,q=0.2,r=0.2,s=0.1)", "MsM(p=0.9,q=0,r=0.05,s=0.05)", "MsM(p=0.1,q=0,r=0.5,s=0.4)@3",
    "PH(p=0.9,q=0.05,loss=0)", "PH(p='0.9,0.7,0.5',q='0.05,0.2',loss=1)", "PH(p=0.6,q=0.4,end='stop')",
    "PH(p=Uniform(0.1,0.7))", "PH(q=Uniform(0,0.4),loss=0)@10", "PH(model='P',order=1)@10",
    "PH(model='AP',order=2)", "PH(model='RBP',p=0.7,order=1)", "PH(model='RBP',p=0.7,end='stop')",
    "PH(model='DCG',base=3)@10", "PH(model='DCG',gains='exp')", "PH(model='ERR',end='stop')", "PH(model='ERR')@10",
    "PH(order=2,per='endless')@10", "RBP(p=Uniform(0.2,0.9))", "RBP(p=Beta(2,2),finite=True)@20",
    "INSQ(T=2,adaptive=True)", "INSQ(T=2,adaptive=True,form='printed')", "INSQ(T=Gamma(2,1),adaptive=True)",
    "MP(user='fit.toml',rates='fit.toml')", "MP(steps=5,start='uniform')", "MP(steps=3,rates='1,0.5,0.25')",
]  # fmt: skip


class Case(NamedTuple):
    """A measure as it is written, and what it is: with nothing but its usual parameters; many users; slow."""

    text: str
    measure: Any
    plain: bool
    population: bool
    slow: bool

    @property
    def user(self) -> bool:
        """Whether it is a user."""
        return kind(self.measure.name) == "user"


def written(name: str, given: Mapping[str, str], at: str = "") -> str:
    """A measure with parameters."""
    inside = ",".join(f"{key}={value}" for key, value in given.items())
    return name + (f"({inside})" if inside else "") + (f"@{at}" if at else "")


def parses(text: str) -> bool:
    """Whether there is such a measure."""
    with contextlib.suppress(amble.AmbleError):
        return bool(amble.parse(text))
    return False


def parameter_sets(name: str) -> list[str]:
    """A measure as it is, cut, with every parameter changed, with all choices of words, with some drawn by chance."""
    always, known = ALWAYS.get(name, {}), parameters(name)
    choices = {
        key: [v for v in dict.fromkeys(values) if parses(written(name, always | {key: v}))]
        for key, values in ((key, ONLY.get(key, [*map(repr, words), *VALUES])) for key, (words, _) in known.items())
    }
    out = [written(name, always, at) for at in ("", *CUTS)] + [written(name, always | {"rel": "2"}, "10")]
    out += [written(name, always | {key: value}) for key, found in choices.items() for value in found]
    words = [[(key, repr(word)) for word in found] for key, (found, must) in known.items() if found and must]
    out += [written(name, always | dict(chosen)) for chosen in itertools.product(*words)]
    for key in (key for key in choices if key not in ONLY):
        out += [text for text in (written(name, always | {key: x}) for x in POPULATIONS) if parses(text)][:1]
    out = [text for text in out if parses(text)]
    drawn, several = random.Random(name), sorted((key for key in choices if choices[key]), key=stable)
    for _ in range(DRAWN.get(name, 12) if len(several) > 1 else 0):
        some = drawn.sample(several, min(len(several), drawn.choice((2, 2, 3, 4))))
        text = written(name, always | {key: drawn.choice(choices[key]) for key in some})
        out.append(f"{text}@10" if drawn.random() < 0.3 and parses(f"{name}@10") and "k" not in some else text)
    return list(dict.fromkeys(out + [text for text in BY_HAND if text.startswith(f"{name}(")]))


def all_cases(saved: Saved) -> tuple[list[Case], list[Case]]:
    """All measures with all parameter sets: of lists, and of sessions."""
    lists: list[Case] = []
    sessions: list[Case] = []
    for name in amble.measures.REGISTRY:
        plain, many = written(name, ALWAYS.get(name, {})), re.compile(r"=(Beta|Uniform|Gamma)\(")
        for text in parameter_sets(name):
            saved.of(f"measures/{text}", lambda text: str(amble.parse(text)), text)
            if parses(text):
                found = Case(text, amble.parse(text), text == plain, bool(many.search(text)), name in ("PH", "MP"))
                (sessions if kind(name) == "sessions" else lists).append(found)
    return lists, sessions


# ---- lists


def random_collection(seed: int, real: bool, runs: int = 10, topics: int = 50) -> tuple[Any, Any]:
    """Judgments (grades -1 to 4, or any number) and runs: of 0 to 300 documents, with ties, many not judged."""
    rng = np.random.default_rng(seed)
    qrels: dict[str, dict[str, float]] = {}
    found: dict[str, dict[str, dict[str, float]]] = {f"run{r}": {} for r in range(runs)}
    docs = [f"d{i:03d}" for i in range(400)]
    for t in range(topics):
        share = rng.choice([0.0, 0.02, 0.1, 0.4])
        grade = np.where(rng.random(400) < share, rng.integers(1, 5, 400), rng.choice([-1, 0, 0, 0], 400))
        grades = np.round(np.clip(grade + rng.normal(0, 0.4, 400), -1, 4), 2) if real else grade
        judged = rng.random(400) < rng.uniform(0.2, 0.9)
        qrels[f"t{t}"] = {d: g for d, g, j in zip(docs, grades.tolist(), judged.tolist(), strict=True) if j}
        for lists in found.values():
            shown = rng.permutation(400)[: rng.integers(0, 301)]
            score = np.round(rng.normal(grade[shown] * 0.4, 1.0), int(rng.integers(0, 4)))
            if shown.size:
                lists[f"t{t}"] = {docs[d]: s for d, s in zip(shown.tolist(), score.tolist(), strict=True)}
    return qrels, found


def save_scores(saved: Saved, key: str, rankings: Any, cases: Iterable[Case]) -> None:
    """Scores of all lists."""
    lists = lists_of(rankings)
    for case in cases:
        saved.of(f"{key}/{case.text}/scores", case.measure.scores, lists)


def of_lists(saved: Saved, cases: list[Case]) -> None:
    """Scores of random lists, aligned in several ways; residuals, means, reports."""
    quick = [case for case in cases if not case.slow and not case.population]
    slow = [case for case in cases if case.slow and not case.population]
    plain = [case for case in cases if case.plain or re.fullmatch(r"\w+@10", case.text)]
    costs: tuple[Any, ...] = (None, {0: 0.5, 1: 2.0, 2: 3.0}, {"d001": 4.0, "d007": 0.25})
    for name, real in (("whole", False), ("real", True)):
        qrels, runs = random_collection(1 + real, real)
        options: dict[str, tuple[dict[str, Any], list[Case]]] = {
            "docno": ({}, quick),
            "expected": ({"ties": "expected"}, plain if real else quick),
            "condense": ({"unjudged": "condense"}, plain if real else quick),
            "depth 20": ({"depth": 20}, plain if real else quick),
            "skip": ({"missing": "skip"}, plain),
            "file": ({"ties": "file"}, plain),
            "single": ({"score_dtype": "float32"}, plain),
            "expected, depth 15": ({"ties": "expected", "depth": 15}, plain),
            "condense, depth 15": ({"unjudged": "condense", "depth": 15}, plain),
        }
        for how, (given, chosen) in options.items():
            saved.tell(f"random lists, {name} grades, {how}")
            save_scores(saved, f"{name}/{how}", amble.align(qrels, runs, **given), chosen)
        saved.tell(f"random lists, {name} grades, walks")
        few = {run: runs[run] for run in ("run0", "run1", "run2")}
        save_scores(saved, f"{name}/few", amble.align(qrels, few), [x for x in slow if x.plain] if real else slow)
        saved.tell(f"random lists, {name} grades, populations, residuals, means, reports")
        rankings = amble.align(qrels, {"run0": runs["run0"]}, depth=60)
        lists = lists_of(rankings)
        save_scores(saved, f"{name}/depth 60", rankings, [x for x in cases if x.population and not (real and x.slow)])
        for case in plain if real else quick:
            saved.of(f"{name}/{case.text}/residuals", list_residuals, case.measure, lists)
        for case in plain:
            for undefined in ("zero", "skip"):
                saved.of(f"{name}/{case.text}/{undefined}", summary, rankings, case.text, undefined)
            for i, cost in enumerate(costs):
                saved.of(f"{name}/{case.text}/cwl {i}", amble.cwl, rankings, case.text, costs=cost, topics=True)


def summary(rankings: Any, measure: str, undefined: Any) -> dict[str, Any]:
    """What scores are asked for."""
    scores = amble.evaluate(rankings, measure, undefined=undefined)
    table = {topic: {measure: (0.3 + 0.01 * t, 0.1)} for t, topic in enumerate(scores.topics)}
    moved = standardised(scores, table)
    numbers = {"values": scores.values, "means": scores.means(), "interval": scores.interval(0.9)}
    return {**numbers, "standardised": moved.values, "of them": moved.means(), "table": scores.tsv(topics=True)}


def of_trec8(saved: Saved, cases: list[Case], data: Path) -> None:
    """Scores of TREC-8's runs: of all of them, of ten for those who walk or wander, of two for populations."""
    with tempfile.TemporaryDirectory() as folder:
        packed = sorted((data / "trec8" / "runs").iterdir())
        for path in packed:
            (Path(folder) / path.stem).write_bytes(lzma.decompress(path.read_bytes()))
        runs = [str(Path(folder) / path.stem) for path in packed]
        quick = [case for case in cases if not case.slow and not case.population]
        slow = [case for case in cases if case.slow and not case.population and "steps=" not in case.text]
        many = [case for case in cases if case.population and "(p=" in case.text and not case.slow]
        for name, some, chosen in (("all", runs, quick), ("ten", runs[::13], slow), ("two", runs[::100], many)):
            saved.tell(f"TREC-8, {len(some)} runs, {len(chosen)} measures")
            save_scores(saved, f"trec8/{name}", amble.align(str(data / "trec8" / "qrels.txt"), some), chosen)


# ---- users


def random_lists(count: int = 100) -> list[tuple[Array, Given]]:
    """Grades by rank, NaN where nobody judged, each with all grades of its topic; the last are long."""
    rng, out = np.random.default_rng(3), []
    for i in range(count):
        n = int(rng.integers(0, 13) if i < 80 else rng.integers(13, 60) if i < 95 else rng.integers(100, 300))
        grades = rng.choice([0, 0, 0, 1, 2, 3, 4, -1], n).astype(float)
        if i % 3 == 0:
            grades = np.round(grades * rng.random(n), 2)
        grades[rng.random(n) < rng.choice([0.0, 0.2, 0.5])] = math.nan
        ideal = [*grades[~np.isnan(grades)].tolist(), *rng.integers(0, 5, 5).tolist()]
        out.append((grades, {"ideal": ideal, "max_grade": 4.0}))
    return out


def spread(found: Any) -> dict[str, Any]:
    """What is asked of a distribution."""
    shares, points = np.linspace(0.0, 1.0, 21), np.linspace(-0.1, 2.0, 43)
    return {"distribution": found, "cdf": found.cdf(points), "quantile": found.quantile(shares)}


def of_user(saved: Saved, case: Case, lists: list[tuple[Array, Given]]) -> None:
    """What one user does, and the distribution of her score."""
    m, key = case.measure, f"users/{case.text}"
    some = lists if case.plain else lists[1:3] if case.population else lists[:6]
    if not case.population:
        saved.over(f"{key}/user", some, lambda x: m.user(x[0], **x[1]))
    if case.plain or (case.slow and not case.population):
        saved.over(f"{key}/simulated", some[1:3], lambda x: amble.simulate(m, x[0], 300, 5, **x[1]))
    saved.over(key, some[:60], lambda x: spread(distribution(m, x[0], users=500, seed=1, **x[1])))


def of_value(saved: Saved, case: Case, lists: list[tuple[Array, Given]]) -> None:
    """The score of one list after the other, and between what it could be."""
    some = lists if case.plain else lists[1:3]
    saved.over(f"users/{case.text}/value", some, lambda x: case.measure.value(x[0], **x[1]))
    if not case.population:
        some = lists[:20] if case.plain else lists[1:3]
        saved.over(f"users/{case.text}/interval", some, lambda x: case.measure.interval(x[0], **x[1]))


def of_systems(saved: Saved, key: str, rankings: Any, measure: str, users: int | None) -> None:
    """The distributions of runs, and their order."""
    try:
        found = run_distributions(rankings, measure, users=users, seed=2)
    except amble.AmbleError as error:
        return saved.put(key, f"error: {error}")
    saved.over(key, found.values(), spread)
    for order in ("first", "second"):
        saved.of(f"{key}/{order}", tabled, amble.order_systems, found, order)
    return None


def of_users(saved: Saved, cases: list[Case]) -> None:
    """What users do, the distributions of their scores, intervals and simulations."""
    lists = random_lists()
    saved.tell("users, their distributions")
    for case in cases:
        if case.user:
            of_user(saved, case, lists)
    saved.tell("values, intervals")
    for case in cases:
        of_value(saved, case, lists)
    saved.tell("distributions compared, and of runs; fitted users")
    for name in ("AP", "RBP", "RR", "DCG", "INST", "PH(loss=0)"):
        of = [distribution(amble.parse(name), x[0], **x[1]) for x in lists[10:40] if x[0].size]
        both = itertools.pairwise(of)
        saved.over(f"dominance/{name}", both, lambda x: {"is": x[0].dominance(x[1]), "by": x[0].distance(x[1])})
        saved.of(f"mixture/{name}", lambda of: spread(mixture(of)), of)
    rankings = amble.align(*random_collection(4, False, runs=5, topics=8), depth=40)
    for name in ("AP", "RR", "RBP(p=0.9)", "INSQ", "ERR", "nDCG@10", "PH(loss=0)", "MP(steps=3)", "RBP(p=Beta(8,2))"):
        for users in (None, 200):
            of_systems(saved, f"systems/{name}/{users or 'exact'}", rankings, name, users)
    for case in cases:
        for topics in (False, True) if "fit.toml" in case.text else ():
            key = f"fitted_intervals/{case.text}/{'topics' if topics else 'users'}"
            saved.of(key, amble.fitted_intervals, rankings, case.text, topics=topics, rounds=8, seed=3)


# ---- sessions


def random_sessions() -> dict[str, Any]:
    """Sessions with grades alone, with documents that are shown again, and with facets; in the working folder."""
    rng = np.random.default_rng(5)
    grades = rng.choice([0, 0, 1, 2, 3, math.nan], (12, 3, 8))
    docs = [f"d{i}" for i in range(30)]
    qrels = {f"s{i}": {d: int(rng.integers(0, 4)) for d in docs[: rng.integers(5, 30)]} for i in range(8)}
    asked = [[rng.permutation(docs)[: rng.integers(0, 9)].tolist() for _ in range(rng.integers(1, 5))] for _ in qrels]
    told = [{"session": name, "queries": [{"docs": q} for q in of]} for name, of in zip(qrels, asked, strict=True)]
    Path("sessions.json").write_text(json.dumps(told))
    shown = [(s, j, d) for s, of in zip(qrels, asked, strict=True) for j, q in enumerate(of) for d in q]
    Path("facets.run").write_text("".join(f"{s} {j} {d} 1.0 0 0\n" for s, j, d in shown))
    rated = [(s, int(rng.integers(1, 4)), d, g) for s, of in qrels.items() for d, g in of.items() for _ in range(2)]
    Path("facets.txt").write_text("".join(f"{s} {s}.{f} {d} {g}\n" for s, f, d, g in rated))
    return {
        "grades": sessions_of(grades),
        "every": amble.read_sessions(qrels, "sessions.json"),
        "once": amble.read_sessions(qrels, "sessions.json", repeats="once"),
        "facets": amble.read_sessions("facets.txt", "facets.run", layout="dd"),
    }


def of_session(saved: Saved, case: Case, matrices: list[Any]) -> None:
    """What the user of one measure of sessions does, and the distribution of her gain."""
    m, key = case.measure, f"sessions/{case.text}"
    some = matrices if case.plain else matrices[:2]
    saved.over(f"{key}/value", some, lambda x: m.value(x, max_grade=4.0))
    saved.over(f"{key}/user", some, lambda x: m.user(x, max_grade=4.0))
    saved.over(key, some, lambda x: spread(distribution(m, x, users=300, seed=1, max_grade=4.0)))


def of_sessions(saved: Saved, cases: list[Case]) -> None:
    """Measures of sessions: scores, users, distributions."""
    saved.tell("sessions")
    sets, rng = random_sessions(), np.random.default_rng(6)
    matrices = [rng.choice([0, 0, 1, 2, 3, math.nan], (rng.integers(1, 7), rng.integers(1, 5))) for _ in range(12)]
    for case in cases:
        for name, sessions in sets.items():
            if name == "grades" or not case.population:
                key = f"sessions/{case.text}/{name}"
                saved.of(key, lambda *x: amble.evaluate(*x).values, sessions, case.text)
        if not case.population:
            of_session(saved, case, matrices)


# ---- statistics


def of_statistics(saved: Saved, cases: list[Case]) -> None:
    """Comparisons, analysis of variance, reasons, curves, and meta-evaluation, of the demo collection."""
    saved.tell("comparisons")
    made = make_collection("demo")
    rankings = amble.align(str(made.qrels), [str(path) for path in made.runs])
    names = ["AP", "nDCG@10", "P@10", "GMAP", "RBP"]
    scores, skipped = amble.evaluate(rankings, names), amble.evaluate(rankings, names, undefined="skip")
    given: Given
    for measure, test, correction in itertools.product(("AP", "GMAP"), TESTS, CORRECTIONS):
        given = {"test": test, "correction": correction, "rounds": 300, "seed": 1}
        saved.of(f"compare/{measure}/{test}/{correction}", compared, scores, measure, **given)
    for test, sides, interval in itertools.product(TESTS, ("two", "greater", "less"), ("t", "percentile", "bca")):
        given = {"test": test, "sides": sides, "interval": interval, "rounds": 300, "alpha": 0.1}
        saved.of(f"compare/baseline/{test}/{sides}/{interval}", compared, skipped, "AP", "bm25", **given)
    for measure in names:
        saved.of(f"anova/{measure}", amble.anova, scores, measure)
    for case in cases:
        if case.plain or "=0.3)" in case.text:
            saved.of(f"why/{case.text}", amble.why, rankings, "301", case.text)
    for rule, levels in (("textbook", 11), ("trec10", 5), ("trec9", 21)):
        saved.of(f"pr_curve/{rule}", amble.pr_curve, rankings, "dense", rule=rule, levels=levels)
    saved.of("pr_curve/302", amble.pr_curve, rankings, "bm25", "302", rel=2)
    saved.of("why/two", lambda: str(amble.why(rankings, "303", "AP", runs=["bm25", "dense"])))
    of_meta(saved, rankings, scores, names)


def of_meta(saved: Saved, rankings: Any, scores: Any, names: list[str]) -> None:
    """Meta-evaluation: every public function."""
    saved.tell("meta-evaluation")
    meta: Any = amble.metaevaluation
    given: Given
    x, y = scores.means()[:, 0], np.round(scores.means()[:, 1], 2)
    saved.of("meta/rankings", lambda: [f(x, y) for f in (meta.kendall, meta.tau_ap, meta.spearman, meta.rbo)])
    saved.of("meta/ap", lambda: [meta.tau_ap(x, y, ties="a"), meta.rbo(x, y, 0.5)])
    for statistic, resample in itertools.product(("tau", "tau_ap", "rho", "rbo"), ("topics", "systems", "both", None)):
        given = {"statistic": statistic, "resample": resample, "rounds": 50, "seed": 1}
        saved.of(f"meta/correlations/{statistic}/{resample}", meta.correlations, scores, **given)
    for test in ("t", "bootstrap", "tukey"):
        saved.of(f"meta/agreement/{test}", tabled, meta.agreement, scores, test=test, rounds=100, seed=1)
        saved.of(f"meta/power/{test}", tabled, meta.discriminative_power, scores, test=test, rounds=100, seed=1)
    saved.of("meta/swaps", tabled, meta.swap_rates, scores, rounds=20, seed=2)
    saved.of("meta/swaps/needed", lambda: meta.swap_rates(scores, rounds=20, seed=2).needed(0.1))
    saved.of("meta/swaps/more", lambda: meta.swap_rates(scores, rounds=20, seed=2).extrapolated(50))
    saved.of("meta/topics", meta.topics_needed, amble.evaluate(rankings, ["AP", "RBP"]))
    saved.of("meta/topics/power", lambda: [meta.topics_for_power(d, 0.02) for d in (0.01, 0.1, 0.4)])
    saved.of("meta/topics/interval", lambda: [meta.topics_for_interval(d, 0.02) for d in (0.01, 0.1, 0.4)])
    pools: list[Given] = [{"rounds": 5}, {"depths": (1, 5)}, {"rates": (0.5,), "rounds": 3, "undefined": "skip"}]
    for given in pools:
        key = f"meta/pool_effect/{','.join(given)}"
        saved.of(key, tabled, meta.pool_effect, rankings, [*names, "bpref", "infAP"], seed=1, **given)
    groups = meta.groups_by_prefix(rankings.runs, 4)
    saved.of("meta/groups", lambda: groups)
    saved.of("meta/leave_out", tabled, meta.leave_out, rankings, names, groups, depth=5)
    kept = [*meta.sampled_pools(rankings, (0.2, 0.7), seed=4), meta.depth_pool(rankings, 3)]
    kept.append(meta.without_group(rankings, [0, 1], 5))
    saved.of("meta/pools", lambda: kept)
    for i, of in enumerate(kept):
        saved.of(f"meta/judge_again/{i}", amble.parse("AP").scores, meta.judge_again(rankings, of))


def compared(*given: Any, **options: Any) -> dict[str, Any]:
    """A comparison with its tables."""
    found = amble.compare(*given, **options)
    letters = found.letters() if found.design.baseline is None else None
    return {"": found, "table": str(found.table(full=True)), "letters": letters}


def tabled(compute: Any, *given: Any, **options: Any) -> dict[str, Any]:
    """What was computed, and its table."""
    found = compute(*given, **options)
    return {"": found, "table": found.table()}


# ---- logs, fusion, search, pools


def of_logs(saved: Saved) -> None:
    """Users fitted to a log; fit.toml is written, for measures."""
    saved.tell("users fitted to a log")
    rng, lines = np.random.default_rng(7), ["session\trank\ttime\taction\tgrade"]
    for session in range(600):
        rank, now = 1, 0.0
        while 1 <= rank <= 10:
            lines.append(f"{session}\t{rank}\t{now:.3f}\tclick\t{(session * rank) % 3}")
            now += rng.exponential(30)
            rank += int(rng.choice([1, -1, 99], p=[0.6, 0.1, 0.3]))
    Path("log.tsv").write_text("\n".join(lines) + "\n")
    counts = amble.logs.read_log("log.tsv", "table", threads=1)
    saved.of("logs/counts", lambda: counts, objects=3)
    for steps, observation in (("path", "last"), ("clicks", "cascade"), ("path", "dependent"), ("path", "sdbn")):
        given = {"steps": steps, "observation": observation, "rounds": 50, "draws": 20, "seed": 1}
        saved.of(f"logs/{steps}/{observation}", lambda given: told(amble.logs.fit(counts, **given)), given, objects=3)
    fitted = amble.logs.fit(counts, rounds=50, draws=20, seed=1, files=["log.tsv"], layout="table").fitted
    amble.write_fit("fit.toml", fitted)
    saved.put("logs/fit.toml", Path("fit.toml").read_text())


def told(fit: Any) -> dict[str, Any]:
    """What a fit says."""
    models = {model.name: {"is": model, **model.estimates} for model in fit.fitted.models}
    return {"best": fit.fitted.best, "models": models, "told": fit.held_out, "notes": list(fit.notes)}


def of_lab(saved: Saved) -> None:
    """Fusion, search, pools, orders of judging, assessors, and the checks of files."""
    saved.tell("fusion, search, pools")
    lab: Any = amble.judging
    qrels, runs = random_collection(8, False, runs=4, topics=5)
    weights = [1.0, 0.5, 2.0, 1.0]
    for method, norm, weight in itertools.product(METHODS, NORMS, (None, weights)):
        key = f"fuse/{method}/{norm}/{'weights' if weight else 'even'}"
        saved.of(key, ranked, lambda *x: amble.fuse(runs, x[0], norm=x[1], weights=x[2]), method, norm, weight)
    saved.of("fuse/rrf/depth", ranked, lambda: amble.fuse(runs, rrf_k=10, depth=20, top=30, ties="file"))
    rng = np.random.default_rng(9)
    words = [f"{a}{b}" for a in ("walk", "rank", "list", "read") for b in ("", "ing", "s")]
    texts = {f"d{i}": " ".join(rng.choice(words, rng.integers(1, 30))) for i in range(60)}
    asked = {f"q{i}": " ".join(rng.choice(words, rng.integers(1, 5))) for i in range(8)}
    smart = [f"cosine(weights='{a}{b}{c}.{a}{b}{d}')" for a in "nlabL" for b in "ntps" for c, d in ("nc", "cn", "cc")]
    more = ["bm25(k1=0.9,b=0.4)", "bm25(k1=0,b=1)", "lm(mu=10)", "tfidf(base=2)", "logtf(base='e')", *smart]
    for language in ("english", "none"):
        index = amble.index(texts, language=language)
        saved.of(f"index/{language}", lambda index: index, index)
        for scorer in (*SCORERS, *more):
            key = f"search/{language}/{scorer}"
            saved.of(key, lambda *x: list_by_list(amble.search(x[0], asked, x[1])), index, scorer)
            saved.of(f"{key}/explain", amble.explain, index, "d7", asked["q0"], scorer)
    pool = amble.pool(runs, depth=12)
    saved.of("pool", lambda: {"": pool, "table": pool.table(), "text": pool.text(pool.judgments(qrels))})
    saved.of("pool/sample", lambda: [pool.sample(0.3, seed=1), pool.sample(strata=[(3, 1), (12, 0.2)], seed=1)])
    for order in lab.ORDERS:
        saved.of(f"judge/{order}", lab.order_pool, pool, order, qrels, seed=2)
    for unjudged in ("skip", "zero"):
        saved.of(f"judge/effort/{unjudged}", tabled, lab.simulate_judging, pool, qrels, seed=3, unjudged=unjudged)
    saved.of("judge/uniques", lab.unique_relevant, amble.align(qrels, runs), 10, groups={"a": ["run0", "run1"]})
    others = random_collection(10, False, runs=1, topics=5)[0]
    saved.of("judge/agreement", lab.agreement, [qrels, others, random_collection(11, False, 1, 5)[0]], topics=True)
    saved.of("judge/two", lab.agreement, [qrels, others], rel=2)
    saved.tell("checks of files")
    odd = b"301 Q0 a 1 2.5 x\n301 Q0 a 2 2.4 x\n301\tQ0 b 2 9 y\r\n\n302 q1 c 0 nan x\n999 Q0 z 7 1e9 x z\n"
    Path("odd.run").write_bytes(odd + b"303 Q0 \xff 1 1\n")
    Path("odd.txt").write_text("301 0 a 1\n301 0 b -1\n302 0 c 0.5\n303 0 a 99\n301 0 d 2")
    saved.of("check", lambda: [check_lines(report) for report in amble.check(["odd.run"], "odd.txt")])


def check_lines(report: Any) -> str:
    """What a check found in a file."""
    return "\n".join([report.path, *(str(tuple(finding)) for finding in report.findings)])


def ranked(compute: Any, *given: Any) -> dict[str, Any]:
    """The documents of a run and their scores, by topic."""
    found = compute(*given).documents()
    return list_by_list({topic: dict(found[topic]) for topic in found.topics})


def list_by_list(found: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Documents and scores of each topic, in their order."""
    return {topic: {"docs": list(of), "scores": list(of.values())} for topic, of in found.items()}


# ---- commands

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)$", re.MULTILINE)
MORE = ["amble list", "amble list --variants", "amble list --format json", "amble --help"]


def of_commands(saved: Saved) -> None:
    """What the commands of three pages print, and the texts that they write, in a folder where the demo has been."""
    root = Path(__file__).resolve().parent.parent
    env = {**os.environ, "PYTHONUTF8": "1", "LC_ALL": "C", "COLUMNS": "100"}
    for page in ("README.md", "docs/tour.md", "docs/cli.md", "more"):
        saved.tell(f"commands, {page}")
        text = "" if page == "more" else (root / page).read_text(encoding="utf-8")
        commands = [command for block in BLOCK.findall(text) for command in COMMAND.findall(block)] or MORE
        with tempfile.TemporaryDirectory() as folder:
            make_collection(Path(folder) / "demo")
            for i, command in enumerate(commands):
                line = re.sub(r"^amble\b", f'"{sys.executable}" -m amble', command)
                done = subprocess.run(line, shell=True, cwd=folder, env=env, capture_output=True, timeout=300)
                out, err = (without_times(x.decode("utf-8", "replace"), folder) for x in (done.stdout, done.stderr))
                saved.put(f"commands/{page}/{i:02d}", f"$ {command}\n{out}--- stderr\n{err}--- {done.returncode}")
            for path in sorted(Path(folder).iterdir()):
                if path.suffix in (".json", ".txt", ".run", ".dot", ".tsv"):
                    told = without_times(path.read_text(encoding="utf-8"), folder)
                    saved.put(f"commands/{page}/{path.name}", told)


def without_times(text: str, folder: str) -> str:
    """A text without how long it took, when it was, and where."""
    text = text.replace(os.path.realpath(folder), "FOLDER").replace(folder, "FOLDER")
    return re.sub(r"\b\d+(\.\d+)? m?s\b|\b20\d\d-\d\d-\d\d\b", "TIME", text)
