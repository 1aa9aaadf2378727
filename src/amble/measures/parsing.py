"""Parsing of measures, such as ``nDCG@10``, with suggestions where a name is unknown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amble.errors import MeasureError
from amble.expressions.aliases import plain_name, similar, translate
from amble.expressions.grammar import parse_call
from amble.measures.arguments import NOTHING, build, suggestion
from amble.measures.declaration import REGISTRY
from amble.measures.list_measure import ListMeasure
from amble.measures.measure import Measure

if TYPE_CHECKING:
    from amble.measures.mixture import Mixture

__all__ = ["parse"]

# patterns, compiled when a mixture is read
_MIXTURE = r"(?s)\s*Mixture\s*\((.{,2000})\)(?:@([0-9]{1,9}))?\s*"
_PLAIN = r"(?a)\w+(\(\w+=[0-9.]+(,\w+=[0-9.]+)*\))?(@[0-9.]+)?"  # numbers only: no file that may change
_MOST = 200  # expressions that are kept
_PART = r"(?s)\s*([^\s:].*?):\s*([-+.0-9eE]+)\s*(?:,|$)"


def parse(text: str | Measure) -> Measure:
    """The measure that an expression names: ``nDCG@10``, ``RBP(p=0.8)``, ``AP(rel=2)``.

    Names are read in any case, and those of other programs mean what they mean there: ``ndcg_cut_10``, ``map``,
    ``MRR@10``.

    Parameters
    ----------
    text : str
        A name, parameters in parentheses, and ``@`` with a rank (or whatever the measure has there). The first
        parameter of a measure may be given without its name, ``RBP(0.8)``.

    Raises
    ------
    MeasureError
        With the allowed values, and expressions that are close.

    Examples
    --------
    >>> import amble
    >>> amble.parse("P@10")
    parse('P@10')
    >>> amble.parse("P_10") == amble.parse("P@10")
    True
    >>> amble.parse("nDGC@10")
    Traceback (most recent call last):
    ...
    amble.errors.MeasureError: 'nDGC@10': no measure is called nDGC; did you mean nDCG@10 or nsDCG@10?
    """
    if not isinstance(text, str):
        if isinstance(text, Measure):
            return text
        raise MeasureError(f"{text!r:.60} is of type {type(text).__name__}, expected the name of a measure")
    known: Measure | None = REGISTRY.parsed.get(text)
    if known is not None:
        return known  # with its reader, which need not be built again
    if mixed := "Mixture" in text and re.fullmatch(_MIXTURE, text):
        mixture = _mixture(text, mixed[1]) if mixed[2] is None else _mixture(text, mixed[1]) @ int(mixed[2])
        return mixture.labelled(" ".join(text.split()))
    ours = translate(text, REGISTRY)
    try:
        call = parse_call(ours)
    except MeasureError as error:
        raise error if ours == text else MeasureError(f"{text!r}, read as {error}") from None
    if call.name not in REGISTRY:
        close = similar(ours, REGISTRY)
        raise MeasureError(
            f"{text!r}: no measure is called {call.name}"
            + (suggestion(filter(_is_measure, close)) or suggestion(close) or "; `amble list` shows all of them")
        )
    d = REGISTRY[call.name]
    kind: type[Measure] = ListMeasure
    if d.of_sessions:
        from amble.measures.session_measure import SessionMeasure

        kind = SessionMeasure
    elif d.of_intents:
        from amble.measures.intent_measure import IntentMeasure

        kind = IntentMeasure
    at = NOTHING if call.at is None else call.at
    found: Measure = build(kind, d, call.unnamed, call.arguments, at, said=f"{text!r}: ")
    found = found.labelled(" ".join(text.split()))
    if d.family != "yours" and len(REGISTRY.parsed) < _MOST and (plain_name(text) or re.fullmatch(_PLAIN, text)):
        REGISTRY.parsed[text] = found
    return found


def _mixture(text: str, inside: str) -> Mixture:
    from amble.measures.mixture import Mixture

    shares: dict[Measure, float] = {}
    at, pattern = 0, re.compile(_PART)
    while at < len(inside):
        part = pattern.match(inside, at)
        try:
            measure, share = (parse(part[1].rstrip()), float(part[2])) if part else (None, 0.0)
        except ValueError as error:
            raise MeasureError(f"{text!r:.60}: {error}") from None
        if part is None or measure is None:
            break
        if measure in shares:
            raise MeasureError(f"{text!r:.60}: {measure} is given twice")
        shares[measure] = share
        at = part.end()
    if not shares or at < len(inside):
        raise MeasureError(f"{text!r:.60}: expected measures with their shares, as in Mixture(AP:0.3,RBP:0.7)")
    return Mixture(shares)


def _is_measure(text: str) -> bool:
    try:
        parse(text)
    except MeasureError:
        return False
    return True
