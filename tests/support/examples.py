"""How many examples a property that costs much gets: few in `make test`, more in longer runs."""

from __future__ import annotations

from hypothesis import settings

_PROFILES = {25: 0.5, 50: 1, 2000: 40}  # by their number of examples: default, all, fuzz


def examples(usual: int) -> int:
    """Return half the usual number in `make test`, all in `make test-all`, 40 times it in fuzz."""
    return round(usual * _PROFILES.get(settings.default.max_examples, 1))
