"""Values of parameters: from text and from Python the same, printed and read again, never changed."""

from __future__ import annotations

import dataclasses
import functools
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from drawing import examples
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.errors import AmbleError, MeasureError
from amble.expressions.domains import (
    Above,
    AtLeast,
    Between,
    Domain,
    Form,
    GainTable,
    Numbers,
    OneOf,
    Parameter,
    Probability,
    Switch,
    Whole,
    checked,
)
from amble.expressions.grammar import parse_call, plain_value, show_value
from amble.expressions.populations import Population
from amble.expressions.values import ByGrade, ByRank, digest, real
from amble.measures import REGISTRY, Forward, measure
from amble.measures.catalogue.markov_precision import Rates
from amble.measures.fitted_parameters import FittedTransitions, FittedUser, resampled
from amble.measures.measure import plain_parameters
from amble.retrieval.scorers import SmartWeights, parse_scorer, parse_smart
from amble.users.effort import Effort
from amble.users.fitted import Estimate, Fitted, FittedModel, Origin

GRADES = [1, 0, 2, 0, 0, 1, 0, 1]
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
SHARES = st.floats(0, 1)
Write = Callable[[str, str], str]


def again(value: Any, domain: Domain) -> Any:
    """The value that comes of its text."""
    return domain.check(parse_call(f"X(x={show_value(value)})").arguments["x"])


# ---- numbers by rank and by grade


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_numbers_by_rank(numbers: list[float]) -> None:
    value = ByRank(numbers)
    text = ",".join(map(repr, numbers))
    forms = [text, f" {text} ".replace(",", " , "), tuple(numbers), np.array(numbers), value, str(value)]
    assert all(ByRank(form) == value and hash(ByRank(form)) == hash(value) for form in forms)
    assert list(value) == numbers  # to the bit
    assert str(ByRank(str(value))) == str(value)
    assert again(value, Numbers()) == value
    assert pickle.loads(pickle.dumps(value)) == value
    assert type(pickle.loads(pickle.dumps(value))) is ByRank
    with pytest.raises(AttributeError):
        value.more = 1  # type: ignore[attr-defined]


@given(st.dictionaries(NUMBERS, NUMBERS, min_size=1, max_size=8), st.randoms())
def test_numbers_by_grade(table: dict[float, float], random: Any) -> None:
    value = ByGrade(table)
    pairs = list(table.items())
    random.shuffle(pairs)
    text = ",".join(f"{grade!r}={number!r}" for grade, number in pairs)
    for form in (text, dict(pairs), value, str(value)):
        assert (ByGrade(form), hash(ByGrade(form)), str(ByGrade(form))) == (value, hash(value), str(value))
    assert dict(value) == table
    assert list(value) == sorted(table)
    assert pickle.loads(pickle.dumps(value)) == value
    with pytest.raises(AttributeError):
        value.pairs = ()  # type: ignore[misc]


def test_columns_of_frames() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    assert ByRank(pandas.Series([0.6, 0.5], index=[7, 3])) == ByRank(polars.Series([0.6, 0.5])) == (0.6, 0.5)


def test_how_numbers_are_spelled() -> None:
    assert str(ByRank("1.0,.50, 1e-3,-0.25")) == "1,0.5,0.001,-0.25"
    assert str(ByGrade("1=.3, 0=0.60")) == "0=0.6,1=0.3"
    assert (repr(ByRank([1])), repr(ByGrade({1: 3}))) == ("ByRank('1')", "ByGrade('1=3')")
    assert str(amble.parse("PH(p='.60,0.50')")) == "PH(p='0.6,0.5')"
    assert amble.parse("PH(p='.60,0.50')") == amble.parse("PH(p='0.6,.5')")
    assert amble.parse("nDCG(gains='2=9,1=3')") == amble.parse("nDCG(gains='1=3, 2=9')")


