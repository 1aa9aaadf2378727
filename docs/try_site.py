"""Open the built site in Chromium: does its search answer what newcomers ask, and is every page whole?

    python docs/try_site.py                   after make pages: the questions, and all pages at two widths; a minute
    python docs/try_site.py --shots FOLDER    also pictures of ten pages, at 390 and 1400 pixels, light and dark

A question is answered if the first hit of the site's search is on the page that is named beside it. A page is whole if
nothing is wider than the window or cut, the console has no error, and nothing is asked of another host. The exit code
is 1 if fewer than 18 questions are answered, or a page is not whole.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, TimeoutError, sync_playwright

SITE = Path(__file__).parent.parent / "site"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
ENOUGH = 18
# text that a drawing cuts, and names at the start of a row that are broken in two
CUT = """() => [...document.querySelectorAll(".map text, td:first-child code")].filter((e) => e.checkVisibility() &&
  (e.closest("svg") ? e.getBoundingClientRect().right > e.closest("svg").getBoundingClientRect().right
    : e.getClientRects().length > 1)).map((e) => e.textContent)"""
PATIENCE = 15_000  # milliseconds for a page

# what newcomers type, and the pages that answer it, any of them
QUESTIONS = {
    "how do I compute MRR": ("measures/classic/",),
    "MAP": ("measures/classic/",),
    "hit rate": ("measures/sets/", "recommender/"),
    "confidence interval": ("compare/",),
    "is the difference significant": ("compare/",),
    "ties": ("ties/",),
    "unjudged documents": ("unjudged/",),
    "nDCG formula": ("measures/classic/",),
    "LaTeX table": ("paper/",),
    "PyTorch": ("arrays/",),
    "recommender": ("recommender/",),
    "CSV qrels": ("reading/",),
    "trec_eval compatible": ("trec_eval/",),
    "install": ("install/",),
    "Windows": ("install/",),
    "which measure": ("which/",),
    "click logs": ("logs/",),
    "diversity": ("intents/",),
    "fairness": ("exposure/",),
    "fail the build": ("gate/",),
}
SHOWN = (
    "",
    "which/",
    "gallery/",
    "orders/",
    "unjudged/",
    "gate/",
    "users/",
    "measures/classic/",
    "cli/",
    "recommender/",
)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


def first_hit(page: Page, question: str) -> str:
    """The address of the first hit of the site's search, from the site's root; empty if there is none."""
    for text in ("", question):
        page.fill("input.md-search__input", text)
        page.dispatch_event("input.md-search__input", "keyup")
        if not text:
            page.wait_for_function("!document.querySelector('.md-search-result__link')")
    hit = page.locator(".md-search-result__link").first
    page.wait_for_timeout(500)
    if not hit.count():
        return ""
    address = str(hit.get_attribute("href"))
    return address.split("?")[0].split("/", 3)[-1] + ("#" + address.split("#")[1] if "#" in address else "")


def ask(page: Page, root: str) -> int:
    """How many questions are answered by the first hit; prints each."""
    page.goto(root)
    page.locator("label.md-search__icon").first.dispatch_event("click")
    page.click("input.md-search__input", force=True)
    page.wait_for_function("document.querySelector('.md-search-result__meta').textContent.includes('Type')")
    answered = 0
    for question, pages in QUESTIONS.items():
        hit = first_hit(page, question)
        good = any(hit.startswith(expected) for expected in pages)
        answered += good
        print(
            f"{'yes' if good else 'NO ':4} {question:32} {hit}" + ("" if good else f"   expected {' or '.join(pages)}"),
            flush=True,
        )
    return answered


def look(page: Page, root: str, wrong: list[str]) -> None:
    """Open every page, and note what is wider than a window of two widths, or does not load; prints how far it is.

    Every page would read the whole index of the search (1 MB) anew, which takes longer than all the rest: it gets an
    empty one.
    """
    empty = json.loads((SITE / "search" / "search_index.json").read_bytes()) | {"docs": []}
    page.route("**/search_index.json", lambda asked: asked.fulfill(json=empty))
    pages = sorted(SITE.rglob("index.html"))
    for done, path in enumerate(pages, 1):
        address = path.parent.relative_to(SITE).as_posix().removeprefix(".")
        try:
            page.goto(f"{root}{address}/" if address else root, timeout=PATIENCE)
            page.add_style_tag(content="* { transition: none !important }")  # the width is asked at once
            for width in (390, 1400):
                page.set_viewport_size({"width": width, "height": 900})
                wide = page.evaluate("document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth")
                if wide > 0:
                    wrong.append(f"{address or 'index'}: {wide} pixels wider than a window of {width}")
                wrong += [f"{address or 'index'}: cut at {width}: {text}" for text in page.evaluate(CUT)]
        except TimeoutError as late:
            wrong.append(f"{address or 'index'}: {late.message.splitlines()[0]}")
        if done % 20 == 0 or done == len(pages):
            print(f"looked at {done} of {len(pages)} pages", flush=True)
    page.unroute("**/search_index.json")


def picture(page: Page, root: str, folder: Path) -> None:
    """Pictures of some pages, whole."""
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in (390, 1400):
            page.set_viewport_size({"width": width, "height": 900})
            for address in SHOWN:
                page.goto(root + address)
                page.wait_for_timeout(200)
                name = address.strip("/").replace("/", "-") or "index"
                page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)


def main() -> int:
    """0 if enough questions are answered and every page is whole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shots", type=Path, help="a folder for pictures")
    parser.add_argument("--search", action="store_true", help="only the questions")
    options = parser.parse_args()
    if not (SITE / "search" / "search_index.json").exists():
        sys.exit("no site: make pages")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    root, wrong = f"http://127.0.0.1:{server.server_port}/", []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=os.environ.get("AMBLE_CHROMIUM", "/usr/bin/chromium"), args=FLAGS
        )
        page = chromium.new_page(viewport={"width": 1400, "height": 900})
        page.on("console", lambda said: wrong.append(f"{page.url}: {said.text}") if said.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
        here = (root, "data:", "blob:")
        page.on("request", lambda asked: None if asked.url.startswith(here) else wrong.append(f"asked: {asked.url}"))
        answered = ask(page, root)
        if not options.search:
            look(page, root, wrong)
        if options.shots:
            picture(page, root, options.shots)
        chromium.close()
    server.shutdown()
    print(f"{answered} of {len(QUESTIONS)} questions answered by the first hit; {len(wrong)} things wrong with pages")
    print("\n".join(wrong))
    return int(answered < ENOUGH or bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
