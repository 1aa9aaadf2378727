"""How many examples property tests draw: a few in the daily loop, all of them on request.

``AMBLE_EXAMPLES=all`` draws what each test asks for, ``AMBLE_EXAMPLES=10`` ten times as many; without it a quarter, and
ten at least. In CI the same ones are drawn every time, so that a run that passes passes again.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_ASKED = os.environ.get("AMBLE_EXAMPLES", "")
SHARE = 0.25 if not _ASKED else 1.0 if _ASKED == "all" else float(_ASKED)


def _share(wanted: int) -> int:
    return max(round(wanted * SHARE), min(wanted, 10))


settings.register_profile(
    "amble",
    max_examples=_share(100),
    deadline=None,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],  # other suites may run on this machine
)
settings.load_profile("amble")


def examples(wanted: int) -> settings:
    """Draw so many examples of a test, or the share of them that was asked for."""
    return settings(max_examples=_share(wanted))
