"""Write the pages of the measures from their declarations, and the charts of their users.

    python docs/make_pages.py             writes docs/measures/*.md and docs/measures/charts/*.svg
    python docs/make_pages.py --charts    only the charts

The pages are kept in the repository, and the tests compare them with the declarations. The charts are not: they are
made for the build of the site, always the same, and anew if anything has changed that they may depend on. Those of the
gallery, and of pages like it, are drawn by the code that these pages show.
"""

from __future__ import annotations

import contextlib
import doctest
import hashlib
import io
import re
import shlex
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from formulas import FORMULA, KEY, LONG

import amble
import amble.cli.main
from amble.cli.commands.list import entry, families, title
from amble.cli.demo_collection import make_collection
from amble.expressions.aliases import ALIASES, AMBIGUOUS, ENDINGS, PARAMETERS
from amble.measures import REGISTRY
from amble.reporting.charts import plotting
from amble.reporting.charts.chart import Line, user_lines_spec
from amble.users import Question

DOCS = Path(__file__).parent
FOLDER = DOCS / "measures"
DRAWN_BY_PAGES = ("gallery.md", "orders.md")  # pages whose code draws their charts
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IMAGE = re.compile(r"^!\[[^\]]+\]\(measures/charts/(\w+\.svg)\)$", re.MULTILINE)
ENDED = {"-l#": "ranx", "@Rec": "papers and textbooks, of `MP`"}
LENGTH = 100  # documents in the lists on which users are drawn
LISTS = {"nothing relevant": (), "relevant at ranks 1, 3, 6": (1, 3, 6)}

# which users to draw; other measures as they are without parameters
DRAWN = {
    "P": ("P@5", "P@10", "P@20"),
    "R": ("R@5", "R@10", "R@20"),
    "DCG": ("DCG", "DCG(base=2)", "DCG(base=10)"),
    "nDCG": ("nDCG", "nDCG(base=2)", "nDCG(base=10)"),
    "RBP": ("RBP(p=0.5)", "RBP(p=0.8)", "RBP(p=0.95)"),
    "SDCG": ("SDCG@10", "SDCG@20", "SDCG@50"),
    "GRBP": ("GRBP(p=0.5)", "GRBP(p=0.8)", "GRBP(p=0.95)"),
    "INSQ": ("INSQ(T=1)", "INSQ(T=5)", "INSQ(T=5,adaptive=True)"),
    "INST": ("INST(T=1)", "INST(T=5)"),
    "CWL": ("CWL(C='0.9,0.8,0.7,0.6')", "CWL(W='1/(i+1)**1.5')"),
    "BPM": ("BPM(T=2,k=10)", "BPM(T=3,k=20)"),
    "BPMD": ("BPMD(T=2,k=10)", "BPMD(T=3,k=20)"),
    "TBG": ("TBG(h=5)", "TBG(h=20)", "TBG(h=224)"),
    "U": ("U(L=10)", "U(L=50)", "U(L=1000)"),
    "PH": ("PH(p=0.5,q=0.25)", "PH(p=0.8,q=0.1)", "PH(p='0=0.7,1=0.4',q=0.25)"),
    "MP": ("MP(model='GL_AD_ID')", "MP(model='LO_AD_ID')", "MP(model='GL_OR_ID')"),
    "NCP": ("NCP(g=1)", "NCP(g=0.5)"),
    "NERR8": ("NERR8(max_grade=2)@10",),
    "NERR9": ("NERR9(max_grade=2)@10",),
    "NERR10": ("NERR10(p=0.9,max_grade=2)",),
    "NERR11": ("NERR11(T=1,max_grade=2)",),
}

