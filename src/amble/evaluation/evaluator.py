"""An evaluator: judgments, measures and their readers kept, for many runs one after another, as in a training loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

from amble import checks
from amble.errors import AlignError
from amble.evaluation.inputs import DEFAULTS, Measures, for_intents, parse_measures, refuse_idle_costs
from amble.evaluation.scores import Scores, Undefined, scored, scores_of_dictionary, scores_of_ranked
from amble.io.columns import check_columns
from amble.io.trec import Qrels, one_dictionary, read_qrels
from amble.measures import Lists
from amble.measures.list_measure import ListMeasure, of_lists
from amble.rankings.alignment import AlignOptions, align, check_options, threads_for

if TYPE_CHECKING:
    from amble.rankings.score_arrays import Labels

__all__ = ["Evaluator"]

_LISTS = ("depth", "ties", "unjudged", "duplicates", "costs", "columns")  # the options that change what is in a list


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
        if options:
            check_options(self._how)
            threads_for(self._how["threads"], ())
        reading = {name: self._how[name] for name in ("max_line", "columns", "subtopics", "intents")}
        self._named = reading["columns"] = check_columns(reading["columns"])
        self.qrels: Qrels = read_qrels(qrels, **reading)
        self.options: dict[str, Any] = {key: value for key, value in options.items() if key != "intents"}
        if "columns" in options:
            self.options["columns"] = self._named
        usual = all(options.get(name, DEFAULTS[name]) == DEFAULTS[name] for name in _LISTS)
        self._is_plain = usual and undefined == "zero"
        self._labels: Labels | None = None
        self.kept: dict[tuple[Any, ...], Any] = {}  # what follows from the judgments alone, filled as runs are scored

    @classmethod
    def of_arrays(
        cls,
        labels: Any,
        measures: Measures,
        mask: Any = None,
        *,
        undefined: Undefined = "zero",
        ties: Literal["file", "expected"] = "file",
    ) -> Evaluator:
        """An evaluator of arrays of scores, as `amble.from_arrays` takes them: the labels are read once.

        Parameters
        ----------
        labels, mask, ties
            As for `amble.from_arrays`.
        measures, undefined
            As for `evaluate`.

        Examples
        --------
        >>> import amble
        >>> evaluator = amble.Evaluator.of_arrays([[0, 1, 2], [1, 0, 0]], "RR")
        >>> evaluator.evaluate([[0.3, 0.9, 0.7], [0.5, 0.6, 0.1]]).means()  # of every step of a training loop
        array([[0.75]])
        """
        from amble.rankings.score_arrays import Labels

        checks.one_of(ties, ("file", "expected"), "ties", AlignError)
        kept = Labels(labels, mask)
        out = cls(kept.qrels, measures, undefined=undefined)
        out._labels, out.options = kept, {"ties": ties}
        return out

    def evaluate(self, runs: Any) -> Scores:
        """The scores of runs by topic and measure: those of ``amble.evaluate(qrels, runs, measures)``.

        Parameters
        ----------
        runs
            Anything `read_runs` takes: ``{topic: {doc: score}}``, ``{name: run}``, a file, a frame. Of an
            evaluator of arrays: an array of scores, or ``{name: array}``.
        """
        if self._labels is not None:
            return self._scores_of_arrays(self._labels, runs)
        if self._is_plain and (run := one_dictionary(runs)) is not None:
            found = scores_of_dictionary(self.qrels, run, self.measures, self._how, self.kept)
            if found is not None:
                return found
        rankings = align(self.qrels, runs, **self.options)
        self._named.refuse_unmet()
        return scored(rankings, Lists.of_rankings(rankings, self.kept), self.measures, self.undefined)

    def _scores_of_arrays(self, labels: Labels, scores: Any) -> Scores:
        from amble.rankings.score_arrays import align_options

        ties = self.options["ties"]
        if self._is_plain and ties == "file" and not isinstance(scores, Mapping):
            run, ranked = labels.rank(scores, ties)
            found = scores_of_ranked(self.qrels, run, ranked, self.measures, align_options(ties), self.kept)
            if found is not None:
                return found
        rankings = labels.rankings(scores, ties)
        return scored(rankings, Lists.of_rankings(rankings, self.kept), self.measures, self.undefined)
