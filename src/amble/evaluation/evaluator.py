"""An evaluator: judgments, measures and their readers kept, for many runs one after another, as in a training loop."""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack, get_args

import numpy as np

from amble import checks
from amble.errors import AlignError
from amble.evaluation.inputs import DEFAULTS, Measures, for_intents, parse_measures, refuse_idle_costs
from amble.evaluation.scores import Scores, Undefined, scored
from amble.io.columns import is_one_run
from amble.io.trec import Qrels, read_qrels, read_runs
from amble.measures import Lists
from amble.measures.list_measure import ListMeasure, of_lists
from amble.rankings.alignment import AlignOptions, align, check_options, gather, threads_for

__all__ = ["Evaluator"]

_LISTS = ("depth", "ties", "unjudged", "duplicates", "costs")  # the options that change what is in a list


class Evaluator:
    """Judgments and measures, ready for runs: `evaluate`, with what does not depend on the run done once.

    Parameters
    ----------
    qrels
        Anything `read_qrels` takes; read once, and what is done to it later changes nothing here.
    measures : str, Measure or a list of them
        As for `evaluate`.
    undefined : {"zero", "skip"}
        As for `evaluate`.
    **options
        As for `align`: depth, missing, ties, unjudged, score_dtype, duplicates, threads, max_line,
        costs, columns, subtopics, intents.

    Attributes
    ----------
    qrels : Qrels
    measures : tuple of Measure

    Examples
    --------
    >>> import amble
    >>> evaluator = amble.Evaluator({"401": {"a": 1}, "402": {"c": 1}}, "RR")
    >>> evaluator.evaluate({"401": {"a": 2.0, "b": 1.0}, "402": {"d": 2.0, "c": 1.0}}).means()
    array([[0.75]])
    >>> evaluator.evaluate({"401": {"a": 1.0, "b": 2.0}, "402": {"d": 2.0, "c": 1.0}}).means()
    array([[0.5]])
    """

    def __init__(
        self, qrels: Any, measures: Measures, *, undefined: Undefined = "zero", **options: Unpack[AlignOptions]
    ) -> None:
        if unknown := set(options) - set(DEFAULTS):
            raise TypeError(f"Evaluator() got an unexpected keyword argument {min(unknown)!r}")
        self.undefined: Undefined = checks.one_of(undefined, get_args(Undefined), "undefined", AlignError)
        self.measures: tuple[ListMeasure, ...] = tuple(of_lists(m) for m in parse_measures(measures))
        if options.get("costs") is not None:
            refuse_idle_costs(self.measures)
        self._how = {**DEFAULTS, **for_intents(self.measures, options)}
        check_options(self._how)
        threads_for(self._how["threads"], ())
        reading = {name: self._how[name] for name in ("max_line", "columns", "subtopics", "intents")}
        self.qrels: Qrels = read_qrels(qrels, **reading)
        self.options: dict[str, Any] = {key: value for key, value in options.items() if key != "intents"}
        plain = undefined == "zero" and all(self._how[name] == DEFAULTS[name] for name in (*_LISTS, "columns"))
        # where grades are not whole, `align` asks whether a run was given in their place
        self._is_plain = plain and bool((self.qrels.grades == np.floor(self.qrels.grades)).all())
        self.kept: dict[tuple[Any, ...], Any] = {}  # what follows from the judgments alone, filled as runs are scored

    def evaluate(self, runs: Any) -> Scores:
        """The scores of runs by topic and measure: those of ``amble.evaluate(qrels, runs, measures)``.

        Parameters
        ----------
        runs
            Anything `read_runs` takes: ``{topic: {doc: score}}``, ``{name: run}``, a file, a frame.
        """
        if self._is_plain and isinstance(runs, dict) and is_one_run(runs):
            found = self._of_one(runs)
            if found is not None:
                return found
        rankings = align(self.qrels, runs, **self.options)
        return scored(rankings, Lists.of_rankings(rankings, self.kept), self.measures, self.undefined)

    def _of_one(self, run: dict[str, Any]) -> Scores | None:
        """The scores of one run in memory, counted when its audit is asked for; None if there is something to say.

        There is where topics count as missing, no document is judged, or a score is no number.
        """
        qrels, runs = self.qrels, read_runs(run)
        ranked = runs[0].rank(qrels, groups=False, score_dtype=self._how["score_dtype"])
        some = len(ranked.lists) < len(qrels.topics)
        if (some and self._how["missing"] == "zero") or not len(ranked.hits):
            return None
        lists = Lists.of_ranked(qrels, ranked, False, self.kept)
        scores = [measure.scores(lists) for measure in self.measures]
        values = np.full((1, len(qrels.topics), len(scores)), np.nan)
        values[0, lists.topic] = np.stack(scores, axis=1)
        if not np.isfinite(values[0, lists.topic] if some else values).all():
            return None
        made = partial(gather, qrels, runs, [ranked], self._how)
        return Scores(made, self.measures, values, names=(("run",), qrels.topics))
