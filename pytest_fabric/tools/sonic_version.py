"""SONiC's `show version`: the release of the switch, and the platform that it runs on.

The format is that of `show/main.py` in sonic-net/sonic-utilities.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints
from pytest_fabric.tools.plain import plain
from pytest_fabric.tools.printable import printable
from pytest_fabric.tools.sonic_complaints import KNOWN

LINE = re.compile(r"([A-Z][A-Za-z ]{1,40}): ?(.*)")

#: What follows the last fact: a text without it is cut off.
END = "Docker images:"


@dataclass(frozen=True)
class Version:
    """What a switch runs; None is what it does not tell."""

    version: str
    kernel: str | None
    platform: str | None
    hwsku: str | None
    asic: str | None
    serial: str | None


def command() -> tuple[str, ...]:
    """Return the command line."""
    return ("show", "version")


def parse(text: str) -> Version:
    """Return what the switch runs.

    Raises ToolError when the switch complains, NotRecognisedError for any other text.
    """
    complaints.check(text, KNOWN)
    head, end, _ = text.partition(f"\n{END}\n")
    matches = [LINE.fullmatch(line.strip()) for line in head.split("\n") if line.strip()]
    facts = {match[1]: match[2].strip() for match in matches if match is not None}
    if not end:
        raise NotRecognisedError(f"expected {END!r} behind the facts, found none: it is cut off")
    if None in matches or len(facts) != len(matches):
        raise NotRecognisedError("expected lines of one fact each, each once")
    version = facts.get("SONiC Software Version", "")
    if not version:
        raise NotRecognisedError("expected the line SONiC Software Version, found none")
    told = {name: printable(value) for name, value in facts.items() if value not in ("", "N/A")}
    return Version(
        version=printable(version),
        kernel=told.get("Kernel"),
        platform=told.get("Platform"),
        hwsku=told.get("HwSKU"),
        asic=told.get("ASIC"),
        serial=told.get("Serial Number"),
    )


def records(text: str) -> list[dict[str, object]]:
    """Return the switch as one record."""
    return [plain(parse(text))]
