"""Times as they are given on the command line."""

from __future__ import annotations

import re

from pytest_fabric.errors import ConfigError

#: Seconds of the units that a span on the command line may have.
UNITS = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}

#: No run is longer than a year.
LONGEST_S = 366 * 86400.0


def span(option: str, text: str) -> float:
    """Return the seconds that a span such as `90`, `90s`, `30m` or `24h` says."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)\s*([a-z]*)", text.strip(), re.ASCII)
    seconds = float(match[1]) * UNITS.get(match[2], 0) if match else 0.0
    if not 0 < seconds <= LONGEST_S:
        raise ConfigError(f"{option}: expected a time such as 90s, 30m or 24h, got {text!r}")
    return seconds