ABOUT = {
    "classic": """\
The measures that everybody knows, seen as users: each walks down a list and stops. [Users](../users.md) explains what
can be computed of them. In this family `P` is expected gain over expected effort, as all of
[the C/W/L framework](cwl.md) are.""",
    "cwl": """\
Users who walk down; the score is expected gain over expected effort, E[T]/E[H]. A gain is a grade divided by the
largest grade of all the judgments; for `RBP` it is 1 or 0. [The C/W/L framework](../cwl.md) has the theory, and what
amble does with tails, costs and unjudged documents. `P` belongs here, too; it is with
[the classic measures](classic.md).""",
    "walks": """\
Users who may go back, look at a document again, and stop anywhere. [Walks](../walks.md) has the theory: exact scores,
the whole distribution of the score over users, and orders of systems by dominance. The classic measures are users of
this kind, too, with `model=`.""",
    "markov": """\
Users who move over a list, back and forth, as a Markov chain, and never stop, and the measure that Markov Precision
grew out of. [Markov Precision](../markov.md) explains them, and what rates, steps and rescaling do.
`amble list MP --variants` describes all 360 variants.

MP's chart has the list with relevant documents at ranks 1, 3 and 6, and other panels than the rest: the share W of the
visits to relevant documents, the share of all visits ("everywhere"), precision, and the residual.""",
    "sessions": """\
Measures of whole sessions: several queries in a row, each with its list. [Sessions](../sessions.md) explains them, and
what `amble session` reads. MsM, sRBP, sINSQ and the expected measures have users who go through a session:
`parse("MsM").user(matrix)`.""",
    "intents": """\
People who mean different things by a query, each with the judgments of one intent (subtopic), and the mean over all of
them. [Intents](../intents.md) explains what each is a population of, and who is left behind.""",
    "counts": "What there is to count. Most of these are summed over topics, not averaged. None is a user.",
    "sets": "The list, or its first documents, as a set: the order within it does not matter. None is a user.",
    "curve": "What can be read off the curve of precision against recall. None is a user.",
    "incomplete": "Measures made for judgments that are known not to be complete. None is a user.",
    "graded": "Measures of graded relevance without a user: they are computed from the whole list at once.",
}

CHARTS = f"""\
Each chart shows users on lists of {LENGTH} documents: the share W of their attention that a rank gets; the probability
1 − C that they stop there, once there; and the residual, the share of attention that goes beyond the rank. All charts
have the same axes, logarithmic down to 0.001. A user who looks at the grades is drawn on two lists: nothing relevant,
and documents of grade 1 at ranks 1, 3 and 6. (The charts are drawn when the site is built; the repository has none.)"""

INDEX = """\
# Measures

One page per family: the story of each measure's user, the question, the parameters and their domains, the reference,
and a chart of the user.

## How to write one

| | |
|---|---|
| `AP` | a name, as `amble list` has it, in any case |
| `nDCG@10` | with @ the list ends at a rank; for some measures @ sets a parameter, as their pages say |
| `RBP(p=0.9)` | parameters: numbers, `'text'`, `True`, `False`, `None`; what is not given has its default |
| `RBP(0.9)` | the first parameter may go without its name, [see below](#the-first-parameter) |
| `AP(rel=2)@100` | both, in this order |
| `RBP(p=Beta(8,2))` | a [population](../cwl.md#populations): the parameter differs from user to user |
| `ndcg_cut_10`, `MRR@10` | [another program's name](#names-of-other-programs), which means what it means there |

Several of them stand with blanks or commas between them. The shell needs quotes around parentheses. In Python every
measure is an object, also one of your own:

```python
>>> from amble.measures import AP, RBP, nDCG
>>> nDCG @ 10, AP(rel=2) @ 100, RBP(p=0.9), (nDCG @ 10)(gains="exp")
(parse('nDCG@10'), parse('AP(rel=2)@100'), parse('RBP(p=0.9)'), parse("nDCG(gains='exp')@10"))
>>> AP.value([1, 0, 1])
0.8333333333333333
>>> import amble
>>> amble.parse("RBP(p=0.90, rel=1)@10") == RBP(p=0.9) @ 10
True
```

A call or an `@` gives another measure and leaves the first as it is. The name in tables, `label`, is what was typed, or
for an object its canonical name, `str`. What is wrong is said in one line:

```python
>>> RBP(p=1.5)
Traceback (most recent call last):
...
amble.errors.MeasureError: RBP: p=1.5 is not allowed, expected a number between 0 and 1, both excluded
>>> amble.parse("nDGC@10")
Traceback (most recent call last):
...
amble.errors.MeasureError: 'nDGC@10': no measure is called nDGC; did you mean nDCG@10 or nsDCG@10?
```

Parameters that many measures have: `rel` is the least grade that counts as relevant, `gains` says how a grade becomes a
gain, `max_grade` is the largest grade there is, `k` the rank to look down to. `CONTRIBUTING.md` shows how to declare a
measure of your own.

### The first parameter

The first parameter that a measure has of its own may go without its name, in text and in Python: `RBP(0.9)`,
`INSQ(5)`, `F(2)`, `P(10)`, `MP(GL_AD_ID)`. It must be what `@` sets, or always have a value: `nDCG(10)` could be a base
or a rank, and `AP(2)` a rank or `rel`, so these ask."""

