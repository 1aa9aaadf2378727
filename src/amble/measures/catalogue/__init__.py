"""The measures, a file a family: importing it declares them all."""

from amble.measures.catalogue import (
    classic,
    cwl,
    graded,
    list_based,
    markov_precision,
    sessions_expected,
    sessions_novelty,
    sessions_weighted,
    walks,
)

__all__ = [
    "classic",
    "cwl",
    "graded",
    "list_based",
    "markov_precision",
    "sessions_expected",
    "sessions_novelty",
    "sessions_weighted",
    "walks",
]
