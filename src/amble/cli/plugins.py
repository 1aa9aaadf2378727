"""Plugins: Python files that declare measures, loaded for ``--plugin``."""

from __future__ import annotations

import argparse

from amble.errors import AmbleError, MeasureError

__all__ = ["load_plugin", "load_plugins"]


def load_plugins(args: argparse.Namespace) -> None:
    """Load the plugins that --plugin named."""
    for path in args.plugin:
        load_plugin(path)


def load_plugin(path: str) -> None:
    """Run a Python file that declares measures."""
    import runpy

    try:
        runpy.run_path(path, run_name="amble_plugin")
    except AmbleError as error:
        raise MeasureError(f"{path}: {error}") from None
    except OSError as error:
        raise MeasureError(f"{path}: {error.strerror}") from None
    except (Exception, SystemExit) as error:
        raise MeasureError(f"{path}: {type(error).__name__}: {error}") from None
