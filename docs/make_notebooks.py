"""Runs the notebooks of the documentation, and keeps what they show in them: ``python docs/make_notebooks.py``.

All of them run in one kernel, one after another, each with variables of its own. It is reached through sockets in the
folder it works in, not through ports, so that several can run on one machine; and it leaves nothing anywhere else.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from unittest.mock import patch

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from traitlets.config import Config

from amble.cli.demo_collection import make_collection

NOTEBOOKS = sorted((Path(__file__).parent / "notebooks").glob("*.ipynb"))
TIMEOUT = 300


def read(path: Path) -> NotebookNode:
    """A notebook as it is stored."""
    return nbformat.read(path, as_version=4)


def execute(notebooks: Iterable[NotebookNode], folder: Path) -> None:
    """Run notebooks in a folder, and put what they show into them in place of what they held."""
    kernel = {"transport": "ipc", "ip": "socket", "connection_file": str(folder / "kernel.json")}
    own = dict.fromkeys(("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"), str(folder / "kernel"))
    client = NotebookClient(
        nbformat.v4.new_notebook(),
        timeout=TIMEOUT,
        record_timing=False,
        coalesce_streams=True,  # whether a busy machine sends what is printed at once or in parts
        resources={"metadata": {"path": str(folder)}},
        config=Config({"KernelManager": kernel}),
    )
    with contextlib.chdir(folder), patch.dict(os.environ, own), client.setup_kernel():
        for notebook in notebooks:
            client.nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("%reset -f")])
            client.execute_cell(client.nb.cells[0], 0)
            client.nb = notebook
            code = [(i, cell) for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
            for number, (i, cell) in enumerate(code, 1):
                client.execute_cell(cell, i)
                cell.execution_count = number
                for output in cell.outputs:
                    if "execution_count" in output:
                        output.execution_count = number


def main() -> None:
    """Run all notebooks, and write them."""
    notebooks = [read(path) for path in NOTEBOOKS]
    with tempfile.TemporaryDirectory() as folder:
        make_collection(Path(folder) / "demo")
        execute(notebooks, Path(folder))
    for path, notebook in zip(NOTEBOOKS, notebooks, strict=True):
        nbformat.write(notebook, path)


if __name__ == "__main__":
    main()
