"""The measures within a measure: every choice of the words that its parameters may be, each with its story."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

from amble.errors import AmbleError
from amble.expressions.domains import OneOf
from amble.measures.declaration import Declaration
from amble.measures.fitted_parameters import told as fitted_user
from amble.measures.list_measure import Measure
from amble.users.markov import Wander

__all__ = ["story", "told", "variants"]


def story(measure: Measure) -> str:
    """What this one's user does; the declaration's story where parameters change only numbers."""
    does, is_fitted = _story(measure), fitted_user(measure)
    if is_fitted and does == measure.declaration.story:
        return is_fitted
    return " ".join(filter(None, (does, is_fitted)))


def _story(measure: Measure) -> str:
    d = measure.declaration
    if d.question != "wander" or d.seen or measure.is_population:
        return d.story
    user = d.function(**{key: measure.values[key] for key in measure.own_keys()})
    return user.story if isinstance(user, Wander) else d.story


def variants(d: Declaration) -> Iterator[Measure]:
    """Every choice of the words that must be chosen.

    >>> from amble.measures import REGISTRY
    >>> len(list(variants(REGISTRY["MP"])))
    360
    """
    words = {p.name: p.domain.words for p in d.parameters.values() if isinstance(p.domain, OneOf)}
    defaults = {p.name: p.default for p in d.parameters.values()}
    for chosen in product(*words.values()):
        yield Measure(d, defaults | dict(zip(words, chosen, strict=True)), None)


def told(chosen: Iterable[Declaration], how: str) -> str:
    """The variants of some measures, a line each, or as JSON or Markdown."""
    chooses = [d for d in chosen if any(isinstance(p.domain, OneOf) for p in d.parameters.values())]
    rows = [(str(m), story(m)) for d in chooses for m in variants(d)]
    if not rows:
        raise AmbleError("--variants: none of these has words to choose from; MP has")
    if how == "json":
        import json

        return json.dumps([{"measure": name, "story": text} for name, text in rows], indent=1, ensure_ascii=False)
    if how == "markdown":
        return "\n".join(["| measure | story |", "|---|---|", *(f"| `{name}` | {text} |" for name, text in rows)])
    return "\n".join(f"{name}\n  {text}" for name, text in rows)
