"""Equal to pytrec_eval, which compares scores as floats, in every shared measure: what `benchmarks` compares, small."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "agree_pytrec_eval.py"


def test_floats_are_pytrec_evals() -> None:
    pytest.importorskip("pytrec_eval", reason="pytrec_eval is not installed: pip install pytrec-eval-terrier")
    spec = importlib.util.spec_from_file_location("agree_pytrec_eval", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    qrels, run = script.collection(topics=60, seed=1)
    compared, wrong = script.differences(qrels, run, "float32")
    assert compared >= 60 * 81
    assert wrong == []
    # the run has what it is about: as doubles its scores are in another order
    assert len(script.differences(qrels, run, "float64")[1]) > 1000
