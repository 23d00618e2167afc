"""`mlnx_qos -i DEV`: trust, priorities, PFC and traffic classes of a port of an mlx5 NIC.

Rows are those that python/mlnx_qos of mlnx-tools prints. Old releases write `mode` for `state`,
`up` for `priority`, and list the socket priorities of each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.tools import complaints, names
from pytest_fabric.tools.complaints import Known

PRIORITIES = 8
DSCPS = 64

#: It reports on stdout, and goes on without trust where only that is not supported.
NO_TRUST = re.compile(r"Priority trust (?:state|mode) is not supported on your system")
ERRORS: Known = (
    ("usage", re.compile(r"^Interface name is required|^mlnx_qos: error:|^Usage: mlnx_qos")),
    ("no_such_device", re.compile(r"No such device|^Interface \S+ .*not (?:exist|found)")),
    ("permission", re.compile(r"(?i)^netlink error: .*(?:not permitted|permission denied)")),
    (
        "not_supported",
        re.compile(r"(?i)^netlink error: .*not supported|^\S.* (?:is )?not supported on your"),
    ),
    ("failed", re.compile(r"(?i)^netlink error|^Traceback \(most recent call last\)|^\w+Error: ")),
)

LLDPAD = re.compile(r"\*+ WARNING: lldpad service is running.*")
MODE = re.compile(r"DCBX mode: (OS|Firmware) controlled")
TRUST = re.compile(r"Priority trust (?:state|mode): ([a-z]+)")
DSCP = re.compile(r"prio:([0-7]) dscp:((?:[0-9]{2},)+)")
BUFFER = re.compile(
    r"Receive buffer size \(bytes\): ((?:[0-9]{1,10},)+)(?:max_buffer_size=([0-9]{1,12}))?"
)
CABLE = re.compile(r"Cable len: ([0-9]{1,5})")
PFC_ROW = re.compile(r"(priority|enabled|buffer)((?:\s+[0-9])+)")
CLASS = re.compile(
    r"tc: ([0-7]) ratelimit: (unlimited|([0-9]{1,6}(?:\.[0-9]{1,3})?) ?([GMK])(?:bps|bit/s)), "
    r"tsa: (ets|strict|vendor|unknown)(?:, bw: ([0-9]{1,3})%)?"
)
MEMBER = re.compile(r"(?:priority|up):\s+([0-7])")
IGNORED = re.compile(
    r"dscp2prio mapping:|default priority:[ 0-9,:a-z]*|PFC configuration:|"
    r"skprio: [0-9]{1,2}(?: \([^()]*\))?"
)
Value = TypeVar("Value")
MEGABITS = {"G": 1000.0, "M": 1.0, "K": 0.001}


@dataclass(frozen=True)
class TrafficClass:
    """A traffic class: `rate_limit_mbps` is None where it is unlimited, bandwidth without ETS."""

    number: int
    algorithm: str
    bandwidth_percent: int | None
    rate_limit_mbps: float | None


@dataclass
class Qos:
    """The QoS of a port; what the text does not show is None or empty.

    `dscps` maps all 64 DSCPs to a priority, `classes` the priorities to their traffic class;
    `buffers` are the receive buffers of the priorities.
    """

    mode: str | None = None
    trust: str | None = None
    lldpad: bool = False
    dscps: dict[int, int] = field(default_factory=dict)
    buffer_bytes: tuple[int, ...] | None = None
    max_buffer_bytes: int | None = None
    cable_m: int | None = None
    pfc: tuple[int, ...] = ()
    buffers: tuple[int, ...] | None = None
    classes: dict[int, TrafficClass] = field(default_factory=dict)


def command(netdev: str) -> tuple[str, ...]:
    """Return the command line that shows the QoS of a network device; it needs root."""
    return ("mlnx_qos", "-i", names.netdev(netdev))


def parse(text: str) -> Qos:
    """Return the QoS of a port. The priorities that no shown class has are in no class.

    Raises ToolError when mlnx_qos reports an error, NotRecognisedError for any other text, also
    for one without the PFC of all priorities.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    missing_trust = [line for line in lines if NO_TRUST.fullmatch(line)]
    complaints.check("\n".join(line for line in lines if line not in missing_trust), ERRORS)
    if missing_trust and not any(line.startswith("PFC") for line in lines):
        raise ToolError("not_supported", missing_trust[0])
    if not lines or not text.endswith("\n"):
        raise NotRecognisedError("expected whole lines of mlnx_qos, got an empty or cut-off text")
    rows = _Rows(Qos())
    for line in lines:
        if line not in missing_trust and not IGNORED.fullmatch(line):
            rows.take(line)
    rows.finish()
    return rows.qos


