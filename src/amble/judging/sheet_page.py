"""A judging sheet as an HTML page: it needs only a browser, keeps the grades, and saves them as CSV."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from amble.io import html as pages
from amble.io.trec import grade_text

__all__ = ["render_sheet"]

_BODY = """<header>
<button id="save">Save as CSV</button> <span id="done"></span>
<div>Digits give a grade, the arrow keys go up and down, Delete takes a grade back. Grades are kept in this
browser; save the CSV file when you are done, or before you stop.</div>
</header>
<main></main>
<script id="data" type="application/json">@DATA@</script>"""


def render_sheet(
    rows: Sequence[tuple[str, str]], grades: Mapping[float, str], texts: Mapping[str, str], topics: Mapping[str, str]
) -> str:
    """The HTML page of a sheet: documents by topic, one button per grade.

    Ids and texts are data inside it, never markup: a ``<`` in them cannot end the script.
    """
    named = {doc for _, doc in rows}
    listed = {topic for topic, _ in rows}
    data = {
        "grades": [[grade_text(grade), label] for grade, label in grades.items()],
        "rows": rows,
        "texts": {doc: text for doc, text in texts.items() if doc in named},
        "topics": {topic: text for topic, text in topics.items() if topic in listed},
    }
    text = json.dumps(data)
    data["id"] = hashlib.sha256(text.encode()).hexdigest()[:16]
    style, script = ("\n" + pages.asset("amble.judging", f"sheet.{ending}") for ending in ("css", "js"))
    return pages.page("Judging sheet", style, _BODY.replace("@DATA@", pages.embedded(data)), script)
