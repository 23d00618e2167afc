"""`sminfo`: the subnet manager of an InfiniBand fabric, asked and never set.

Format: infiniband-diags/sminfo.c.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import ib_words
from pytest_fabric.tools.complaints import check

LINE = re.compile(
    r"sminfo: sm lid ([0-9]{1,5}) sm guid 0x([0-9a-f]{1,16}), activity count ([0-9]{1,10}) "
    r"priority ([0-9]{1,2}) state ([0-9]{1,2}) (?:SMINFO_[A-Z]+|\?\?\?)"
)

STATES = {0: "not_active", 1: "discovering", 2: "standby", 3: "master"}


@dataclass(frozen=True)
class SubnetManager:
    """The manager; its activity count rises while it works."""

    lid: int | None
    guid: str | None
    activity_count: int
    priority: int
    state: str | None


def command(device: str | None = None, port: int = 1) -> tuple[str, ...]:
    """Return the command line that asks the manager of a port's fabric, or of the first port's.

    Raises ValueError for a device or port that is none.
    """
    if device is None:
        return ("sminfo",)
    return ("sminfo", "-C", ib_words.device(device), "-P", ib_words.number("port", port, 255))


def parse(text: str) -> SubnetManager:
    """Return the manager.

    Raises ToolError when there is none or it does not answer, NotRecognisedError for any other
    text.
    """
    check(text, ib_words.COMPLAINTS)
    lines = ib_words.output(text)
    match = LINE.fullmatch(lines[0].strip())
    if match is None or len(lines) > 1:
        raise NotRecognisedError(f"expected 'sminfo: sm lid ...', got {lines[0][:80]!r}")
    return SubnetManager(
        lid=ib_words.lid(int(match[1])),
        guid=ib_words.guid(match[2]),
        activity_count=int(match[3]),
        priority=int(match[4]),
        state=STATES.get(int(match[5])),
    )


def records(text: str) -> list[dict[str, object]]:
    """Return the manager as one plain record."""
    return [asdict(parse(text))]