NAMES = """\
## Names of other programs

A name of another program, or of a paper, is read in any case and means what it means there; # is a number, * a word,
and `_#` may be written `.#`. Names as amble has them come first: `P`, `IPrec@0.1` and `RBP` are amble's, also where
another program has the same name for something else (ir_measures' `RBP` without `rel` is `GRBP`). `AP@k` divides by all
relevant documents, as trec_eval, ranx and BEIR do for their `map`. trec_eval's names for interpolated precision mean
version 10's rule. `amble.parse("ndcg_cut_10").label` is the name that was typed."""

ASKED = "Names that mean different things in different programs, or nothing without a number, are refused:"

# words that people search for, and their page: the search weighs tags most
TAGS = {
    "index": "metrics, formulas",
    "classic": "how to compute MRR, how to compute MAP, nDCG formula, precision@k, MAP, average precision, MRR, "
    "reciprocal rank, nDCG, DCG, ERR, precision at k, recall at k",
    "cwl": "RBP, rank-biased precision, TBG",
    "sets": "hit rate, success at k, F1",
    "curve": "interpolated precision, R-precision, eleven-point precision",
    "incomplete": "bpref",
    "graded": "Q-measure, compatibility",
}

MADE = "<!-- made from the declarations by docs/make_pages.py: change those, not this page -->"


def pages() -> dict[str, str]:
    """The text of every page, by its name."""
    ours = families([d for d in REGISTRY.values() if d.family != "yours"])
    out = {f"{family}.md": "\n".join(_page(family, members)) for family, members in ours.items()}
    out["index.md"] = "\n".join(_index(ours))
    return out


def _page(family: str, members: list[Any]) -> Iterator[str]:
    yield from (*_tags(family), f"# {title(family)}", "", ABOUT[family])
    if family in KEY:
        yield from ("", *textwrap.wrap(f"In the formulas, {KEY[family]}", 120, break_on_hyphens=False))
    if family == "cwl":
        yield from ("", *_set(FORMULA["CWL"]))
    if any(map(drawn, members)):
        yield from ("", CHARTS)
    for d in members:
        heading, blank, *rest = entry(d, 2)
        yield from ("", heading, blank, f"**{LONG[d.name]}**" + _elsewhere(d.name), blank)
        if d.name in FORMULA:
            story, blank, *rest = rest
            yield from (story, blank, *_set(FORMULA[d.name]), blank)
            rest[0] = rest[0].replace("- Formula:", "- In words:")
        yield from rest
        if drawn(d):
            yield from ("", f"![W, 1 − C and the residual of {d.name}, by rank](charts/{d.name}.svg)")
    yield from ("", MADE, "")


