"""Self-contained HTML pages that run only their own script and load nothing from the network.

A Content-Security-Policy names the script and the style sheet by their hashes and forbids everything else, whatever a
run, a topic or a document is called.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from typing import Any

__all__ = ["asset", "embedded", "page", "policy"]


def asset(package: str, name: str) -> str:
    """The text of a file in the folder ``assets`` of a package."""
    from importlib import resources

    return resources.files(package).joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def policy(style: str, *scripts: str, workers: bool = False) -> str:
    """The content of a Content-Security-Policy that allows one style sheet and some scripts, if there are any.

    With ``workers`` a script of the page may run in the background what the page itself holds.

    >>> policy("")
    "default-src 'none'; style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; base-uri 'none'; ..."
    """
    run = f"script-src {' '.join(map(_hash, scripts))}; " if any(scripts) else ""
    run += "worker-src blob:; " * workers
    return f"default-src 'none'; {run}style-src {_hash(style)}; base-uri 'none'; form-action 'none'"


def embedded(data: Mapping[str, Any]) -> str:
    """JSON for embedding in a page: nothing in it can end the element that holds it."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def page(title: str, style: str, body: str, *scripts: str, workers: bool = False) -> str:
    """An HTML page of a body that is HTML already; the title is text."""
    run = "".join(f"<script>{script}</script>\n" for script in scripts)
    return f"""<!DOCTYPE html>
<html lang="en" data-theme="auto">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(style, *scripts, workers=workers)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title>
<style>{style}</style>
</head>
<body>
{body}
{run}</body>
</html>"""
