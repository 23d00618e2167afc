"""`perfquery`: the counters of an InfiniBand port, asked from the fabric and never reset.

The usual form counts with 4 to 32 bits, and every counter stops at its largest value; `-x` counts
data and packets with 64 bits. Format: infiniband-diags/perfquery.c and libibmad/fields.c.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import ib_words
from pytest_fabric.tools.complaints import check

TITLE = re.compile(
    r"# Port (?P<extended>extended )?counters: Lid (?P<lid>[0-9]{1,5})(?: Gid [0-9a-f:.]+)? port "
    r"(?P<port>[0-9]{1,3})(?: \(CapMask: 0x[0-9A-F]+(?: CapMask2: 0x[0-9A-F]+)?\))?"
)
ENTRY = re.compile(r"([A-Z][A-Za-z0-9]*):\.*(0x[0-9a-f]+|[0-9]{1,20})")

#: Not counters: what was asked for.
SELECTORS = ("PortSelect", "CounterSelect", "CounterSelect2")

#: The last counter that every release shows in each form: without it, the text is cut off.
LAST = {False: "PortXmitWait", True: "PortRcvPkts"}

#: Bits of the counters of the usual form, as IBA PortCounters defines them; the rest have 32.
BITS = {
    "SymbolErrorCounter": 16,
    "LinkErrorRecoveryCounter": 8,
    "LinkDownedCounter": 8,
    "PortRcvErrors": 16,
    "PortRcvRemotePhysicalErrors": 16,
    "PortRcvSwitchRelayErrors": 16,
    "PortXmitDiscards": 16,
    "PortXmitConstraintErrors": 8,
    "PortRcvConstraintErrors": 8,
    "LocalLinkIntegrityErrors": 4,
    "ExcessiveBufferOverrunErrors": 4,
    "QP1Dropped": 16,
    "VL15Dropped": 16,
}

#: Counted in words of four bytes.
DATA = ("PortXmitData", "PortRcvData")


@dataclass(frozen=True)
class PortCounters:
    """The counters of a port, by the names of the tool; data is in words of four bytes.

    `port` is 255 for all ports together. Those that are `saturated` count no further: their value
    is the least that it can be.
    """

    lid: int
    port: int
    extended: bool
    counters: Mapping[str, int]
    saturated: tuple[str, ...]


def command(lid: int, port: int, *, extended: bool = False) -> tuple[str, ...]:
    """Return the command line that reads the counters of a port of the fabric."""
    words = ("perfquery", "-x") if extended else ("perfquery",)
    return (*words, ib_words.number("lid", lid, 0xBFFF), ib_words.number("port", port, 254))


def parse(text: str) -> list[PortCounters]:
    """Return the counters of each port that was asked.

    Raises ToolError when the port did not answer, NotRecognisedError for any other text, also for
    counters that are not whole.
    """
    check(text, ib_words.COMPLAINTS)
    lines = [line.strip() for line in ib_words.output(text)]
    starts = [place for place, line in enumerate(lines) if TITLE.fullmatch(line)]
    if not starts or starts[0]:
        raise NotRecognisedError(f"expected '# Port counters: ...', got {lines[0][:80]!r}")
    ends = [*starts[1:], len(lines)]
    return [_counters(lines[a:b]) for a, b in zip(starts, ends, strict=True)]


def _counters(lines: list[str]) -> PortCounters:
    title = TITLE.fullmatch(lines[0])
    if title is None:
        raise NotRecognisedError(f"expected '# Port counters: ...', got {lines[0][:80]!r}")
    found: dict[str, int] = {}
    for line in lines[1:]:
        match = ENTRY.fullmatch(line)
        if match is None or match[1] in found:
            raise NotRecognisedError(f"expected 'NAME:...NUMBER' once, got {line[:80]!r}")
        found[match[1]] = int(match[2], 0) if "x" in match[2] else int(match[2])
    is_extended = title["extended"] is not None
    if LAST[is_extended] not in found:
        raise NotRecognisedError(f"expected {LAST[is_extended]} too, got counters that are cut off")
    counters = {name: value for name, value in found.items() if name not in SELECTORS}
    full = [name for name in counters if counters[name] >= 2 ** BITS.get(name, 32) - 1]
    return PortCounters(
        lid=int(title["lid"]),
        port=int(title["port"]),
        extended=is_extended,
        counters=counters,
        saturated=() if is_extended else tuple(full),
    )


def records(text: str) -> list[dict[str, object]]:
    """Return one record for each port: counters in snake_case, data in bytes."""
    return [_record(port) for port in parse(text)]


def _record(port: PortCounters) -> dict[str, object]:
    record: dict[str, object] = {"lid": port.lid, "port": port.port, "extended": port.extended}
    for name, value in port.counters.items():
        record[_key(name)] = value * 4 if name in DATA else value
    return record | {"saturated": [_key(name) for name in port.saturated]}


def _key(name: str) -> str:
    """Return a name such as `port_rcv_data_bytes` or `vl15_dropped`."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return f"{words}_bytes" if name in DATA else words
