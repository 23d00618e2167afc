"""`ibv_devices`: the RDMA devices that libibverbs can use.

The table is empty, and the exit status 0, when there is none or the provider library is missing.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import ib_words
from pytest_fabric.tools.complaints import Known, check

TITLE = re.compile(r"device\s+node GUID")
RULE = re.compile(r"-{6}\s+-{16}")
ROW = re.compile(rf"({ib_words.NAME})\s+([0-9a-f]{{16}})")
KNOWN: Known = (("no_rdma_subsystem", re.compile(r"Failed to get IB devices list")),)


@dataclass(frozen=True)
class VerbsDevice:
    """A device; `node_guid` is None where it is zero."""

    device: str
    node_guid: str | None


def command() -> tuple[str, ...]:
    """Return the command line that lists the devices."""
    return ("ibv_devices",)


def parse(text: str) -> list[VerbsDevice]:
    """Return the devices in the order in which they are listed.

    Raises ToolError without an RDMA subsystem, NotRecognisedError for any other text, also for one
    whose last line is cut off.
    """
    check(text, KNOWN, row=re.compile(r"libibverbs: Warning: .*"))
    lines = [line.strip() for line in ib_words.output(text)]
    if not TITLE.fullmatch(lines[0]) or not RULE.fullmatch("".join(lines[1:2])):
        raise NotRecognisedError(f"expected the table of ibv_devices, got {lines[0][:80]!r}")
    return [_device(line) for line in lines[2:]]


def _device(line: str) -> VerbsDevice:
    match = ROW.fullmatch(line)
    if match is None:
        raise NotRecognisedError(f"expected 'NAME GUID', got {line[:80]!r}")
    return VerbsDevice(match[1], ib_words.guid(match[2]))


def records(text: str) -> list[dict[str, object]]:
    """Return the devices as plain records."""
    return [asdict(device) for device in parse(text)]
