"""Show the measures: their users, questions, parameters, formulas and references.

amble list                  all of them, a line each
amble list --family cwl     those of a family, a line each
amble list RBP nDCG         these, in full
amble list MP --variants    every choice of its words, each with its story
amble list RWBM             names of other programs and of papers are read, too
amble list stopping time    what is no name is looked for in all that is said of measures
"""

from __future__ import annotations

import argparse
from typing import Any

from amble import checks
from amble.cli.options import add_plugins, refuse
from amble.cli.plugins import load_plugins
from amble.errors import MeasureError

_FAMILIES = {
    "classic": "Users who walk down and stop",
    "cwl": "Users of the C/W/L framework",
    "walks": "Users who walk back and forth",
    "intents": "People who mean different things",
    "markov": "Markov Precision",
    "sessions": "Whole sessions",
    "counts": "Counts",
    "sets": "The list as a set",
    "curve": "The precision-recall curve",
    "incomplete": "Incomplete judgments",
    "graded": "Graded relevance",
    "yours": "Your own",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("measures", nargs="*", metavar="MEASURE", help="these in full, or words to find (default: all)")
    parser.add_argument("--family", metavar="NAME", help=f"only these: {', '.join(_FAMILIES)}")
    parser.add_argument("--format", choices=("text", "json", "markdown"), default="text", help="(default: %(default)s)")
    parser.add_argument("--variants", action="store_true", help="every choice of their words, with its story")
    parser.add_argument("--bib", action="store_true", help="the BibTeX of their references")
    add_plugins(parser.add_argument)


def run(args: argparse.Namespace) -> int:
    """Show them."""
    from amble.measures import REGISTRY, parse

    load_plugins(args)
    try:
        chosen = [parse(text).declaration for text in args.measures] or list(REGISTRY.values())
    except MeasureError:
        chosen = [d for d in REGISTRY.values() if all(word.lower() in _words(d) for word in args.measures)]
        args.measures = []
        if not chosen:
            raise
    if args.family is not None:
        known = families(chosen)
        chosen = known[checks.one_of(args.family, known, "--family")]
    if args.bib:
        refuse(args, "format variants", "goes without --bib, which prints BibTeX")
        from amble.references import bibliography

        text = bibliography(d.cite for d in chosen)
    elif args.variants:
        from amble.measures.stories import format_variants

        text = format_variants(chosen, args.format)
    elif args.format == "json":
        import json

        text = json.dumps([_facts(d) for d in chosen], indent=1, ensure_ascii=False)
    elif args.format == "markdown":
        text = markdown(chosen)
    elif args.measures:
        from amble.measures.stories import story_of

        stories = [story_of(parse(text)) for text in args.measures]
        text = "\n\n".join(_full(d, this) for d, this in zip(chosen, stories, strict=True))
    else:
        text = _lines(chosen)
    print(text)
    return 0


# ---- the facts of a measure


def families(chosen: list[Any]) -> dict[str, list[Any]]:
    """Measures by family: amble's own families in their order, then others as they come."""
    found = dict.fromkeys(d.family for d in chosen)
    order = [family for family in dict.fromkeys((*_FAMILIES, *found)) if family in found]
    return {family: [d for d in chosen if d.family == family] for family in order}


def title(family: str) -> str:
    """The heading of a family."""
    return _FAMILIES.get(family, family)


_BETTER = {False: "", True: "; less is better", None: "; neither more nor less is better"}


def _question(d: Any) -> str:
    if d.of_sessions:
        return "a whole session: several queries, each with its list"
    if d.question is None:
        return "no user: computed from the whole list"
    norm = {"ideal": ", divided by the ideal list's", "relevant": ", divided by the number of relevant documents"}
    return str(d.question.text + norm.get(d.norm, ""))


def _at(d: Any) -> str:
    if d.at:
        return f"@ sets {d.at}"
    if d.of_sessions:
        return "@k: the list ends at rank k of each list"
    return "@k: the list ends at rank k" if d.is_user else "takes no @"


def _citation(key: str) -> str:
    """A reference in one line, made from its BibTeX; the key itself where there is none."""
    import re

    from amble.references import read_references

    if key not in read_references():
        return key
    field = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", read_references()[key], re.MULTILINE))
    for name, text in field.items():
        plain = re.sub(r'\\"\{?([aou])\}?', lambda found: {"a": "ä", "o": "ö", "u": "ü"}[found[1]], text)
        field[name] = plain.replace("\\&", "&").replace("\\_", "_").replace("{", "").replace("}", "")
    people = field["author"].split(" and ")
    where = field.get("booktitle") or field.get("journal") or field.get("publisher") or field.get("institution") or ""
    if "volume" in field:
        where += f" {field['volume']}" + (f"({field['number']})" if "number" in field else "")
    if "edition" in field:
        where += f", {field['edition']} edition"
    if "pages" in field:
        where += f", {field['pages'].replace('--', '–')}"
    link = f"https://doi.org/{field['doi']}" if "doi" in field else field.get("howpublished", "")
    who = ", ".join(people[:-1]) + " and " * (len(people) > 1) + people[-1]
    return ". ".join(part for part in (f"{who} ({field['year']})", field["title"], where, link) if part)


def _facts(d: Any) -> dict[str, Any]:
    from amble.expressions.grammar import plain_value

    return {
        "name": d.name,
        "family": d.family,
        "story": d.story,
        "formula": d.formula,
        "question": _question(d),
        "at": _at(d),
        "over topics": d.aggregate,
        "better": "neither" if d.less is None else "less" if d.less else "more",
        "parameters": [
            {"name": p.name, "default": plain_value(p.default), "allowed": p.domain.text, "meaning": p.story}
            for p in d.parameters.values()
        ],
        "reference": d.cite,
    }


def _words(d: Any) -> str:
    """All that is said of a measure, in small letters."""
    return " ".join((*str(_facts(d)).split(), title(d.family), _citation(d.cite))).lower()


# ---- as text


def _lines(chosen: list[Any]) -> str:
    out = []
    width = max(len(d.name) for d in chosen)
    for family, members in families(chosen).items():
        out.append(f"{title(family)} ({family})")
        out += [f"  {d.name:<{width}}  {d.formula or d.story}" for d in members]
        out.append("")
    out.append("amble list NAME shows more.")
    return "\n".join(out)


def _full(d: Any, this: str) -> str:
    from amble.expressions.grammar import show_value

    out = [d.name, f"  {d.story}"] + [f"  this one     {this}"] * (this != d.story)
    out += [f"  formula      {d.formula}"] * bool(d.formula)
    out += [f"  question     {_question(d)}", f"  @            {_at(d)}"]
    out.append(f"  over topics  {d.aggregate}{_BETTER[d.less]}")
    for p in d.parameters.values():
        out.append(f"  {p.name}={show_value(p.default)}: {p.story}; {p.domain.text}")
    if d.cite:
        out.append(f"  reference    {d.cite}")
    return "\n".join(out)


# ---- as Markdown


def entry(d: Any, level: int = 3) -> list[str]:
    """A measure's entry in the documentation, line by line, under a heading of a level."""
    from amble.expressions.grammar import show_value

    out = ["#" * level + f" {d.name}", "", d.story, ""]
    out += [f"- Formula: {d.formula}"] * bool(d.formula) + [f"- Question: {_question(d)}"]
    out += [f"- {_at(d)}; over topics: {d.aggregate}{_BETTER[d.less]}"]
    out += [f"- `{p.name}={show_value(p.default)}`: {p.story} ({p.domain.text})" for p in d.parameters.values()]
    return out + [f"- Reference: {_citation(d.cite)}"] * bool(d.cite)


def markdown(chosen: list[Any]) -> str:
    """The measures as one page, one heading per family."""
    out = ["# Measures", "", "Write `NAME(parameter=value)@k`; only what differs from the defaults need be given."]
    for family, members in families(chosen).items():
        out += ["", f"## {title(family)}"]
        for d in members:
            out += ["", *entry(d)]
    return "\n".join(out)
