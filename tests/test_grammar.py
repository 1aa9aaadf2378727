"""How measures are written, and what is said when they are written wrong."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.expressions.grammar import parse_call, show_value, split_measures


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("AP", "AP"),
        (" nDCG @ 10 ", "nDCG@10"),
        ("AP()", "AP"),
        ("RBP(p=0.8)", "RBP"),  # the default is not printed
        ("RBP( p = .5 , finite=True )", "RBP(p=0.5,finite=True)"),
        ("P(k=10)", "P@10"),
        ("AP(rel=2.0)@100", "AP(rel=2)@100"),
        ('nDCG(gains="exp")', "nDCG(gains='exp')"),
        ("IPrec@.1", "IPrec@0.1"),
        ("IPrec@0", "IPrec"),
        ("iprec_at_recall_0.10", "IPrec(rule='trec10')@0.1"),
        ("iprec_at_recall.0.10", "IPrec(rule='trec10')@0.1"),
        (" iprec_at_recall_1.00 ", "IPrec(rule='trec10')@1"),
        ("11pt_avg", "IPrecAvg(rule='trec10')"),
        ("DCG(base=2,gains='exp')@5", "DCG(base=2,gains='exp')@5"),
        ("Utility(weights='2,-1,0,0')", "Utility(weights='2,-1,0,0')"),
        ("ERR@2e1", "ERR@20"),
        ("RBP(0.5)", "RBP(p=0.5)"),
        ("RBP(.5, finite=True)@10", "RBP(p=0.5,finite=True)@10"),
        ("RBP(Beta(8,2))", "RBP(p=Beta(8,2))"),
        ("P(10)", "P@10"),
        ("IPrec(0.1)", "IPrec@0.1"),
        ("F(2)@10", "F(beta=2)@10"),
        ("MP(LO_AD_ID)", "MP(model='LO_AD_ID')"),
        ("MP('LO_AD_ID', steps=10)", "MP(model='LO_AD_ID',steps=10)"),
    ],
)
def test_reading_and_writing(text: str, canonical: str) -> None:
    m = amble.parse(text)
    assert str(m) == canonical
    assert amble.parse(canonical) == m
    assert amble.parse(m) is m


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "found the end, expected the name of a measure"),
        ("nDGC@10", "no measure is called nDGC; did you mean nDCG@10 or nsDCG@10?"),
        ("Xyzzy", "`amble list` shows all of them"),
        ("AP(", "found the end, expected a parameter"),
        ("AP)", r"found '\)' at character 3, expected nothing more"),
        ("AP(rel)", "rel has no value, expected one, as in rel=1"),
        ("nDCG(base)", "base has no value, expected one, as in base=10"),
        ("AP(rel 2)", "found '2' at character 8, expected '=' and the parameter's value"),
        ("AP(rel=)", "expected a number, a quoted string"),
        ("AP(2)", r"AP takes no value without a name; did you mean AP@2 or AP\(rel=2\)?"),
        ("nDCG(10)", r"did you mean nDCG@10 or nDCG\(base=10\)?"),
        ("nDCG(exp)", r"did you mean nDCG\(gains='exp'\)?"),
        ("AP(2", r"found the end, expected ',' or '\)'"),
        ("RBP(0.8,0.9)", "found '0.9' at character 9, expected a parameter"),
        ("RBP(finite=True,0.8)", "found '0.8' at character 17, expected a parameter"),
        ("RBP(0.8,p=0.9)", "p is given twice, with its name and without"),
        ("P(3)@4", "k is given twice, in parentheses and after '@'"),
        ("RBP@0.8", r"RBP@0.8 is not allowed, .* after '@'; did you mean RBP\(p=0.8\)?"),
        ("AP(rel=1,rel=2)", "rel is given twice"),
        ("AP(level=2)", "AP has no parameter level, expected rel"),
        ("RBP(p=1)", "RBP: p=1 is not allowed, expected a number between 0 and 1, both excluded"),
        ("RBP(p=0)", "p=0 is not allowed"),
        ("RBP(p='a')", "p='a' is not allowed"),
        ("RBP(p=True)", "p=True is not allowed"),
        ("RBP(finite=1)", "finite=1 is not allowed, expected True or False"),
        ("P@0", "P@0 is not allowed, expected a whole number of at least 1 after '@'"),
        ("P@2.5", "P@2.5 is not allowed"),
        ("P@-3", "P@-3 is not allowed"),
        ("AP@0", "AP@0 is not allowed"),
        ("P(k=3)@4", "k is given twice"),
        ("bpref@10", "bpref takes no '@'"),
        ("IPrec@1.5", "IPrec@1.5 is not allowed, expected a number between 0 and 1, both included"),
        ("nDCG(gains='cubic')", "gains='cubic' is not allowed, expected 'linear'"),
        ("nDCG(gains='1=-3')", "is not allowed"),
        ("DCG(base=1)", "base=1 is not allowed, expected a number above 1"),
        ("Utility(weights='1,2')", "expected a string of 4 numbers"),
        ("AP@10@20", "found '@' at character 6, expected nothing more"),
        ("AP(rel=1e999)", "too large for a double"),
        ("__import__('os').system('true')", r"cannot read \"\.system"),
        ("AP(rel=__import__('os'))", "expected a number, a quoted string"),
        ("AP;P", "cannot read ';P' at character 3"),
        ("AP(rel=0x10)", "cannot read '0x10"),
        ("AP(rel=1_0)", "cannot read '1_0"),
        ("ＡＰ", "cannot read"),
        ("A" * 2000, "a measure of 2000 characters"),
    ],
)
def test_what_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(amble.MeasureError, match=message) as caught:
        amble.parse(text)
    assert "\n" not in str(caught.value)


def test_not_a_string() -> None:
    with pytest.raises(amble.MeasureError, match="3 is of type int, expected the name of a measure"):
        amble.parse(3)  # type: ignore[arg-type]


@given(st.text(max_size=30))
def test_anything_is_read_or_refused(text: str) -> None:
    try:
        m = amble.parse(text)
    except amble.MeasureError:
        return
    assert amble.parse(str(m)) == m


@given(
    st.one_of(
        st.integers(-(10**14), 10**14),
        st.floats(allow_nan=False, allow_infinity=False),
        st.booleans(),
        st.none(),
        st.text(st.characters(blacklist_characters="'\"\\")),
    )
)
def test_values_survive(value: object) -> None:
    call = parse_call(f"AP(x={show_value(value)})")  # type: ignore[arg-type]
    assert call.arguments["x"] == value


def test_splitting() -> None:
    assert split_measures("AP,P@5 nDCG(gains='1=2, 2=3',base=2)") == ["AP", "P@5", "nDCG(gains='1=2, 2=3',base=2)"]
    assert split_measures("") == []


def test_ph_as_its_authors_write_it() -> None:
    assert parse_call("P@H(p=.5)").name == "PH"
