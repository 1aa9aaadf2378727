"""All measures, a module for each family; importing it declares them in the order of tables and help."""

# ruff: noqa: I001
from amble.measures.catalogue import (
    classic,
    list_based,
    cwl,
    graded,
    markov_precision,
    sessions_novelty,
    sessions_expected,
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