@pytest.mark.parametrize(
    "wrong",
    ["", "1,,2", "a", "1_0", "٣", "nan", "inf", "1e999", [], [True], ["1"], [None], [float("nan")], [1, np.inf], b"12",
     {1: 2}, {1, 2}, 3, None, np.array(1.0), np.eye(2), [[1]]],
)  # fmt: skip
def test_what_is_no_numbers_by_rank(wrong: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        ByRank(wrong)
    with pytest.raises(MeasureError, match="^X: x=.* is not allowed, expected a string of one or more numbers"):
        checked("X", "x", Numbers(), wrong)


@pytest.mark.parametrize(
    "wrong", ["", "1", "1=", "=1", "1=2=3", "1=2,1=3", "1=nan", "1=1_0", {}, {1: True}, {"1": 2}, {1: None}, [1, 2], 3]
)
def test_what_is_no_numbers_by_grade(wrong: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        ByGrade(wrong)
    with pytest.raises(MeasureError, match="^X: x=.* is not allowed, expected 'linear'"):
        checked("X", "x", GainTable(), wrong)


# ---- domains


@given(st.lists(SHARES, min_size=1, max_size=9), st.dictionaries(st.integers(0, 5), SHARES, min_size=1), SHARES)
def test_probabilities(ranks: list[float], grades: dict[int, float], one: float) -> None:
    domain = Probability()
    for given_value, kind in ((ranks, ByRank), (np.array(ranks), ByRank), (grades, ByGrade), (one, float)):
        value = domain.check(given_value)
        assert type(value) is kind
        assert domain.check(value) == value
        assert again(value, domain) == value
    for wrong in ([*ranks, 1.5], {**grades, 9: -0.5}, 1.25, True, None, [one, True]):
        with pytest.raises(ValueError):
            domain.check(wrong)


@pytest.mark.parametrize(
    ("domain", "given_value", "value"),
    [
        (Between(0, 1), np.float32(0.5), 0.5),
        (Above(0), np.int64(3), 3.0),
        (AtLeast(0), 0, 0.0),
        (Whole(1), np.int32(7), 7),
        (Whole(1), 7.0, 7),
        (Numbers(2), [1, 2], ByRank("1,2")),
        (Numbers(2), range(1, 3), ByRank("1,2")),
        (GainTable(), {2: 9, 1: np.float64(3)}, ByGrade("1=3,2=9")),
        (GainTable(), "exp", "exp"),
        (Form(Effort, "", Callable), "h**2", Effort("h^2")),
        (Form(Effort, "", Callable), np.sqrt, Effort(np.sqrt)),
        (Form(Effort, "", Callable), Effort("log"), Effort("log")),
        (Rates(), np.array([2.0, 4.0]), ByRank("2,4")),
        (Rates(), "2, 4", ByRank("2,4")),
    ],
)
def test_python_forms(domain: Domain, given_value: Any, value: Any) -> None:
    found = domain.check(given_value)
    assert (found, type(found)) == (value, type(value))
    assert domain.check(found) == value


@pytest.mark.parametrize(
    ("domain", "wrong"),
    [
        (Between(0, 1), True), (Between(0, 1), np.bool_(True)), (Between(0, 1), "0.5"), (Between(0, 1), [0.5]),
        (Whole(1), 1.5), (Whole(1), True), (OneOf(1, 2), True), (OneOf("a"), ["a"]), (OneOf("a"), None),
        (Switch(), 1), (Switch(), "True"), (Numbers(3), [1, 2]), (Numbers(domain=Between(0, 1)), [0.5, 1.0]),
        (GainTable(), {1: -3}), (GainTable(), ["linear"]), (Form(Effort, "", Callable), 2), (Rates(), [1, 0]),
        (Rates(), 2), (Rates(), {1: 2}), (FittedUser("rbp"), 3), (FittedUser("rbp"), ""), (FittedUser("rbp"), [0.5]),
    ],
)  # fmt: skip
def test_what_domains_refuse(domain: Domain, wrong: Any) -> None:
    with pytest.raises(MeasureError) as error:
        checked("X", "x", domain, wrong)
    by_topic = (
        "; by topic, the topics are text, as in {'401': 1}" if isinstance(wrong, dict) and domain.by_topic else ""
    )
    assert str(error.value) == f"X: x={wrong!r} is not allowed, expected {domain.text}{by_topic}"


def test_defaults_are_values() -> None:
    assert REGISTRY["CWL"].parameters["C"].default == ByRank([0.8])
    assert REGISTRY["PH"].parameters["effort"].default is None
    assert amble.parse("PH").values["effort"] == Effort()
    assert Parameter("C", "0.8", Numbers()).default == ByRank([0.8])
    assert repr(Parameter("rel", 1, AtLeast(0)).default) == "1"  # as declared
    with pytest.raises(MeasureError, match="the default: p=2 is not allowed, expected a number between 0 and 1"):
        Parameter("p", 2, Between(0, 1))


def test_a_measure_declared_with_text_gets_values() -> None:
    seen = []

    @measure("Listed", question="order2")
    def listed(c: Annotated[tuple[float, ...], Numbers(), "by rank"] = "0.5,0.25") -> Forward:  # type: ignore[assignment]
        seen.append(c)
        return Forward(continuation=c[0])

    try:
        for m in (amble.parse("Listed"), amble.parse("Listed(c='.5,.25')"), amble.parse("Listed(c='0.5')")):
            m.value([1, 0])
        assert (str(amble.parse("Listed(c='.5,.25')")), set(seen)) == ("Listed", {(0.5, 0.25), (0.5,)})
    finally:
        del REGISTRY["Listed"]


# ---- measures


CASES: list[tuple[str, str, list[Any]]] = [
    ("PH", "p", ["0.6,0.5,0.4", [0.6, 0.5, 0.4], (0.6, 0.5, 0.4), np.array([0.6, 0.5, 0.4]), ByRank("0.6,0.5,0.4")]),
    ("PH", "p", ["0=0.6,1=0.3", {0: 0.6, 1: 0.3}, {1.0: 0.3, 0.0: 0.6}, ByGrade({0: 0.6, 1: 0.3})]),
    ("PH", "q", [0.125, np.float32(0.125), np.float64(0.125)]),
    ("PH", "utility", ["1,0.5,0.1", [1, 0.5, 0.1]]),
    ("PH", "start", ["0.75,0.25", np.array([0.75, 0.25])]),
    ("PH", "effort", ["h^2", "h**2", " h ** 2.0", Effort("h^2")]),
    ("PH", "effort", ["h+1", "h + 1", Effort("h+1")]),
    ("PH", "effort", ["sqrt", "h^0.5", "h**.5", Effort("h^.5")]),
    ("PH", "gains", ["1=3,2=9", {1: 3, 2: 9}]),
    ("nDCG", "gains", ["1=3,2=9", {2: 9, 1: 3}, ByGrade("1=3,2=9")]),
    ("CWL", "C", ["0.5,0.25", [0.5, 0.25]]),
    ("Utility", "weights", ["2,-1,0,0.5", (2, -1, 0, 0.5)]),
    ("IPrecAvg", "points", ["0,0.5,1", np.linspace(0, 1, 3)]),
    ("NCP", "distribution", ["3,2,1", [3, 2, 1]]),
    ("MP", "rates", ["1,0.5,0.25", [1, 0.5, 0.25]]),
    ("RBP", "p", ["Beta(8,2)", Population("Beta", (8.0, 2.0))]),
]


@pytest.mark.parametrize(("name", "key", "forms"), CASES)
def test_python_and_text_are_one_measure(name: str, key: str, forms: list[Any]) -> None:
    plain = amble.parse(name)
    # as an expression has it, and as Python has it
    text = forms[0] if key in ("q",) or str(forms[0]).startswith("Beta") else f"'{forms[0]}'"
    m = amble.parse(f"{name}({key}={text})")
    assert str(m) == f"{name}({key}={text})"
    score = m.value(GRADES, max_grade=2)
    for form in forms if not str(forms[0]).startswith("Beta") else forms[1:]:
        other = plain.with_value(key, form)
        assert (other, str(other), hash(other)) == (m, str(m), hash(m))
        assert other.values[key] == m.values[key]
        assert other.value(GRADES, max_grade=2) == score  # to the bit
        assert amble.parse(str(other)) == m
        kept = pickle.loads(pickle.dumps(other.values[key]))
        assert (kept, type(kept), hash(kept)) == (m.values[key], type(m.values[key]), hash(m.values[key]))
        assert plain_parameters(other)[key] == (forms[0] if key == "q" else plain_value(m.values[key]))


@examples(60)
@given(
    st.lists(st.floats(0.01, 0.6), min_size=1, max_size=5),
    st.lists(st.floats(0, 0.39), min_size=1, max_size=5),
    st.lists(st.sampled_from([0, 1, 2]), min_size=1, max_size=8),
)
def test_walks_from_arrays(p: list[float], q: list[float], grades: list[int]) -> None:
    text = amble.parse(f"PH(p='{','.join(map(repr, p))}',q='{','.join(map(repr, q))}',loss=0)")
    arrays = amble.parse("PH(loss=0)").with_value("p", np.array(p)).with_value("q", tuple(q))
    assert (arrays, arrays.values["p"]) == (text, tuple(p))
    assert arrays.value(grades) == text.value(grades)
    assert amble.parse(str(text)).values == text.values
    by_grade = dict(enumerate(p))
    spelled = ",".join(f"{grade}={x!r}" for grade, x in by_grade.items())
    assert amble.parse("PH").with_value("p", by_grade).value(grades) == amble.parse(f"PH(p='{spelled}')").value(grades)


def test_by_hand() -> None:
    # V = 1, 1/2, 1/8, ...: the sum is 1 + (1/2) / (1 - 1/4) = 5/3; gains at ranks 1 and 3: (1 + 1/8) / (5/3)
    assert amble.parse("CWL").with_value("C", [0.5, 0.25]).value([1, 0, 1]) == pytest.approx(0.675, rel=1e-14)
    # gains 3 and 9: (3 + 9 / log2(3)) / (9 + 3 / log2(3))
    ndcg = amble.parse("nDCG").with_value("gains", {1: 3, 2: 9}).value([1, 2])
    assert ndcg == pytest.approx((3 + 9 / np.log2(3)) / (9 + 3 / np.log2(3)), rel=1e-14)
    # two found of two, one other: 2 x 2 - 1
    assert amble.parse("Utility").with_value("weights", [2, -1, 0, 0]).value([1, 0, 1]) == 3
    # she goes on with probability 1 and stops after two of two: (1 + 0) / 2^2
    walk = amble.parse("PH(p=1,q=0,loss=0)")
    assert walk.with_value("effort", "h**2").value([1, 0]) == pytest.approx(1 / 4, rel=1e-12)
    assert walk.with_value("effort", lambda h: h**2).value([1, 0]) == pytest.approx(1 / 4, rel=1e-12)


def test_lists_that_change_later_change_nothing() -> None:
    numbers, table = np.array([0.5, 0.25]), {1: 3.0, 2: 9.0}
    m, n = amble.parse("CWL").with_value("C", numbers), amble.parse("nDCG").with_value("gains", table)
    before = m.value([1, 0, 1]), n.value([1, 2]), str(m), str(n)
    numbers[:] = 0.9
    table[1] = 0.0
    assert (m.value([1, 0, 1]), n.value([1, 2]), str(m), str(n)) == before


def test_measures_inside_measures() -> None:
    inner = amble.parse("nDCG(gains='1=3.0')@10")
    m = amble.parse("PerQuery").with_value("of", inner)
    assert str(m) == "PerQuery(of=\"nDCG(gains='1=3')@10\")"
    assert amble.parse(str(m)) == m == amble.parse("PerQuery").with_value("of", "nDCG( gains='1=3' )@10")
    assert m.value([[1, 0], [0, 2]]) == pytest.approx(amble.parse(str(m)).value([[1, 0], [0, 2]]))
    with pytest.raises(MeasureError, match="of='MsM' is a measure of sessions, expected one of lists"):
        amble.parse("PerQuery").with_value("of", amble.parse("MsM"))
    with pytest.raises(MeasureError, match="of=3 is not allowed, expected a measure of lists"):
        amble.parse("PerQuery").with_value("of", 3)


# ---- effort


@pytest.mark.parametrize(
    ("form", "shown"),
    [
        ("h", "h"), ("h+0", "h"), ("h^1", "h"), (" h ", "h"), ("h**1.0", "h"), ("h+2", "h+2"), ("h + 2.50", "h+2.5"),
        ("h^2", "h^2"), ("h**2", "h^2"), ("h ** .3", "h^0.3"), ("sqrt", "sqrt"), ("h**0.5", "sqrt"), ("1", "1"),
        ("log", "log"),
    ],
)  # fmt: skip
def test_formulas_of_effort(form: str, shown: str) -> None:
    effort = Effort(form)
    assert (str(effort), repr(effort), show_value(effort)) == (shown, f"Effort({shown!r})", f"'{shown}'")
    assert (effort, hash(effort)) == (Effort(shown), hash(Effort(shown)))
    h = np.array([1.0, 2.0, 7.0])
    assert (Effort(shown)(h) == effort(h)).all()
    assert (pickle.loads(pickle.dumps(effort))(h) == effort(h)).all()
    with pytest.raises(AttributeError):
        effort.power = 3.0  # type: ignore[misc]


@pytest.mark.parametrize("form", ["h***2", "h* *2", "h^", "2", "h-1", "h^2^2", "hh", "h^1_0", "h^٣", "", "exp"])
def test_wrong_formulas(form: str) -> None:
    with pytest.raises(MeasureError, match="^effort .*: expected 'h', 'h\\+' or 'h\\^' and a number"):
        amble.parse("PH").with_value("effort", form)


# ---- what no text can spell


def cube(h: Any) -> Any:
    return h**3


def test_functions_print_a_digest_that_is_refused() -> None:
    m = amble.parse("PH").with_value("effort", cube)
    shown = str(m.values["effort"])
    assert str(m) == f"PH(effort={shown})"
    assert m == amble.parse("PH").with_value("effort", Effort(cube))
    assert m.value(GRADES) == pytest.approx(amble.parse("PH(effort='h^3')").value(GRADES), rel=1e-12)
    assert m != amble.parse("PH(effort='h^3')")
    assert plain_parameters(m)["effort"] == shown
    assert pickle.loads(pickle.dumps(m.values["effort"])) == m.values["effort"]
    with pytest.raises(MeasureError) as error:
        amble.parse(str(m))
    assert str(error.value) == (f"'{m}': {shown} is an object that no text can spell; in Python, give it itself")


def test_called_as_objects() -> None:
    from amble.measures import CWL, PH, PerQuery, nDCG

    assert PH(p=[0.6, 0.5]) == amble.parse("PH(p='0.6,0.5')")
    assert PH(p={0: 0.6, 1: 0.3}).value(GRADES) == amble.parse("PH(p='0=0.6,1=0.3')").value(GRADES)
    assert CWL([0.5, 0.25]) == CWL(C=np.array([0.5, 0.25])) == amble.parse("CWL('0.5,0.25')")
    assert nDCG(gains={1: 3, 2: 9}) @ 10 == amble.parse("nDCG(gains='1=3,2=9')@10")
    assert PerQuery(of=nDCG @ 10) == amble.parse("PerQuery(of='nDCG@10')")
    with pytest.raises(MeasureError, match="is an object that no text can spell"):
        amble.parse(f"PH({PH(effort=cube).values['effort']})")


def power(of: float) -> Callable[[Any], Any]:
    return lambda h: h**of


def test_digests() -> None:
    def counted(n: int) -> int:
        return 1 if n == 0 else counted(n - 1)

    class Odd:
        def __reduce__(self) -> Any:
            raise RuntimeError("never")

    model = FittedModel("rbp", "rbp", {"p": Estimate(0.8, 0.7, 0.9, 50)}, "clicks")
    odd = Odd()
    different = [
        np.eye(2), np.eye(3), np.eye(2, dtype=np.float32), power(2), power(3), cube, np.sqrt, counted, odd, Odd(),
        model, (), [], ((),), {1: 2}, {2: 1}, {1, 2}, None, "None", 1, 1.0, functools.partial(max, 1),
        lambda h, k=1: h, lambda h, k=2: h,
    ]  # fmt: skip
    found = [digest("x", content) for content in different]
    assert len(set(found)) == len(different)
    assert found == [digest("x", content) for content in different]
    assert digest("x", power(2)) == digest("x", power(2))
    word = "".join(["a", "b"])  # equal, not the same
    assert digest("x", ["ab", "ab"]) == digest("x", [word, "ab"])
    assert digest("x", dataclasses.replace(model)) == digest("x", model)
    for text in found:
        with pytest.raises(MeasureError, match=f"^'X\\(x={text}\\)': {text} is an object that no text can spell"):
            parse_call(f"X(x={text})")


# ---- fitted users


ORIGIN = Origin(["log.tsv"], "table", 300, 1800, 1500)


def estimate(value: Any, draws: Any = None, **more: Any) -> Estimate:
    numbers = np.array(value, np.float64)
    return Estimate(numbers, numbers * 0.9, numbers, np.full(numbers.shape, 50), draws=draws, **more)


MATRIX = Estimate([[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]], None, None, [50, 50, 50], concentration=[50, 50, 50])
MODELS = {
    "walk": {"p": estimate(0.5, [0.4, 0.6]), "q": estimate(0.25, [0.2, 0.3])},
    "walk-rank": {"p": estimate([0.6, 1 / 3]), "q": estimate([0.0, 0.1]), "start": estimate([0.75, 0.25])},
    "walk-grade": {"p": estimate([0.7, 0.3], grades=(0, 1)), "q": estimate(0.25)},
    "rbp": {"p": estimate(0.7, [0.5, 0.6, 0.9])},
    "insq": {"T": estimate(2.5)},
    "inst": {"T": estimate(1.5)},
    "continuation": {"C": estimate([0.5, 1 / 7])},
    "markov": {"P": MATRIX},
    "times": {"mu": estimate([1.0, 1 / 3, 0.25])},
}
FITTED = Fitted(ORIGIN, [FittedModel(name, name.split("-")[0], found, "clicks") for name, found in MODELS.items()])


@pytest.fixture
def fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    amble.write_fit("fit.toml", FITTED)
    return "fit.toml"


@pytest.mark.parametrize(
    ("name", "key", "model"),
    [
        ("PH", "user", "walk"), ("PH", "user", "walk-rank"), ("PH", "user", "walk-grade"), ("RBP", "user", "rbp"),
        ("GRBP", "user", "rbp"), ("INSQ", "user", "insq"), ("INST", "user", "inst"), ("CWL", "user", "continuation"),
        ("MP", "user", "markov"), ("MP", "rates", "times"),
    ],
)  # fmt: skip
def test_fitted_users_from_python(fit: str, name: str, key: str, model: str) -> None:
    from_file = amble.parse(f"{name}({key}='fit.toml#{model}')")
    read = amble.read_fit(fit)
    chosen = next(m for m in read.models if m.name == model)
    plain = amble.parse(name)
    forms = [Path(f"fit.toml#{model}"), chosen] + [read] * (model != "walk-rank" and model != "walk-grade")
    for form in forms:
        m = plain.with_value(key, form)
        assert m.value(GRADES, max_grade=2) == from_file.value(GRADES, max_grade=2)  # to the bit
        assert m.written is not None
        value = m.written.values[key]
        kept = pickle.loads(pickle.dumps(value))
        assert (kept, hash(kept), str(kept)) == (value, hash(value), str(value))
        assert not any(x.value.flags.writeable for x in kept.model.estimates.values())
        if isinstance(form, Path):
            assert (str(m), m) == (f"{name}({key}='fit.toml#{model}')", from_file)
            assert amble.parse(str(m)).written.values[key] == value  # type: ignore[union-attr]
        else:
            assert str(m) == f"{name}({key}={value})"
            assert str(value).startswith("<user:")
            with pytest.raises(MeasureError, match="is an object that no text can spell"):
                amble.parse(str(m))
    assert plain.with_value(key, chosen) == plain.with_value(key, pickle.loads(pickle.dumps(chosen)))
    assert amble.measures.parse(plain.with_value(key, chosen)) != from_file


def test_fitted_arrays_are_not_text(fit: str) -> None:
    models = {model.name: model for model in FITTED.models}  # files have ten digits, these have all
    found = amble.parse("PH").with_value("user", models["walk-rank"]).values
    assert found["p"] == (0.6, 1 / 3)
    assert (type(found["p"]), type(found["q"]), type(found["start"])) == (ByRank, ByRank, ByRank)
    assert amble.parse("PH").with_value("user", models["walk-grade"]).values["p"] == ByGrade({0: 0.7, 1: 0.3})
    assert amble.parse("CWL").with_value("user", FITTED).values["C"] == (0.5, 1 / 7, 1 / 7)
    assert amble.parse("MP").with_value("rates", FITTED).values["rates"] == (1.0, 1 / 3, 0.25)
    moves = amble.parse("MP(user='fit.toml')").values["user"]
    assert isinstance(moves, FittedTransitions)
    assert (moves, hash(moves)) == (FittedTransitions(MATRIX.value), hash(FittedTransitions(MATRIX.value)))
    assert moves != FittedTransitions(np.eye(3))
    assert str(moves) == str(pickle.loads(pickle.dumps(moves)))
    for one in (moves, pickle.loads(pickle.dumps(moves))):
        with pytest.raises(ValueError, match="read-only"):
            one.matrix[0, 0] = 1.0


def test_draws_from_python(fit: str) -> None:
    rbp = amble.parse("RBP").with_value("user", FITTED)
    assert [m.values["p"] for m in resampled(rbp, 9)] == [0.5, 0.6, 0.9]
    first, second, _ = resampled(amble.parse("RBP(user='fit.toml')"), 9)
    assert first != second
    assert str(first).startswith("RBP(user=<user:")
    table = amble.fitted_intervals(amble.align({"1": {"a": 1}}, {"x": {"1": {"a": 1.0}}}), rbp)
    assert sorted(table.by_round[0].ravel().tolist()) == pytest.approx([0.1, 0.4, 0.5])


def test_what_fitted_users_refuse(fit: str) -> None:
    walk = FITTED.models[0]
    with pytest.raises(MeasureError, match="found the models walk \\(walk\\), expected one of kind rbp"):
        amble.parse("RBP").with_value("user", walk)
    with pytest.raises(MeasureError, match="expected one of kind times"):
        amble.parse("MP").with_value("rates", walk)
    with pytest.raises(MeasureError, match="user=.* is not allowed, expected the name of a file of `amble fit`"):
        amble.parse("RBP").with_value("user", amble.parse("PH(user='fit.toml')").written.values["user"])  # type: ignore[union-attr]
    with pytest.raises(MeasureError, match=r"p \+ q is 1.2, expected at most 1"):
        amble.parse("PH").with_value(
            "user", FittedModel("w", "walk", {"p": estimate(0.9), "q": estimate(0.3)}, "clicks")
        )
    with pytest.raises(MeasureError, match="user and p: expected one of them"):
        amble.parse("PH(p=0.6)").with_value("user", walk)


def test_what_is_known_of_them(fit: str) -> None:
    from amble.measures.fitted_parameters import describe_fit, fit_files

    by_file, by_fit, by_model = (
        amble.parse("RBP").with_value("user", x) for x in ("fit.toml", FITTED, FITTED.models[3])
    )
    known = "rbp, fitted to 300 sessions of log.tsv: p 0.7 (0.63 to 0.7)."
    assert (describe_fit(by_file), fit_files(by_file)) == (f"fit.toml: {known}", ["fit.toml"])
    assert (describe_fit(by_fit), fit_files(by_fit)) == (known, [])
    assert (describe_fit(by_model), fit_files(by_model)) == ("rbp: p 0.7 (0.63 to 0.7).", [])


# ---- rates


def test_rates(write: Write) -> None:
    path = write("rates.txt", "2\n4\n")
    plain = amble.parse("MP(model='GL_OR_NA')")
    by_list, by_file, by_path = (plain.with_value("rates", x) for x in ([2, 4], path, Path(path)))
    # uniform; times 1/2, 1/4, 1/4; precision 1, 1, 3/4
    spelled = amble.parse("MP(model='GL_OR_NA',rates='2,4')")
    (score,) = {m.value([1, 1, 0, 1]) for m in (by_list, by_file, by_path, spelled)}
    assert score == pytest.approx(1 / 2 + 1 / 4 + 1 / 4 * 3 / 4)
    assert by_file == by_path == amble.parse(str(by_file)) != by_list
    value = by_file.values["rates"]
    assert (list(value), str(value), value == by_path.values["rates"]) == ([2.0, 4.0], path, True)
    assert pickle.loads(pickle.dumps(value)) == value
    assert plain_parameters(by_file)["rates"] == path


# ---- scorers


def test_scorers_have_values_too() -> None:
    text, given_letters = parse_scorer("cosine(weights='ltc.ltc')"), parse_smart("ltc.ltc")
    assert text.values["weights"] == given_letters == SmartWeights(*given_letters)
    assert str(type(text)(weights=given_letters)) == str(text) == "cosine(weights='ltc.ltc')"
    assert str(parse_scorer("cosine(weights='lnc.ltc',base=10)")) == "cosine"
    assert str(parse_scorer("bm25(b=1.0,k1=2)")) == "bm25(k1=2,b=1)"
    for wrong, message in (
        ("bm25(k1=-1)", "bm25: k1=-1 is not allowed, expected a number of at least 0"),
        ("bm25(k1=Beta(8,2))", r"bm25: k1=Beta\(8,2\) is not allowed, expected a number of at least 0"),
        ("bm25(mu=1)", "bm25: unknown parameter 'mu', expected one of k1, b"),
        ("cosine(weights='abc')", "cosine: weights='abc' is not allowed, expected SMART's letters"),
        ("logtf(base='f')", "logtf: base='f' is not allowed, expected a number above 1, or 'e'"),
    ):
        with pytest.raises(AmbleError, match=f"^{message}"):
            parse_scorer(wrong)


# ---- shown


def test_json_has_text(amble_cli: Callable[..., Any]) -> None:
    told = json.loads(amble_cli("list", "--format", "json").stdout)
    defaults = {(m["name"], p["name"]): p["default"] for m in told for p in m["parameters"]}
    assert defaults["CWL", "C"] == "0.8"
    assert defaults["Utility", "weights"] == "1,-1,0,0"
    assert defaults["IPrecAvg", "points"] == "0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"
    assert (defaults["PH", "effort"], defaults["PH", "p"], defaults["AP", "rel"]) == (None, 0.5, 1)
    assert "  C='0.8': " in amble_cli("list", "CWL").stdout


def test_populations_are_values() -> None:
    one = Population("Beta", (8.0, 2.0))
    assert (str(one), show_value(one), pickle.loads(pickle.dumps(one))) == ("Beta(8,2)", "Beta(8,2)", one)
    with pytest.raises(AttributeError):
        one.kind = "Gamma"  # type: ignore[misc]
    assert real(np.float32(0.5)) == 0.5
