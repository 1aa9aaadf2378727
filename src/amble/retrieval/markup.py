"""SGML and XML of collections: entries such as ``<DOC>`` or ``<top>``, with tags that may lack an end.

Nothing but the tags of entries has to be in order; inside, a tag that is closed holds all up to its end, and one that
is not, all up to the next tag, as in the topics of TREC.
"""

from __future__ import annotations

import bisect
import html
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from amble.errors import ReadError
from amble.io.files import LONGEST_DOCUMENT

__all__ = ["Entry", "Part", "entries", "parts", "plain", "too_long"]

_TAG = re.compile(r"<(/?)([A-Za-z][\w.:-]*)((?:\s[^<>]*)?)>")
_ATTRIBUTE = re.compile(r"""([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""")
# what is no text, or text as it stands: how it ends, and all of it
_COMMENT = "-->", re.compile(r"<!--.*?-->", re.DOTALL)
_INSTRUCTION = "?>", re.compile(r"<\?.*?\?>", re.DOTALL)
_VERBATIM = "]]>", re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_ENTITY = re.compile(r"&[A-Za-z][\w.-]*;")


class Entry(NamedTuple):
    """A document or a topic as it stands in a file."""

    line: int
    attributes: dict[str, str]
    body: str


class Part(NamedTuple):
    """A tag inside an entry and what it holds; text outside of tags has no tag."""

    tag: str
    attributes: dict[str, str]
    body: str


def _attributes(text: str) -> dict[str, str]:
    return {
        found[1].lower(): html.unescape(next(filter(None, found.groups()[1:]), ""))
        for found in _ATTRIBUTE.finditer(text)
    }


def too_long(where: str, what: str, most: int) -> ReadError:
    """The error for a document or a topic that is too long."""
    return ReadError(f"{where}: the {what} is longer than {most} bytes, the most that max_document allows")


def entries(
    lines: Iterable[tuple[int, str]], names: tuple[str, ...], path: str, most: int = LONGEST_DOCUMENT
) -> Iterator[Entry]:
    """The entries of some names in a file; what stands outside of them is skipped."""
    edge = re.compile(rf"<(/?)({'|'.join(names)})((?:\s[^<>]*)?)>", re.IGNORECASE)
    name, start, number, size = "", 0, 0, 0
    attributes: dict[str, str] = {}
    body: list[str] = []
    for number, line in lines:
        at = 0
        for found in edge.finditer(line) if "<" in line else ():
            tag = found[0].split()[0].rstrip(">") + ">"
            if name and found[2].lower() != name:
                continue
            if not found[1]:
                if name:
                    raise ReadError(
                        f"{path}:{number}: {tag} inside the one of line {start}, expected </{name}> before it"
                    )
                name, start, attributes, body, size = found[2].lower(), number, _attributes(found[3]), [], 0
            elif not name:
                raise ReadError(f"{path}:{number}: {tag} without <{found[2]}> before it")
            else:
                body.append(line[at : found.start()])
                yield Entry(start, attributes, "\n".join(body))
                name = ""
            at = found.end()
        if name:
            body.append(line[at:])
            size += len(line) - at + 1
            if size > most:
                raise too_long(f"{path}:{start}", f"<{name}>", most)
    if name:
        raise ReadError(f"{path}:{start}: <{name}> is not closed before the end of the file (line {number})")


def _replaced(body: str, kind: tuple[str, re.Pattern[str]], by: Callable[[re.Match[str]], str]) -> str:
    """Replace all of a kind; nothing is looked for behind the last end, so that many open ones cost little."""
    end, pattern = kind
    stop = body.rfind(end) + len(end)
    return pattern.sub(by, body[:stop]) + body[stop:] if stop >= len(end) else body


def parts(body: str) -> list[Part]:
    """The outermost tags of an entry.

    >>> [(part.tag, part.body) for part in parts("<num> Number: 401 <title> foreign <b>minorities</b>")]
    [('num', ' Number: 401 '), ('title', ' foreign '), ('b', 'minorities')]
    """
    body = _replaced(body, _VERBATIM, lambda found: html.escape(found[1]))
    for kind in (_COMMENT, _INSTRUCTION):
        body = _replaced(body, kind, lambda found: " ")
    tags = list(_TAG.finditer(body))
    ends: dict[str, list[int]] = {}
    for i, found in enumerate(tags):
        if found[1]:
            ends.setdefault(found[2].lower(), []).append(i)
    out, at, i = [], 0, 0
    while i < len(tags):
        found = tags[i]
        if body[at : found.start()].strip():
            out.append(Part("", {}, body[at : found.start()]))
        if found[1]:  # the end of nothing
            at, i = found.end(), i + 1
            continue
        tag = found[2].lower()
        closing = ends.get(tag, [])
        place = bisect.bisect_right(closing, i)
        if place < len(closing):
            close = closing[place]
            upto, at, i = tags[close].start(), tags[close].end(), close + 1
        else:
            upto = tags[i + 1].start() if i + 1 < len(tags) else len(body)
            at, i = upto, i + 1
        out.append(Part(tag, _attributes(found[3]), body[found.end() : upto]))
    if body[at:].strip():
        out.append(Part("", {}, body[at:]))
    return out


def plain(body: str) -> str:
    """Text without tags, its entities resolved (unknown ones are blanks).

    >>> plain("<p>profit &amp; loss</p> one&hyph;two")
    ' profit & loss  one two'
    """
    text = _TAG.sub(" ", body) if "<" in body else body
    return _ENTITY.sub(" ", html.unescape(text)) if "&" in text else text
