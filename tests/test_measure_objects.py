"""Measures as Python objects: by their names in `amble.measures`, called, and at a rank."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Annotated

import numpy as np
import pytest

import amble
from amble import measures
from amble.measures import AP, MP, PH, RBP, REGISTRY, Beta, F, IPrec, MsM, P, Uniform, Utility, bpref, nDCG
from amble.measures.arguments import first_parameter


@pytest.mark.parametrize(
    ("measure", "text"),
    [
        (AP, "AP"),
        (nDCG @ 10, "nDCG@10"),
        (RBP(p=0.9), "RBP(p=0.9)"),
        (RBP(0.73), "RBP(p=0.73)"),
        (RBP(p=0.8) @ 10, "RBP(p=0.8)@10"),
        (AP(rel=2) @ 100, "AP(rel=2)@100"),
        ((nDCG @ 10)(gains="exp"), "nDCG(gains='exp')@10"),
        (nDCG(gains="exp", base=2) @ 10, "nDCG(base=2,gains='exp')@10"),
        (P @ 5, "P@5"),
        (P(5), "P@5"),
        (P(k=5), "P@5"),
        (IPrec @ 0.1, "IPrec@0.1"),
        (IPrec(rule="trec10") @ 0.1, "IPrec(rule='trec10')@0.1"),
        (F(2) @ 10, "F(beta=2)@10"),
        (MP("LO_AD_ID", rescale="R") @ 20, "MP(model='LO_AD_ID',rescale='R')@20"),
        (PH(model="RBP", p=0.5), "PH(model='RBP',p=0.5)"),
        (PH(p=0.9, q=0) @ 10, "PH(p=0.9,q=0)@10"),
        (MsM(p=0.6, q=0, r=0.1, s=0.3) @ 10, "MsM(p=0.6,q=0,r=0.1,s=0.3)@10"),
        (RBP(p=Beta(8, 2)), "RBP(p=Beta(8,2))"),
        (RBP(Uniform(0.5, 0.9)), "RBP(p=Uniform(0.5,0.9))"),
        (RBP(), "RBP"),
        (AP(rel=1), "AP"),
        (AP(rel=np.int64(2)) @ np.int64(10), "AP(rel=2)@10"),
    ],
)
def test_objects_are_what_is_parsed(measure: amble.Measure, text: str) -> None:
    parsed = amble.parse(text)
    assert measure == parsed
    assert hash(measure) == hash(parsed)
    assert type(measure) is type(parsed)
    assert measure.label == str(measure) == str(parsed)
    assert (measure.values, measure.cut) == (parsed.values, parsed.cut)


@pytest.mark.parametrize("name", REGISTRY)
def test_every_measure_is_there(name: str) -> None:
    found = getattr(measures, name)
    assert isinstance(found, amble.Measure)
    assert found == amble.parse(name)
    assert name in dir(measures)
    assert name in measures.__all__
    first = first_parameter(REGISTRY[name])
    if first is not None:
        default = found.values[first]
        if default is not None:
            assert found(default) == found(**{first: default})


def test_star_import() -> None:
    code = "from amble.measures import *; print(nDCG @ 10, RBP(0.9), parse('AP'), Measure.__name__, Beta(1, 2))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "nDCG@10 RBP(p=0.9) AP Measure Beta(1,2)\n"


def test_names_that_are_not_there() -> None:
    with pytest.raises(AttributeError, match="module 'amble.measures' has no attribute 'nothing'"):
        _ = measures.nothing
    with pytest.raises(ImportError):
        from amble.measures import nDGC  # noqa: F401
    assert isinstance(Utility, amble.Measure)  # and not the utility of users


def test_ones_own_measures() -> None:
    @amble.measure("Hasty", question="order2")
    def hasty(p: Annotated[float, measures.Between(0, 1), "patience"] = 0.5):
        """Goes on with probability p."""
        return measures.Forward(continuation=p)

    try:
        from amble.measures import Hasty

        assert str(Hasty(0.25) @ 10) == "Hasty(p=0.25)@10"
        assert "Hasty" in dir(measures)
        assert amble.parse("hasty") == Hasty
    finally:
        del REGISTRY["Hasty"]
    assert not hasattr(measures, "Hasty")


def test_a_measure_is_not_changed() -> None:
    cut = nDCG @ 10
    before = copy.deepcopy((dict(cut.values), cut.cut, cut.given))
    assert str(cut(gains="exp") @ 20) == "nDCG(gains='exp')@20"  # what is given replaces what was
    assert str(RBP(p=0.9)(p=0.5)) == "RBP(p=0.5)"
    assert str((P @ 10)(k=5)) == "P@5"
    assert (cut.values, cut.cut, cut.given) == before
    assert str(cut) == "nDCG@10"
    with pytest.raises(TypeError):
        measures.AP.values["rel"] = 3  # type: ignore[index]


def test_a_called_measure_keeps_what_it_is_a_variant_of() -> None:
    walk = PH(model="RBP", p=0.5)
    assert walk(p=0.9) == amble.parse("PH(model='RBP',p=0.9)")
    assert walk.written is not None
    assert walk.written.given == {"model", "p"}
    with pytest.raises(amble.MeasureError, match="PH: q=0.25 has no effect with model='RBP'"):
        walk(q=0.25)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: RBP(q=1), "RBP has no parameter q, expected p, finite, user, rel"),
        (lambda: RBP(Finite=True), "; did you mean finite?"),
        (lambda: RBP(p=2), "RBP: p=2 is not allowed, expected a number between 0 and 1, both excluded"),
        (lambda: RBP("a"), "RBP: p='a' is not allowed"),
        (lambda: RBP(0.5, 0.6), "RBP takes one value without a name, p, found 2"),
        (lambda: RBP(0.5, p=0.6), "p is given twice, with its name and without"),
        (lambda: nDCG(10), r"nDCG takes no value without a name; did you mean nDCG@10 or nDCG\(base=10\)?"),
        (lambda: nDCG("exp"), r"did you mean nDCG\(gains='exp'\)?"),
        (lambda: AP(2), r"AP takes no value without a name; did you mean AP@2 or AP\(rel=2\)?"),
        (lambda: measures.NumQ(2), "NumQ takes no value without a name$"),
        (lambda: measures.NumQ(rel=2), "NumQ has no parameter rel, expected none"),
        (lambda: nDCG @ 0, "nDCG@0 is not allowed, expected a whole number of at least 1 after '@'"),
        (lambda: nDCG @ "10", "nDCG@'10' is not allowed"),
        (lambda: nDCG @ None, "nDCG@None is not allowed"),
        (lambda: nDCG @ AP, r"nDCG@parse\('AP'\) is not allowed"),
        (lambda: P @ 2.5, "P@2.5 is not allowed, expected a whole number of at least 1 after '@'"),
        (lambda: RBP @ 0.8, r"RBP@0.8 is not allowed, .*; did you mean RBP\(p=0.8\)?"),
        (lambda: bpref @ 10, "bpref takes no '@', it looks at the whole list"),
        (lambda: MP(start="first"), "MP: start goes with steps only"),
        (lambda: MP("GL"), "MP: model='GL' is not allowed, expected one of 'GL_AD_NA'"),
    ],
)
def test_wrong_calls(call: Callable[[], object], message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_scores_by_object() -> None:
    scores = amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"b": 2.0, "a": 1.0}}}, [AP, nDCG @ 10, RBP(p=0.5), "P_5"])
    assert scores.measures == ("AP", "nDCG@10", "RBP(p=0.5)", "P_5")
    assert scores["x", RBP(0.5)].tolist() == [0.25]
    assert scores["x", P @ 5].tolist() == [0.2]
    assert amble.evaluate({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}}, nDCG @ 10).measures == ("nDCG@10",)


def test_a_measure_is_never_changed() -> None:
    m = amble.parse("RBP(p=0.8)@10")
    for name, value in (("typed", "x"), ("label", "x"), ("cut", 5), ("values", {}), ("declaration", None), ("new", 1)):
        with pytest.raises(AttributeError):
            setattr(m, name, value)
    with pytest.raises(TypeError):
        m.values["p"] = 0.5  # type: ignore[index]
    mixture = amble.Mixture({m: 1.0}, name="readers")
    with pytest.raises(TypeError):
        mixture.parts[m] = 0.5  # type: ignore[index]
    assert isinstance(mixture.members, tuple)
    again = amble.parse("RBP(p=0.8)@10")
    assert (again.label, str(again), again.cut) == ("RBP(p=0.8)@10", "RBP@10", 10)
    mine = again.labelled("mine")
    assert (mine.label, mine == again, mine.labelled("").label) == ("mine", True, "RBP@10")
    assert amble.parse("RBP(p=0.8)@10").label == "RBP(p=0.8)@10"
    assert pickle.loads(pickle.dumps(mine)).label == "mine"