class _Rows:
    """The rows of one text, taken one after another."""

    def __init__(self, qos: Qos) -> None:
        self.qos = qos
        self.pfc: dict[str, tuple[int, ...]] = {}
        self.current: TrafficClass | None = None
        self.numbers: set[int] = set()

    def take(self, line: str) -> None:
        """Take a row into the result; raises NotRecognisedError for what is none."""
        qos = self.qos
        if LLDPAD.fullmatch(line):
            qos.lldpad = True
        elif match := MODE.fullmatch(line):
            qos.mode = match[1].lower()
        elif match := TRUST.fullmatch(line):
            qos.trust = match[1]
        elif match := DSCP.fullmatch(line):
            self._dscps(int(match[1]), match[2])
        elif match := BUFFER.fullmatch(line):
            qos.buffer_bytes = tuple(int(size) for size in match[1].split(",")[:-1])
            qos.max_buffer_bytes = int(match[2]) if match[2] else None
        elif match := CABLE.fullmatch(line):
            qos.cable_m = int(match[1])
        elif match := PFC_ROW.fullmatch(line):
            self._pfc_row(match[1], match[2])
        elif match := CLASS.fullmatch(line):
            self._class(match)
        elif (match := MEMBER.fullmatch(line)) and self.current:
            _put(qos.classes, int(match[1]), self.current)
        else:
            raise NotRecognisedError(f"expected a row of mlnx_qos, got {line[:80]!r}")

    def _dscps(self, priority: int, values: str) -> None:
        for value in values.split(",")[:-1]:
            _put(self.qos.dscps, int(value), priority)

    def _pfc_row(self, name: str, values: str) -> None:
        row = tuple(int(value) for value in values.split())
        if len(row) != PRIORITIES or name in self.pfc:
            raise NotRecognisedError(f"expected {name} of 8 priorities once")
        self.pfc[name] = row

    def _class(self, match: re.Match[str]) -> None:
        number = int(match[1])
        if number in self.numbers:
            raise NotRecognisedError(f"expected traffic class {number} once")
        self.numbers.add(number)
        limit = float(match[3]) * MEGABITS[match[4]] if match[3] else None
        self.current = TrafficClass(number, match[5], int(match[6]) if match[6] else None, limit)

    def finish(self) -> None:
        """Complete the result; raises NotRecognisedError when a table is not whole."""
        enabled = self.pfc.get("enabled", ())
        if self.pfc.get("priority") != tuple(range(PRIORITIES)) or set(enabled) - {0, 1}:
            raise NotRecognisedError("expected the PFC configuration of priorities 0 to 7")
        if not enabled:
            raise NotRecognisedError("expected enabled of 8 priorities, got none")
        if self.qos.dscps and set(self.qos.dscps) != set(range(DSCPS)):
            raise NotRecognisedError("expected a priority for each of the 64 DSCPs")
        self.qos.pfc = tuple(number for number, flag in enumerate(enabled) if flag)
        self.qos.buffers = self.pfc.get("buffer")


def _put(values: dict[int, Value], key: int, value: Value) -> None:
    if key in values:
        raise NotRecognisedError(f"expected {key} once, got it twice")
    values[key] = value


def records(text: str) -> list[dict[str, object]]:
    """Return a plain record for each priority; what holds for the whole port is in all of them."""
    qos = parse(text)
    port: dict[str, object] = {
        "dcbx_mode": qos.mode,
        "trust": qos.trust,
        "lldpad_running": qos.lldpad,
        "pfc_priorities": list(qos.pfc),
        "receive_buffer_bytes": _listed(qos.buffer_bytes),
        "max_buffer_bytes": qos.max_buffer_bytes,
        "cable_m": qos.cable_m,
    }
    return [{"priority": number, **_priority(qos, number), **port} for number in range(PRIORITIES)]


def _priority(qos: Qos, number: int) -> dict[str, object]:
    member = qos.classes.get(number)
    dscps = sorted(dscp for dscp, priority in qos.dscps.items() if priority == number)
    return {
        "pfc": number in qos.pfc,
        "buffer": qos.buffers[number] if qos.buffers else None,
        "dscps": dscps if qos.dscps else None,
        "traffic_class": member.number if member else None,
        "algorithm": member.algorithm if member else None,
        "bandwidth_percent": member.bandwidth_percent if member else None,
        "rate_limit_mbps": member.rate_limit_mbps if member else None,
    }


def _listed(values: Sequence[int] | None) -> list[int] | None:
    return None if values is None else list(values)
