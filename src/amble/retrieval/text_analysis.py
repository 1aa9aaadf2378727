"""Text analysis: from text to terms, by tokenisation, lower-casing, stop words and stemming.

A word is a run of letters, marks and digits, in any script. Ideographs and Hiragana, which are written without blanks,
are words of one character each. In English an apostrophe stays inside a word (the stemmer takes a possessive off);
elsewhere it divides, as in *l'acqua*.

The library regex, which knows Unicode, finds the words; stems are Snowball's, by PyStemmer; stop words are the lists of
bm25s. All come with ``pip install 'amble-ir[search]'``. Plain text in ASCII, without a language, needs none of them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

from amble.errors import AmbleError

__all__ = ["Analyser"]

_EXTRA = "the extra: pip install 'amble-ir[search]'"
_ASCII = re.compile(r"[a-z0-9]+")
_ASCII_APOSTROPHE = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")
_APOSTROPHES = ("english", "porter")
_LISTS = {  # language: its list of stop words in bm25s
    "english": "STOPWORDS_EN_PLUS",
    "porter": "STOPWORDS_EN_PLUS",
    **{
        name: f"STOPWORDS_{name.upper()}"
        for name in (
            *("chinese", "danish", "dutch", "french", "german", "italian", "korean", "norwegian", "portuguese"),
            *("russian", "spanish", "swedish", "turkish"),
        )
    },
}


class Analyser:
    """The analysis of text into terms.

    Parameters
    ----------
    language : str
        Whose stemmer and stop words: ``"english"``, ``"italian"``, … (``"porter"`` is Porter's first stemmer of
        English); ``"none"`` for neither.
    stopwords : bool or iterable of str
        Leave out the language's stop words, no words, or these.
    stemming : bool
        Cut words down to their stems.

    Attributes
    ----------
    language : str
    stopwords : frozenset of str
    stemming : bool

    Examples
    --------
    >>> from amble.retrieval.text_analysis import Analyser
    >>> Analyser("none").terms("The Ides of March, 44 BC")
    ['the', 'ides', 'of', 'march', '44', 'bc']
    """

    def __init__(
        self, language: str = "english", stopwords: bool | Iterable[str] = True, stemming: bool = True
    ) -> None:
        if not isinstance(language, str):
            raise AmbleError(f"language {language!r}: expected a name, such as 'english', or 'none'")
        if isinstance(stopwords, str):
            raise AmbleError(f"stopwords {stopwords!r}: expected True, False or a list of words")
        self.language = language.lower()
        plain = self.language == "none"
        self.stemming = bool(stemming) and not plain
        self._stem = _stemmer(self.language) if self.stemming else None
        if isinstance(stopwords, bool):
            words: Iterable[str] = _stop_words(self.language) if stopwords and not plain else ()
        else:
            words = stopwords
        found = [self.words(word) for word in words]
        self.stopwords = frozenset(word[0] for word in found if len(word) == 1)

    def words(self, text: str) -> list[str]:
        """The words of a text, in lower case."""
        apostrophe = self.language in _APOSTROPHES
        if text.isascii():
            return (_ASCII_APOSTROPHE if apostrophe else _ASCII).findall(text.lower())
        # small letters come second, as the one form of a sign may be in capitals; a soft hyphen is no part of a word
        text = unicodedata.normalize("NFKC", text).lower().replace("\N{SOFT HYPHEN}", "")
        if apostrophe:
            text = text.replace("’", "'")
        return list(_unicode_words(apostrophe)(text))

    def terms(self, text: str) -> list[str]:
        """The terms of a text, as an index holds them."""
        return [term for term in map(self.term, self.words(text)) if term is not None]

    def term(self, word: str) -> str | None:
        """The term of a word; None for a stop word."""
        if word in self.stopwords:
            return None
        return word if self._stem is None else self._stem(word)

    def settings(self) -> dict[str, Any]:
        """The arguments that make the same analyser."""
        return {"language": self.language, "stopwords": sorted(self.stopwords), "stemming": self.stemming}

    def __repr__(self) -> str:
        stems = "stems" if self.stemming else "no stems"
        return f"Analyser({self.language}: {len(self.stopwords)} stop words, {stems})"


_FOUND: dict[bool, Callable[[str], list[str]]] = {}


def _unicode_words(apostrophe: bool) -> Callable[[str], list[str]]:
    if apostrophe not in _FOUND:
        try:
            import regex
        except ImportError:
            raise AmbleError(f"text beyond ASCII needs {_EXTRA}") from None
        single = r"\p{Han}\p{Hiragana}"
        run = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{single}]]+"
        inside = rf"(?:'{run})*" if apostrophe else ""
        _FOUND[apostrophe] = regex.compile(rf"[{single}]|{run}{inside}", regex.V1).findall
    return _FOUND[apostrophe]


def _stemmer(language: str) -> Callable[[str], str]:
    try:
        import Stemmer
    except ImportError:
        raise AmbleError(f"stems need {_EXTRA}; or do without, by language none") from None
    known = Stemmer.algorithms(aliases=False)
    if language not in known:
        raise AmbleError(
            f"language {language!r} has no stemmer, expected no stemming, language none, or one of "
            f"{', '.join(sorted(known))}"
        )
    stem: Callable[[str], str] = Stemmer.Stemmer(language).stemWord
    return stem


def _stop_words(language: str) -> Iterable[str]:
    if language not in _LISTS:
        raise AmbleError(
            f"language {language!r} has no list of stop words, expected words of your own, none, or one of "
            f"{', '.join(sorted(_LISTS))}"
        )
    try:
        from bm25s import stopwords
    except ImportError:
        raise AmbleError(f"stop words need {_EXTRA}; or do without, by language none") from None
    words: Iterable[str] = getattr(stopwords, _LISTS[language])
    return words
