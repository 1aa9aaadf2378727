"""The notebooks of the documentation show what runs, and become pages of the site."""

from __future__ import annotations

import copy
import shutil
from pathlib import Path
from types import SimpleNamespace

import make_notebooks
import nbformat
import site_hooks


def test_notebooks_show_what_runs(tmp_path: Path, demo_folder: Path) -> None:
    shutil.copytree(demo_folder, tmp_path / "demo")
    stored = [make_notebooks.read(path) for path in make_notebooks.NOTEBOOKS]
    assert len(stored) == 3
    slow = nbformat.v4.new_code_cell("import time\nprint(1, flush=True)\ntime.sleep(0.3)\nprint(2)")
    done = [*copy.deepcopy(stored), nbformat.v4.new_notebook(cells=[slow])]
    for notebook in done:
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs, cell.execution_count = [], None
    make_notebooks.execute(done, tmp_path)
    assert [output.text for output in done.pop().cells[0].outputs] == ["1\n2\n"]
    for path, was, now in zip(make_notebooks.NOTEBOOKS, stored, done, strict=True):
        for cell, again in zip(was.cells, now.cells, strict=True):
            assert cell == again, f"{path.name}, run: make docs"
        outputs = [output for cell in now.cells for output in cell.get("outputs", [])]
        assert len(outputs) > 3
        assert {output.output_type for output in outputs} <= {"execute_result", "stream"}
        assert "stderr" not in {output.get("name") for output in outputs}  # a warning, say


def test_page_of_a_notebook() -> None:
    data = {"text/plain": ["Table"], "text/html": ["<table>", "</table>"]}
    notebook = {
        "metadata": {"tags": ["Jupyter", "log: a"]},
        "cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "\n", "What it is for."]},
            {
                "cell_type": "code",
                "source": ["print(1)\n", "2"],
                "outputs": [
                    {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
                    {"output_type": "execute_result", "data": {"text/plain": ["2"]}},
                ],
            },
            {"cell_type": "code", "source": ["t"], "outputs": [{"output_type": "execute_result", "data": data}]},
            {"cell_type": "code", "source": ["x = 1"], "outputs": []},
        ],
    }
    assert site_hooks.page_of_notebook(notebook, "own.ipynb") == (
        '---\ntags: ["Jupyter", "log: a"]\n---\n\n'
        "# Title\n\nWhat it is for.\n\n"
        "[Take this notebook](own.ipynb){ download }\n\n"
        "```python\nprint(1)\n2\n```\n\n"
        "``` { .text .output }\n1\n```\n\n"
        "``` { .text .output }\n2\n```\n\n"
        "```python\nt\n```\n\n"
        '<div class="output"><table></table></div>\n\n'
        "```python\nx = 1\n```\n"
    )


def test_links_to_notebooks_lead_to_their_pages() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="index.md"))
    written = "[a](notebooks/a.ipynb), [b](../b_c.ipynb) and [take it](a.ipynb){ download }"
    made = site_hooks.on_page_markdown(written, page=page)
    assert made == "[a](notebooks/a.md), [b](../b_c.md) and [take it](a.ipynb){ download }"
