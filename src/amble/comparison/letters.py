"""Significance letters: systems share a letter if, and only if, no significant difference was found between them.

A letter stands for a largest set of systems without a significant difference between any two. Insert and absorb
(Piepho, 2004) arrives at all such sets; with many systems there can be more than 20,000, of which 100 would do. So the
sets are grown where they are needed (Gramm and others, 2007): as long as a pair without a difference shares no letter,
a set starts with it, and takes in system after system, each time the one that brings the most pairs that share none
yet. At last, sets whose pairs all share other letters are taken away.
"""

from __future__ import annotations

import string
from collections.abc import Iterable

import numpy as np

from amble.arrays import Bools

__all__ = ["letter_groups", "letter_name", "letters_of"]

_ALPHABET = string.ascii_lowercase + string.ascii_uppercase


def letter_name(i: int) -> str:
    """The i-th letter, from 0: a to z, A to Z, then a1 to Z1, and so on."""
    turn, place = divmod(i, len(_ALPHABET))
    return _ALPHABET[place] + (str(turn) if turn else "")


def letter_groups(n: int, different: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The systems of each letter, given the pairs with a significant difference; n systems, best first.

    >>> from amble.comparison.letters import letter_groups
    >>> letter_groups(4, [(0, 2), (0, 3), (1, 3)])
    [[0, 1], [1, 2], [2, 3]]
    """
    alike = ~np.eye(n, dtype=bool)
    for i, j in different:
        alike[i, j] = alike[j, i] = False
    bare = alike.copy()  # those with which a system shares no letter yet
    sets = []
    for i in range(n):
        if not alike[i].any():
            sets.append([i])
        while bare[i].any():
            members = _grown([i, int(bare[i].argmax())], alike, bare)
            bare[np.ix_(members, members)] = False
            sets.append(members)
    return sorted(_needed(sets, n))


def _grown(taken: list[int], alike: Bools, bare: Bools) -> list[int]:
    """Take in systems without a difference from any taken, until there are none."""
    may, brings = alike[taken].all(axis=0), bare[taken].sum(axis=0)
    while may.any():
        best = int(np.where(may, brings, -1).argmax())
        taken.append(best)
        may &= alike[best]
        brings += bare[best]
    return sorted(taken)


def _needed(sets: list[list[int]], n: int) -> list[list[int]]:
    """Without the sets whose pairs all share another one, small ones first."""
    shared = np.zeros((n, n), np.int64)
    for members in sets:
        shared[np.ix_(members, members)] += 1
    out = []
    for members in sorted(sets, key=lambda members: (len(members), members)):
        pairs = np.ix_(members, members)
        if (shared[pairs] > 1).all():
            shared[pairs] -= 1
        else:
            out.append(members)
    return out


def letters_of(n: int, different: Iterable[tuple[int, int]]) -> list[str]:
    """The letters of each system.

    >>> from amble.comparison.letters import letters_of
    >>> letters_of(4, [(0, 2), (0, 3), (1, 3)])
    ['a', 'ab', 'bc', 'c']
    """
    out = [""] * n
    for k, group in enumerate(letter_groups(n, different)):
        for i in group:
            out[i] += letter_name(k)
    return out
