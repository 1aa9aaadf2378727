"""The public names: where they are, what type checkers see of them, and how they are called."""

from __future__ import annotations

import importlib
import subprocess
import sys

import api_snapshot
import make_modules
import make_stub
import pytest
import typed_program

import amble


def test_every_name_is_where_the_table_says() -> None:
    assert sum(len(names.split()) for names in amble._PUBLIC.values()) == len(amble._HOMES)  # none is there twice
    for name in [*amble.__all__, *amble._MODULES]:
        assert getattr(amble, name) is not None
    for name, home in amble._HOMES.items():
        assert name in importlib.import_module(f"amble.{home}").__all__
    with pytest.raises(AttributeError, match="module 'amble' has no attribute 'nothing'"):
        _ = amble.nothing


def test_dir_is_complete() -> None:
    code = "import amble; print(*dir(amble))"
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {*amble.__all__, *amble._MODULES, "__version__", "__doc__", "__file__"} <= set(seen)
    assert [name for name in seen if not hasattr(amble, name)] == []
    assert not {"os", "sys", "importlib"} & set(seen)


def test_stubs_are_up_to_date() -> None:
    for path, text in make_stub.stubs().items():
        assert path.read_text(encoding="utf-8") == text, "run: python docs/make_stub.py"


def test_typed_program() -> None:
    # mypy --strict reads it, too: it is among its files in pyproject.toml
    assert typed_program.mean_of_ndcg() == 1.0
    assert typed_program.median_of_rbp() == 2 / 3  # half stop at rank 1 with 1; the best of the others at rank 3
    assert typed_program.written_as_objects() == ["nDCG(gains='exp')@10", "RBP(p=0.73)@20", "MsM(q=0,r=0.1,s=0.3)"]
    assert typed_program.ways_to_call()


def test_interface_is_as_it_was() -> None:
    kept = api_snapshot.FILE.read_text(encoding="utf-8").splitlines()
    assert api_snapshot.snapshot().splitlines() == kept, "if meant, run: python tests/api_snapshot.py write"


def test_table_of_modules_is_up_to_date() -> None:
    text = make_modules.PAGE.read_text(encoding="utf-8")
    assert make_modules.filled(text) == text, "run: python docs/make_modules.py"