def _tags(page: str) -> tuple[str, ...]:
    return ("---", f"tags: [{TAGS[page]}]", "---", "") if page in TAGS else ()


def _set(latex: str) -> tuple[str, ...]:
    """A formula as the site sets it, and GitHub."""
    return ("```math", latex, "```")


def _elsewhere(name: str) -> str:
    """What other programs call a measure."""
    called = {
        program: [f"`{theirs}`" for theirs, ours in rows.items() if ours in (name, f"{name}@#") and theirs != name]
        for program, rows in ALIASES.items()
    }
    return "".join(f" · {program}: {', '.join(names)}" for program, names in called.items() if names)


def _index(ours: dict[str, list[Any]]) -> Iterator[str]:
    yield from (*_tags("index"), INDEX)
    for family, members in ours.items():
        where = f"[In full]({family}.md). On the command line: `amble list --family {family}`."
        yield from ("", f"## {title(family)}", "", where, "", "| measure | | formula |", "|---|---|---|")
        for d in members:
            formula = d.formula.replace("|", "&#124;")
            yield f"| [{d.name}]({family}.md#{d.name.lower()}) | {LONG[d.name]} | {formula} |"
    yield from ("", NAMES, "", "| name | measure | program |", "|---|---|---|")
    programs: dict[str, list[str]] = {}  # each name with the measure first
    for program, rows in ALIASES.items():
        for theirs, measure in rows.items():
            programs.setdefault(theirs.lower(), [theirs, measure]).append(program)
    yield from (f"| `{theirs}` | `{measure}` | {', '.join(of)} |" for theirs, measure, *of in programs.values())
    yield from (f"| `…{ending}` | `{measure}` | {ENDED[ending]} |" for ending, measure in ENDINGS.items())
    yield from (f"| `{theirs}` | `{measure}` | ir_measures |" for theirs, measure in PARAMETERS.items())
    yield from ("", ASKED, "", "| name | is | use |", "|---|---|---|")
    for theirs, unclear in AMBIGUOUS.items():
        name = theirs + {"@": " without @", "(": " without p", "": ""}[unclear.settled]
        yield f"| {name} | {unclear.why} | {', '.join(f'`{measure}`' for measure in unclear.ours)} |"
    yield from ("", MADE, "")


# ---- charts


def drawn(d: Any) -> bool:
    """Whether a measure's user is drawn: those of intents are users of other measures."""
    return d.is_user and not d.of_intents


def people() -> dict[str, Any]:
    """The chart of intents.md: two runs with the same mean, one of which leaves some people with nothing."""
    from amble.reporting.charts.distribution_charts import distribution_spec

    qrels = {"1": {"cat": {"a": 1, "b": 1, "c": 1}, "car": {"d": 1}}, "2": {"band": {"e": 1}, "film": {"e": 1, "f": 1}}}
    cats = {"1": {"a": 9.0, "b": 8.0, "c": 7.0}, "2": {"e": 9.0, "f": 8.0}}
    mixed = {"1": {"a": 9.0, "d": 8.0, "x": 7.0}, "2": {"e": 9.0, "f": 8.0}}
    found = amble.run_distributions(qrels, {"cats": cats, "mixed": mixed}, "P_IA@2")
    return distribution_spec(found, title="P_IA@2")


def press() -> dict[str, Any]:
    """The chart of exposure.md: one ranking that always has the big publisher first, and two that take turns."""
    from amble.reporting.charts.score_charts import group_spec

    qrels = {"1": {"a": 1, "b": 1, "c": 0, "d": 0}, "2": {"e": 1, "f": 1, "g": 0}}
    orders = {"fixed": ("abcd", "efg"), "turn-1": ("badc", "efg"), "turn-2": ("abcd", "feg")}
    runs = {
        run: {t: {doc: -float(i) for i, doc in enumerate(docs)} for t, docs in zip("12", own, strict=True)}
        for run, own in orders.items()
    }
    groups = {doc: "small" if doc in "bdf" else "big" for doc in "abcdefg"}
    return group_spec(amble.exposure(qrels, runs, "RBP(p=0.8)", groups, samples={"turns": "turn-*"}))


