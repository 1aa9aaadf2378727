"""Groups of topics, such as short and long queries, from a file or a mapping: which topics each has."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from amble.arrays import Bools
from amble.errors import AlignError, ReadError
from amble.io.columns import header_of
from amble.io.rows import read_cells

__all__ = ["Groups", "TopicGroups", "read_topic_groups", "topic_groups"]

Groups = Mapping[str, str] | str | os.PathLike[str]  # {topic: group}, or a file of lines `topic group`


class TopicGroups(NamedTuple):
    """Topics in groups.

    Attributes
    ----------
    members : dict of str to ndarray of bool
        By group, in the order in which groups were named: which topics are in it. Groups without any are left out.
    outside, unknown : int
        Topics that are scored and in no group; topics of the groups that are not scored.
    item : str
        What is grouped, "topic" or "session".
    """

    members: dict[str, Bools]
    outside: int
    unknown: int
    item: str = "topic"

    @property
    def notes(self) -> list[str]:
        """What became of topics without a group, and of those that are not there."""
        said = ((self.outside, "in no group"), (self.unknown, "of the groups not scored"))
        return [f"{n} {self.item}{'s' * (n != 1)} {what}" for n, what in said if n]


def read_topic_groups(path: str | os.PathLike[str]) -> dict[str, str]:
    """The group of each topic, from a file of lines ``topic group``.

    A tab, or blanks, stand between; with a tab, names may have blanks. The first line may be a header. Blank lines and
    those that begin with # are left out.
    """
    out: dict[str, str] = {}
    for where, (topic, group) in read_cells(path, ("topic group",), _is_header):
        if topic in out:
            raise ReadError(f"{where}: topic {topic} again, expected every topic in one group")
        out[topic] = group
    return out


def _is_header(cell: str) -> bool:
    return header_of([cell, "doc"], {}) or cell.lower() == "session"


def topic_groups(groups: Groups, topics: Sequence[str], item: str = "topic") -> TopicGroups:
    """Which of the topics are in each group.

    >>> found = topic_groups({"301": "short", "302": "long", "999": "long"}, ["301", "302", "303"])
    >>> {name: kept.tolist() for name, kept in found.members.items()}
    {'short': [True, False, False], 'long': [False, True, False]}
    >>> found.notes
    ['1 topic in no group', '1 topic of the groups not scored']
    """
    if not isinstance(groups, Mapping | str | os.PathLike):
        raise AlignError(f"groups={groups!r:.60}, expected {{topic: group}}, or a file of lines: topic group")
    if not isinstance(groups, Mapping):
        groups = read_topic_groups(groups)
    of = {str(topic): str(group) for topic, group in groups.items()}
    mine = np.array([of.get(topic, "") for topic in topics], object)
    inside = np.array([topic in of for topic in topics], bool)
    members = {name: np.asarray(inside & (mine == name), bool) for name in dict.fromkeys(of.values())}
    members = {name: kept for name, kept in members.items() if kept.any()}
    if not members:
        some = ", ".join(list(of)[:3])
        raise AlignError(f"groups: none of their {len(of)} {item}s ({some}…) is among the {len(topics)} scored")
    known = int(inside.sum())
    return TopicGroups(members, len(topics) - known, len(of) - known, item)
