"""`ibstatus`: the ports of the RDMA devices, as a shell script reads them from sysfs.

Format: infiniband-diags/scripts/ibstatus. It complains on stdout.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import ib_words
from pytest_fabric.tools.complaints import check

TITLE = re.compile(rf"Infiniband device '({ib_words.NAME})' port ([0-9]{{1,3}}) status:")
KEYS = ("default gid", "base lid", "sm lid", "state", "phys state", "rate", "link_layer")
ENTRY = re.compile(rf"({'|'.join(KEYS)}):\s*(.*)")
RATE = re.compile(r"([0-9]{1,5}(?:\.[0-9])?) Gb/sec \(([0-9]{1,2})X(?: ([A-Z0-9]+))?\)")
LID = re.compile(r"0x[0-9a-f]{1,4}")
GID = re.compile(r"[0-9a-f]{4}(?::[0-9a-f]{4}){7}")
STATE = re.compile(r"[0-9]: *([A-Za-z_ ]+)")


@dataclass(frozen=True)
class PortStatus:
    """A port; `rate_gbps` is the sum of all `width` lanes in Gb/s, `speed` a word such as HDR.

    None is what the kernel does not say; also rate and LIDs of a port that is down, which are those
    of an earlier time. On Ethernet, rate is the nearest one that InfiniBand has.
    """

    device: str
    port: int
    state: str | None
    physical_state: str | None
    rate_gbps: float | None
    width: int | None
    speed: str | None
    lid: int | None
    sm_lid: int | None
    default_gid: str | None
    link_layer: str | None


def command(device: str | None = None) -> tuple[str, ...]:
    """Return the command line that shows every port, or those of one device."""
    return ("ibstatus",) if device is None else ("ibstatus", ib_words.device(device))


def parse(text: str) -> list[PortStatus]:
    """Return the ports in the order in which they are shown.

    Raises ToolError when there is no such device, or none, and NotRecognisedError for any other
    text, also for a port that is not whole.
    """
    check(text, ib_words.COMPLAINTS)
    lines = [line.strip() for line in ib_words.output(text)]
    size = len(KEYS) + 1
    if len(lines) % size:
        raise NotRecognisedError(f"expected {size} lines for each port, got {len(lines)} in all")
    return [_port(lines[start : start + size]) for start in range(0, len(lines), size)]


def _port(lines: list[str]) -> PortStatus:
    title = TITLE.fullmatch(lines[0])
    found = [match.groups() for line in lines[1:] if (match := ENTRY.fullmatch(line))]
    if title is None or [key for key, _ in found] != list(KEYS):
        raise NotRecognisedError(f"expected a whole port of ibstatus, got {lines[0][:80]!r}")
    told = {key: "" if value == "unknown" else value for key, value in found}
    state = _state(told["state"])
    is_down = ib_words.state(state) in ("DOWN", "NOP")
    gid = _matched(GID, told["default gid"])
    rate = RATE.fullmatch(_matched(RATE, told["rate"]))
    if is_down:
        rate = None
    return PortStatus(
        device=title[1],
        port=int(title[2]),
        state=ib_words.state(state),
        physical_state=ib_words.physical_state(_state(told["phys state"])),
        rate_gbps=(float(rate[1]) if "." in rate[1] else int(rate[1])) if rate else None,
        width=int(rate[2]) if rate else None,
        speed=rate[3] if rate else None,
        lid=None if is_down else _lid(told["base lid"]),
        sm_lid=None if is_down else _lid(told["sm lid"]),
        default_gid=gid or None,
        link_layer=ib_words.link_layer(told["link_layer"]),
    )


def _matched(pattern: re.Pattern[str], value: str) -> str:
    """Return a value that has its form, or is empty: the file could not be read."""
    if value and not pattern.fullmatch(value):
        raise NotRecognisedError(f"expected a value of ibstatus, got {value[:80]!r}")
    return value


def _state(value: str) -> str:
    return _matched(STATE, value).partition(":")[2].strip()


def _lid(value: str) -> int | None:
    return ib_words.lid(int(_matched(LID, value), 16)) if value else None


def records(text: str) -> list[dict[str, object]]:
    """Return the ports as plain records."""
    return [asdict(port) for port in parse(text)]
