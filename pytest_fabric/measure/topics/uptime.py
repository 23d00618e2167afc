"""For how long a node has been up, in seconds."""

from __future__ import annotations

import re

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.measure.topics import heard
from pytest_fabric.measure.topics.heard import Heard, Outcomes

PATH = "/proc/uptime"
COMMAND = ("cat", PATH)


def read(outcomes: Outcomes) -> Heard[float]:
    """Return what the section `uptime` says."""
    return heard.heard(outcomes, "uptime", PATH, parse)


def parse(text: str) -> float:
    """Return the first of two numbers. Raises NotRecognisedError."""
    match = re.fullmatch(r"([0-9]{1,12}(?:\.[0-9]{1,6})?) [0-9.]{1,20}\n", text)
    if match is None:
        raise NotRecognisedError(f"expected for how long the node is up, got {text[:40]!r}")
    return float(match[1])