def lines(name: str) -> list[Line]:
    """The users to draw for a measure: one line each, two for those who look at the grades."""
    out = []
    for text in DRAWN.get(name, (name,)):
        if REGISTRY[name].question is Question.MARKOV:  # without a relevant document she has nowhere to be
            label, ranks = list(LISTS.items())[-1]
            out.append(Line(text, label, amble.parse(text).user([float(i + 1 in ranks) for i in range(LENGTH)])))
            continue
        users = {
            label: amble.parse(text).user([float(i + 1 in ranks) for i in range(LENGTH)])
            for label, ranks in LISTS.items()
        }
        none, some = users.values()
        if all(
            np.allclose(x[:LENGTH], y[:LENGTH]) for x, y in ((none.visits, some.visits), (none.halting, some.halting))
        ):
            out.append(Line(text, "any list", none))
        else:
            out += [Line(text, label, user) for label, user in users.items()]
    return out


def chart(name: str) -> dict[str, Any]:
    """The chart of a measure's users."""
    return user_lines_spec(lines(name), LENGTH)


def on_page(name: str) -> list[str]:
    """The charts that the code of a page draws, as it shows them."""
    return IMAGE.findall((DOCS / name).read_text(encoding="utf-8"))


def run_page(name: str) -> None:
    """Run the code of a page in this folder, which has the files of `amble demo`: it draws the charts of the page here.

    Charts come without altair, whose checks take longer than all the rest.
    """
    names: dict[str, Any] = {}
    plot, amble.plot = amble.plot, plotting.spec_of
    try:
        for kind, text in BLOCK.findall((DOCS / name).read_text(encoding="utf-8")):
            if kind == "python":
                for example in doctest.DocTestParser().get_examples(text):
                    exec(example.source, names)  # noqa: S102
            for command in re.findall(r"^\$ amble (.*)$", text, re.MULTILINE) if kind == "console" else ():
                with contextlib.redirect_stdout(io.StringIO()):
                    failed = amble.cli.main.main(shlex.split(command))
                if failed:
                    sys.exit(f"{name}: amble {command}: exit code {failed}")
    finally:
        amble.plot = plot


def key() -> str:
    """A digest of all that charts may depend on."""
    import vl_convert

    digest = hashlib.sha256(vl_convert.__version__.encode())
    package = Path(amble.__file__).parent
    sources = (path for path in package.rglob("*") if path.suffix in (".py", ".c", ".h"))
    for path in sorted([*sources, Path(__file__), *(DOCS / name for name in DRAWN_BY_PAGES)]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def main(words: list[str]) -> None:
    """Write the pages, unless only the charts are wanted, and the charts."""
    import vl_convert

    if words not in ([], ["--charts"]):
        sys.exit("expected nothing, or --charts")
    if not words:
        for name, text in pages().items():
            (FOLDER / name).write_text(text, encoding="utf-8")
    charts = FOLDER / "charts"
    made, now = charts / ".key", key()
    if made.exists() and made.read_text() == now:
        return
    charts.mkdir(parents=True, exist_ok=True)
    for d in REGISTRY.values():
        if drawn(d):
            (charts / f"{d.name}.svg").write_text(vl_convert.vegalite_to_svg(chart(d.name)), encoding="utf-8")
    for named in (people, press):
        (charts / f"{named.__name__}.svg").write_text(vl_convert.vegalite_to_svg(named()), encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        make_collection("demo")
        for name in DRAWN_BY_PAGES:
            run_page(name)
            for image in on_page(name):
                shutil.copy(image, charts)
    made.write_text(now)


if __name__ == "__main__":
    main(sys.argv[1:])
