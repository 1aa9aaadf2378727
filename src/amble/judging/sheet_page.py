"""A judging sheet as an HTML page: it needs only a browser, keeps the grades, and saves them as CSV."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from amble.io import html as pages
from amble.io.trec import grade_text

__all__ = ["render_sheet"]

_STYLE = """
body { font: 16px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 56rem; padding: 0 1rem 4rem; color: #1b2b2b; }
header { position: sticky; top: 0; background: #fff; padding: .6rem 0; border-bottom: 1px solid #9bb; }
h2 { margin: 1.6rem 0 .3rem; }
article { padding: .7rem; border-bottom: 1px solid #dde5e5; }
article.now { background: #eef7f6; }
.text { white-space: pre-wrap; margin: .3rem 0; }
label { margin-right: 1rem; cursor: pointer; }
button { font: inherit; padding: .2rem .8rem; }
"""

_BODY = """<header>
<button id="save">Save as CSV</button> <span id="done"></span>
<div>Digits give a grade, the arrow keys go up and down, Delete takes a grade back. Grades are kept in this
browser; save the CSV file when you are done, or before you stop.</div>
</header>
<main></main>
<script id="data" type="application/json">@DATA@</script>"""

_SCRIPT = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const key = "amble-sheet-" + data.id;
let said = {};
try { said = JSON.parse(localStorage.getItem(key)) || {}; } catch (error) { said = {}; }
const main = document.querySelector("main");
const articles = [];
let now = 0;

function add(parent, tag, text, className) {
  const made = document.createElement(tag);
  if (text) made.textContent = text;
  if (className) made.className = className;
  parent.appendChild(made);
  return made;
}

function keep() {
  try { localStorage.setItem(key, JSON.stringify(said)); } catch (error) { /* a private window keeps nothing */ }
  document.getElementById("done").textContent = Object.keys(said).length + " of " + data.rows.length + " judged";
}

function look(i) {
  if (i < 0 || i >= articles.length) return;
  articles[now].classList.remove("now");
  now = i;
  articles[now].classList.add("now");
  articles[now].scrollIntoView({ block: "nearest" });
}

function say(i, grade) {
  if (grade === null) delete said[i]; else said[i] = grade;
  for (const input of articles[i].querySelectorAll("input")) input.checked = input.value === grade;
  keep();
}

let topic = null;
data.rows.forEach(function (row, i) {
  if (row[0] !== topic) {
    topic = row[0];
    add(main, "h2", "Topic " + topic);
    if (Object.hasOwn(data.topics, topic)) add(main, "div", data.topics[topic], "text");
  }
  const article = add(main, "article");
  articles.push(article);
  add(article, "strong", row[1]);
  if (Object.hasOwn(data.texts, row[1])) add(article, "div", data.texts[row[1]], "text");
  const line = add(article, "div");
  for (const [grade, name] of data.grades) {
    const label = add(line, "label");
    const input = add(label, "input");
    input.type = "radio";
    input.name = "row" + i;
    input.value = grade;
    input.addEventListener("change", function () { look(i); say(i, grade); });
    label.appendChild(document.createTextNode(" " + grade + (name ? " " + name : "")));
  }
  article.addEventListener("click", function () { look(i); });
  if (said[i] !== undefined) say(i, said[i]);
});

document.addEventListener("keydown", function (event) {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (event.key === "ArrowDown") look(now + 1);
  else if (event.key === "ArrowUp") look(now - 1);
  else if (event.key === "Delete") say(now, null);
  else if (data.grades.some(function (pair) { return pair[0] === event.key; })) { say(now, event.key); look(now + 1); }
  else return;
  event.preventDefault();
});

function cell(text) {
  if (/^'*[=+@\\t\\r\\n-]/.test(text)) text = "'" + text;  // no formula: see amble.judging.sheets
  return /[",;\\t\\r\\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
}

document.getElementById("save").addEventListener("click", function () {
  const lines = ["topic,doc,grade"];
  data.rows.forEach(function (row, i) {
    lines.push(cell(row[0]) + "," + cell(row[1]) + "," + (said[i] === undefined ? "" : said[i]));
  });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([lines.join("\\n") + "\\n"], { type: "text/csv" }));
  link.download = "judgments.csv";
  link.click();
});

keep();
if (articles.length) look(0);
"""


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
    return pages.page("Judging sheet", _STYLE, _BODY.replace("@DATA@", pages.embedded(data)), _SCRIPT)
