"""Fail if a run is worse than a baseline, or than a number: for continuous integration.

  amble gate qrels.txt new.run --baseline old.run --fail-if nDCG@10
  amble gate qrels.txt new.run --baseline old.run --fail-if "nDCG@10 drops by 5%" --fail-if "AP drops significantly"
  amble gate qrels.txt new.run --fail-if "nDCG@10 < 0.4" --format json

A bare measure fails if it drops significantly; `drops` alone if its mean is lower. Each run that fails is a line, and
the exit code is 3; it is 0 if none does.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace

from amble.cli.options import (
    REGRESSED,
    add_alignment,
    add_gates,
    add_inputs,
    add_output,
    add_plugins,
    add_tests,
    add_threads,
    add_undefined,
    alignment_of,
    baseline_of,
    design_of,
    filter_unjudged_warnings,
    include_baselines,
    refuse,
)
from amble.cli.output import note, provenance, write
from amble.cli.plugins import load_plugins
from amble.errors import AmbleError

__all__ = ["arguments", "run"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add_inputs(add)
    add(
        "--baseline",
        metavar="RUN",
        help="the run that the others are compared with: a file, or the name of one of them",
    )
    add_gates(add)
    add_tests(add, "of differences")
    add("--format", choices=("text", "json"), default="text", help="json: every check, passed or not (default: text)")
    add_alignment(add)
    add_undefined(add)
    add_threads(add)
    add_plugins(add)
    add_output(add)


def run(args: argparse.Namespace) -> int:
    """Evaluate, compare and tell."""
    load_plugins(args)
    filter_unjudged_warnings(args)
    if not args.fail_if:
        raise AmbleError("no gate: expected --fail-if, as in --fail-if 'nDCG@10 drops by 0.01'")
    from amble.evaluation.inputs import parse_measures
    from amble.evaluation.scores import evaluate
    from amble.reporting.gates import parse_gate, pass_through

    design = design_of(args)
    gates = [parse_gate(text, against=args.baseline) for text in args.fail_if]
    if not any(gate.significant for gate in gates):
        refuse(args, "test correction alpha seed rounds", "is of tests: expected a gate that asks for significance")
    include_baselines(args)
    measures = parse_measures(list(dict.fromkeys(gate.measure for gate in gates)))
    scores = evaluate(args.qrels, list(args.runs), measures, undefined=args.undefined, **alignment_of(args))
    if args.baseline is not None:
        design = replace(design, baseline=baseline_of(scores, args, args.baseline))
        if len(scores.runs) < 2:
            raise AmbleError(f"{args.baseline} is the only run, expected another to compare with it")
    outcome = pass_through(scores, gates, design)
    if args.format == "json":
        about = provenance(
            scores.rankings, list(scores.parsed), [args.qrels, *args.runs], {"undefined": args.undefined}
        )
        found = {"passed": not outcome.regressions, "checks": [check.facts for check in outcome.checks]}
        write(json.dumps(found | {"doubts": outcome.doubts, "test": vars(design)} | about, indent=2), args.output)
    elif outcome.regressions or args.output:
        write("\n".join(map(str, outcome.regressions)), args.output)
    for doubt in outcome.doubts:
        print(f"amble: {doubt}", file=sys.stderr)
    note(args, scores.rankings.audit, f"regressions {len(outcome.regressions)} of {len(outcome.checks)}")
    return REGRESSED if outcome.regressions else 0
