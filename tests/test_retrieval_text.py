"""Text becomes terms."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import amble
from amble.retrieval.text_analysis import Analyser


def test_plain_words() -> None:
    plain = Analyser("none")
    assert plain.terms("The Ides of March, 44 BC: caesar_died x-ray 3.5") == [
        *("the", "ides", "of", "march", "44", "bc", "caesar", "died", "x", "ray", "3", "5"),
    ]
    assert plain.terms("don't") == ["don", "t"]
    assert plain.terms(" \t\n.,;") == []


def test_english() -> None:
    # stems by Snowball's English stemmer, as its site shows them: consistency -> consist; stop words of NLTK's list
    english = Analyser("english")
    assert english.terms("The consistency of generalizations isn't Prandtl's") == ["consist", "general", "prandtl"]
    assert english.terms("isn’t Prandtl’s") == ["prandtl"]  # the apostrophe of typographers
    assert Analyser("english", stopwords=False).terms("the flows") == ["the", "flow"]
    assert Analyser("english", stemming=False).terms("the flows") == ["flows"]
    assert Analyser("english", stopwords=["Flows"]).terms("the flows") == ["the"]
    # Porter's first stemmer and its successor differ in "generically": gener and generic
    assert (Analyser("porter").terms("generically"), english.terms("generically")) == (["gener"], ["generic"])


def test_other_languages() -> None:
    assert Analyser("italian").terms("L'acqua delle università è fredda") == ["acqua", "univers", "fredd"]
    assert Analyser("german").terms("Die Straßen der Städte") == ["strass", "stadt"]
    assert Analyser("russian").terms("Пестициды в детском питании") == ["пестицид", "детск", "питан"]
    assert Analyser("French").terms("les bébés") == ["beb"]  # the same by PyStemmer 2.2 and 3.1
    assert Analyser("chinese", stemming=False).terms("嬰兒食品") == ["嬰", "兒", "食", "品"]


def test_unicode() -> None:
    plain = Analyser("none")
    assert plain.terms("CAFÉ cafe\u0301 Ｆｕｌｌ ﬁne") == ["café", "café", "full", "fine"]  # one form of each
    assert plain.terms("हिन्दी भाषा") == ["हिन्दी", "भाषा"]  # vowel signs are parts of words
    assert plain.terms("日本語のテスト 2024年") == ["日", "本", "語", "の", "テスト", "2024", "年"]
    assert plain.terms("naïve—word…x²") == ["naïve", "word", "x2"]


def test_wrong_settings() -> None:
    with pytest.raises(amble.AmbleError, match="language 'klingon' has no stemmer, expected .* english"):
        Analyser("klingon")
    with pytest.raises(
        amble.AmbleError, match="language 'finnish' has no list of stop words, expected words of your own"
    ):
        Analyser("finnish")
    assert Analyser("finnish", stopwords=False).terms("talossa") == ["talo"]
    with pytest.raises(amble.AmbleError, match="expected True, False or a list of words"):
        Analyser("english", stopwords="the")
    with pytest.raises(amble.AmbleError, match="expected a name"):
        Analyser(None)  # type: ignore[arg-type]


@pytest.mark.parametrize("module", ["Stemmer", "bm25s"])
def test_without_the_extra(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(amble.AmbleError, match=r"pip install 'amble-ir\[search\]'; or do without, by language none"):
        Analyser("english")
    assert Analyser("none").terms("plain words need none") == ["plain", "words", "need", "none"]


def test_unicode_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amble.retrieval.text_analysis._FOUND", {})
    monkeypatch.setitem(sys.modules, "regex", None)
    with pytest.raises(amble.AmbleError, match=r"beyond ASCII needs the extra: pip install 'amble-ir\[search\]'"):
        Analyser("none").terms("café")


@given(st.text(max_size=80), st.sampled_from(["none", "english", "italian"]))
def test_settings_are_all_there_is(text: str, language: str) -> None:
    analyser = Analyser(language)
    again = Analyser(**analyser.settings())
    assert again.terms(text) == analyser.terms(text)
    assert again.settings() == analyser.settings()
    words = analyser.words(text)
    assert all(word and not any(c.isspace() for c in word) for word in words)


@given(st.text(st.characters(codec="ascii"), max_size=60), st.booleans())
def test_ascii_is_no_special_case(text: str, english: bool) -> None:
    """The quick way for ASCII finds the same words as the library does."""
    from amble.retrieval.text_analysis import _unicode_words

    analyser = Analyser("english" if english else "none")
    assert analyser.words(text) == _unicode_words(english)(text.lower())


def test_signs_whose_one_form_is_in_capitals() -> None:
    plain = Analyser("none")
    assert plain.terms("Foo™ 20℃ №5") == ["footm", "20", "c", "no5"] == plain.terms("FooTM 20°C No5")
    assert plain.terms("co\N{SOFT HYPHEN}operate") == ["cooperate"]
