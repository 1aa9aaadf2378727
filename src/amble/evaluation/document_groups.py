"""Groups of documents, such as by origin, from a file or a mapping; and the shares of exposure they should have."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from amble.arrays import NDArray
from amble.checks import is_number
from amble.errors import AlignError, ReadError
from amble.io.columns import header_of
from amble.io.rows import read_cells, read_number

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["DocumentGroups", "GroupsOfDocuments", "Target", "Targets", "read_document_groups", "read_targets"]

Array = NDArray[np.float64]
Shares = dict[str, dict[str, float]]  # by document, or topic, and group
GroupsOfDocuments = Mapping[str, str | Collection[str] | Mapping[str, float]] | str | os.PathLike[str]
Target = (
    Literal["equal", "relevance"] | Mapping[str, float] | Mapping[str, Mapping[str, float]] | str | os.PathLike[str]
)

_ROUNDING = 1e-9  # by how much shares may be above 1 in all


def read_document_groups(path: str | os.PathLike[str]) -> Shares:
    """The groups of each document, with its shares, from a file of lines ``doc group`` or ``doc group share``.

    A tab, or blanks, stand between; with a tab, names may have blanks. The first line may be a header. Blank lines and
    those that begin with # are left out.
    """
    out: Shares = {}
    columns = 2
    for where, cells in read_cells(path, ("doc group", "doc group share"), lambda cell: header_of(["topic", cell], {})):
        columns, own = len(cells), out.setdefault(cells[0], {})
        if cells[1] in own:
            raise ReadError(f"{where}: document {cells[0]} in group {cells[1]} again, expected once")
        own[cells[1]] = _share(where, cells[2]) if columns == 3 else 1.0
        if columns == 3 and sum(own.values()) > 1 + _ROUNDING:
            found = f"shares of document {cells[0]} that add up to {sum(own.values()):g}"
            raise ReadError(f"{where}: {found}, expected at most 1; without shares, it has the same in each group")
    return out if columns == 3 else _alike(out)


def _share(where: str, text: str, most: float = 1.0) -> float:
    try:
        value = read_number(text, "share")
    except ValueError as error:
        raise ReadError(f"{where}: {error}") from None
    if not 0 <= value <= most:
        raise ReadError(f"{where}: share {value:g}, expected a number from 0{' to 1' if most == 1 else ' on'}")
    return value


def _alike(groups: Mapping[str, Collection[str]]) -> Shares:
    """The same share in each of its groups for every document."""
    return {doc: dict.fromkeys(own, 1.0 / len(own)) for doc, own in groups.items() if own}


class DocumentGroups:
    """Documents in groups, each with its share in each of its groups.

    Attributes
    ----------
    names : tuple of str
        The groups, in the order in which they were named; then that of documents in no other, if there is one, and
        groups that need not have a document.
    docs : list of str

    Examples
    --------
    >>> groups = DocumentGroups.of({"a": "north", "b": ["north", "south"]}, "unknown")
    >>> groups.names
    ('north', 'south', 'unknown')
    >>> groups.shares_of(["b", "a", "x"]).toarray()
    array([[0.5, 0.5, 0. ],
           [1. , 0. , 0. ],
           [0. , 0. , 1. ]])
    """

    def __init__(self, shares: Shares, unknown: str | None = None, more: Iterable[str] = ()) -> None:
        names = dict.fromkeys(group for own in shares.values() for group in own)
        self.names = tuple(names | ({} if unknown is None else {unknown: None}) | dict.fromkeys(more))
        self.docs, self._shares, self._unknown = list(shares), shares, unknown

    @classmethod
    def of(cls, groups: GroupsOfDocuments, unknown: str | None = None, more: Iterable[str] = ()) -> DocumentGroups:
        """Groups from a file, or a mapping of documents to a group, to several, or to shares of groups.

        ``unknown`` is a group for documents in no other, and ``more`` are groups that need not have a document.
        """
        if isinstance(groups, str | os.PathLike):
            return cls(read_document_groups(groups), unknown, more)
        if not isinstance(groups, Mapping) or not groups:
            raise AlignError(
                f"groups={groups!r:.60}, expected {{doc: group}}, {{doc: [group]}}, {{doc: {{group: share}}}}, or a "
                "file of lines: doc group"
            )
        out: Shares = {}
        for doc, own in groups.items():
            if isinstance(own, Mapping):
                out[str(doc)] = _checked(f"document {doc}", own, 1.0)
                if sum(out[str(doc)].values()) > 1 + _ROUNDING:
                    raise AlignError(f"groups: shares of document {doc} add up to more than 1")
            else:
                several = [own] if isinstance(own, str) or not isinstance(own, Iterable) else list(own)
                if not all(isinstance(group, str | int | np.integer) for group in several):
                    raise AlignError(f"groups: found {own!r:.60} for document {doc}, expected a name, or several")
                out |= _alike({str(doc): list(dict.fromkeys(map(str, several)))})
        return cls(out, unknown, more)

    @cached_property
    def _matrix(self) -> csr_array:
        """Documents x groups, and a last row for documents that are not here."""
        from scipy.sparse import csr_array

        place = {name: g for g, name in enumerate(self.names)}
        entries: list[tuple[int, int, float]] = []
        for d, own in enumerate([*self._shares.values(), {}]):
            entries += [(d, place[group], share) for group, share in own.items()]
            if self._unknown is not None:
                entries.append((d, place[self._unknown], max(0.0, 1.0 - sum(own.values()))))
        rows, columns, data = zip(*entries, strict=True) if entries else ((), (), ())
        return csr_array((data, (rows, columns)), shape=(len(self.docs) + 1, len(self.names)), dtype=np.float64)

    @cached_property
    def _place(self) -> dict[str, int]:
        return {doc: d for d, doc in enumerate(self.docs)}

    def knows(self, docs: Iterable[str]) -> bool:
        """Whether one of the documents is in a group of its own."""
        return any(doc in self._place for doc in docs)

    def shares_of(self, docs: Sequence[str]) -> csr_array:
        """The shares of documents in the groups: a row for each document, a column for each group."""
        return self._matrix[[self._place.get(doc, len(self.docs)) for doc in docs]]


def read_targets(path: str | os.PathLike[str]) -> dict[str, float] | Shares:
    """The target shares of groups, from a file of lines ``group share`` or ``topic group share``."""
    of_topics: dict[str | None, dict[str, float]] = {}
    heads = ("group", "topic", "qid", "query")
    for where, cells in read_cells(path, ("group share", "topic group share"), lambda cell: cell.lower() in heads):
        topic, (group, share) = (cells[0] if len(cells) == 3 else None), cells[-2:]
        own = of_topics.setdefault(topic, {})
        if group in own:
            raise ReadError(f"{where}: a target of group {group} again, expected one")
        own[group] = _share(where, share, np.inf)
    whole = of_topics.get(None)
    return whole if whole is not None else {str(topic): own for topic, own in of_topics.items()}


class Targets:
    """The shares of exposure that groups should have: the same, by relevance, or as given for all topics or for each.

    Attributes
    ----------
    groups : tuple of str
        The groups that are named, which need not have a document.
    by_relevance : bool

    Examples
    --------
    >>> Targets({"north": 3, "south": 1}).shares(["south", "north"], ["1"])
    array([[0.25, 0.75]])
    """

    def __init__(self, target: Target) -> None:
        is_file = isinstance(target, str | os.PathLike) and target not in ("equal", "relevance")
        self.name = os.fspath(target) if is_file else "target"  # type: ignore[arg-type]
        given: Any = read_targets(target) if is_file else target  # type: ignore[arg-type]
        self.by_relevance = isinstance(given, str) and given == "relevance"
        self._of: dict[str | None, dict[str, float]] = {}
        if isinstance(given, Mapping) and any(isinstance(own, Mapping) for own in given.values()):
            self._of = {str(topic): self._checked(own, f" on topic {topic}") for topic, own in given.items()}
        elif isinstance(given, Mapping) and given:
            self._of = {None: self._checked(given)}
        elif not isinstance(given, str) or given not in ("equal", "relevance"):
            raise AlignError(
                f"target={target!r:.60}, expected equal, relevance, {{group: share}}, {{topic: {{group: share}}}}, or "
                "a file of lines: group share"
            )
        self.groups = tuple(dict.fromkeys(group for own in self._of.values() for group in own))

    def _checked(self, own: Any, where: str = "") -> dict[str, float]:
        if not isinstance(own, Mapping):
            raise AlignError(f"{self.name}: found {own!r:.60}{where}, expected {{group: share}}")
        out = _checked(f"{self.name}{where}", own)
        if not sum(out.values()) > 0:
            raise AlignError(f"{self.name}: all shares{where} are 0, expected some above")
        return out

    def shares(self, groups: Sequence[str], topics: Sequence[str]) -> Array:
        """The target share of each group on each topic, each topic's adding up to 1."""
        if not self._of:
            return np.full((len(topics), len(groups)), 1.0 / max(len(groups), 1))
        out = np.zeros((len(topics), len(groups)))
        for t, topic in enumerate(topics):
            own = self._of.get(None, self._of.get(topic))
            if own is None:
                raise AlignError(f"{self.name}: no target for topic {topic}, expected one for each topic")
            lacking = [group for group in groups if group not in own]
            if lacking:
                where = "" if None in self._of else f" on topic {topic}"
                raise AlignError(
                    f"{self.name}: no share for group {lacking[0]}{where}, expected one, 0 if it is to have none"
                )
            most = max(own.values())  # what is very large would add up to more than floats can hold
            total = sum(share / most for share in own.values())
            out[t] = [own[group] / most / total for group in groups]
        return out


def _checked(what: str, shares: Mapping[Any, Any], most: float = np.inf) -> dict[str, float]:
    """Shares in memory, each a number of at least 0."""
    for group, share in shares.items():
        if not is_number(share) or not 0 <= share <= most or share == np.inf:
            bound = " to 1" if most == 1 else " on"
            raise AlignError(f"{what}: share {share!r:.60} of group {group}, expected a number from 0{bound}")
    return {str(group): float(share) for group, share in shares.items()}
