"""Show the measures: who their user is, what they ask, their parameters, formula and reference.

amble list              all of them, a line each
amble list RBP nDCG     these, in full
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

_FAMILIES = {
    "classic": "Users who walk down and stop",
    "cwl": "Users of the C/W/L framework",
    "counts": "Counts",
    "sets": "The list as a set",
    "curve": "The precision-recall curve",
    "incomplete": "Incomplete judgments",
    "graded": "Graded relevance",
    "yours": "Your own",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("measures", nargs="*", metavar="MEASURE", help="these in full (default: all, a line each)")
    parser.add_argument("--format", choices=("text", "json", "markdown"), default="text", help="(default: %(default)s)")
    parser.add_argument("--bib", action="store_true", help="the BibTeX of their references")
    parser.add_argument("--plugin", metavar="FILE", action="append", default=[], help="file with measures of your own")


def run(args: argparse.Namespace) -> int:
    """Show them."""
    from amble.measures import REGISTRY, parse

    if args.plugin:
        from amble.commands.eval import load_plugin

        for path in args.plugin:
            load_plugin(path)
    chosen = [parse(text).declaration for text in args.measures] or list(REGISTRY.values())
    if args.bib:
        from amble.references import bibliography

        text = bibliography(d.cite for d in chosen)
    elif args.format == "json":
        import json

        text = json.dumps([_facts(d) for d in chosen], indent=1, ensure_ascii=False)
    elif args.format == "markdown":
        text = markdown(chosen)
    elif args.measures:
        text = "\n\n".join(_full(d) for d in chosen)
    else:
        text = _lines(chosen)
    sys.stdout.write(text + "\n")
    return 0


def _question(d: Any) -> str:
    from amble.measures.questions import QUESTIONS

    if d.question is None:
        return "no user: computed from the whole list"
    norm = {"ideal": ", divided by the ideal list's", "relevant": ", divided by the number of relevant documents"}
    return QUESTIONS[d.question] + norm.get(d.norm, "")


def _at(d: Any) -> str:
    if d.at:
        return f"@ sets {d.at}"
    return "@k: looks no further than rank k" if d.is_user else "takes no @"


def _facts(d: Any) -> dict[str, Any]:
    return {
        "name": d.name,
        "family": d.family,
        "story": d.story,
        "formula": d.formula,
        "question": _question(d),
        "at": _at(d),
        "over topics": d.aggregate,
        "parameters": [
            {"name": p.name, "default": p.default, "allowed": p.domain.text, "meaning": p.story}
            for p in d.parameters.values()
        ],
        "reference": d.cite,
    }


def _lines(chosen: list[Any]) -> str:
    out = []
    width = max(len(d.name) for d in chosen)
    for family in dict.fromkeys(d.family for d in chosen):
        out.append(f"{_FAMILIES.get(family, family)}")
        for d in chosen:
            if d.family == family:
                out.append(f"  {d.name:<{width}}  {d.formula or d.story}")
        out.append("")
    out.append("amble list NAME tells more.")
    return "\n".join(out)


def _full(d: Any) -> str:
    from amble.measures.grammar import show_value

    out = [d.name, f"  {d.story}"] + [f"  formula      {d.formula}"] * bool(d.formula)
    out += [
        f"  question     {_question(d)}",
        f"  @            {_at(d)}",
    ]
    out.append(f"  over topics  {d.aggregate}")
    for p in d.parameters.values():
        out.append(f"  {p.name}={show_value(p.default)}: {p.story}; {p.domain.text}")
    if d.cite:
        out.append(f"  reference    {d.cite}")
    return "\n".join(out)


def markdown(chosen: list[Any]) -> str:
    """The documentation's page of measures."""
    from amble.measures.grammar import show_value

    out = [
        "# Measures",
        "",
        "Made from the declarations by `amble list --format markdown`. Write `NAME(parameter=value)@k`; only what",
        "differs from the defaults need be said.",
    ]
    for family in dict.fromkeys(d.family for d in chosen):
        out += ["", f"## {_FAMILIES.get(family, family)}"]
        for d in (d for d in chosen if d.family == family):
            out += ["", f"### {d.name}", "", d.story, ""]
            out += [f"- Formula: {d.formula}"] * bool(d.formula) + [f"- Question: {_question(d)}"]
            out += [f"- {_at(d)}; over topics: {d.aggregate}"]
            out += [f"- `{p.name}={show_value(p.default)}`: {p.story} ({p.domain.text})" for p in d.parameters.values()]
            out += [f"- Reference: `{d.cite}`"] if d.cite else []
    return "\n".join(out)
