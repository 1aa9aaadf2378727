"""Stories of measures: what the user does, of a measure and of every choice of the words that its parameters may be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from amble.errors import AmbleError
from amble.expressions.domains import OneOf
from amble.measures.declaration import Declaration
from amble.measures.fitted_parameters import describe_fit
from amble.measures.list_measure import ListMeasure
from amble.measures.measure import Measure
from amble.measures.session_measure import SessionMeasure

__all__ = ["format_variants", "list_variants", "story_of"]


def story_of(measure: Measure) -> str:
    """The story of a measure's user; the declaration's where parameters change only numbers."""
    does, is_fitted = _story(measure), describe_fit(measure)
    if is_fitted and does == measure.declaration.story:
        return is_fitted
    return " ".join(filter(None, (does, is_fitted)))


def _story(measure: Measure) -> str:
    d = measure.declaration
    if not isinstance(measure, ListMeasure) or not d.is_user or measure.is_population:
        return d.story
    return measure.one_user.story or d.story


def list_variants(d: Declaration) -> Iterator[Measure]:
    """The measures of every choice of words for parameters that take one of a few.

    >>> from amble.measures import REGISTRY
    >>> len(list(list_variants(REGISTRY["MP"])))
    360
    """
    words = {p.name: p.domain.words for p in d.parameters.values() if isinstance(p.domain, OneOf)}
    defaults = {p.name: p.default for p in d.parameters.values()}
    for chosen in product(*words.values()):
        values = defaults | dict(zip(words, chosen, strict=True))
        yield SessionMeasure(d, values, None) if d.of_sessions else ListMeasure(d, values, None)


def format_variants(chosen: Iterable[Declaration], how: str) -> str:
    """The variants of some measures with their stories, as text, JSON or Markdown."""
    chooses = [d for d in chosen if any(isinstance(p.domain, OneOf) for p in d.parameters.values())]
    rows = [(str(m), story_of(m)) for d in chooses for m in list_variants(d)]
    if not rows:
        raise AmbleError("--variants: none of these has words to choose from; MP has")
    if how == "json":
        import json

        return json.dumps([{"measure": name, "story": text} for name, text in rows], indent=1, ensure_ascii=False)
    if how == "markdown":
        return "\n".join(["| measure | story |", "|---|---|", *(f"| `{name}` | {text} |" for name, text in rows)])
    return "\n".join(f"{name}\n  {text}" for name, text in rows)
