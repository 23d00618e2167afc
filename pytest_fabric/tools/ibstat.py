"""`ibstat`: the InfiniBand devices of a node and their ports, from the umad devices.

Devices without umad (some RoCE drivers, EFA) are not shown. Format: infiniband-diags/ibstat.c.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.tools import ib_words
from pytest_fabric.tools.complaints import check
from pytest_fabric.tools.printable import printable

#: `CA 'mlx5_0'`, or `CA: 'mlx5_0'` when one port was asked for; iWARP devices have a name of two.
DEVICE = re.compile(rf"(?:CA|Switch|Router|iWARP RNIC|\?\?\?):? '({ib_words.NAME})'")
PORT = re.compile(r"Port ([0-9]{1,3}):")
ENTRY = re.compile(r"([A-Za-z][A-Za-z ?]*):(?: (.*))?")
RATE = re.compile(r"([0-9]{1,5}(?:\.5)?)(?: \(FDR10\))?")
LID = re.compile(r"[0-9]{1,5}")

#: What every port shows; indents differ, and are lost in what people paste.
LAST = "Link layer"
SHOWN = ("State", "Physical state", "Rate")
NEEDED = (*SHOWN, "Base lid", "SM lid", "Port GUID", LAST)


@dataclass(frozen=True)
class IbPort:
    """A port; `rate_gbps` is Gb/s, and 40 may be FDR10.

    Rate and LIDs of a port that is down are those of an earlier time, and therefore None. The
    state is None for ACTIVE_DEFER, which ibstat prints as `???`.
    """

    device: str
    port: int
    state: str | None
    physical_state: str | None
    rate_gbps: float | None
    lid: int | None
    sm_lid: int | None
    port_guid: str | None
    link_layer: str | None
    type: str | None
    fw: str | None


def command(device: str | None = None) -> tuple[str, ...]:
    """Return the command line that shows every device, or one. Raises ValueError for a bad name."""
    return ("ibstat",) if device is None else ("ibstat", ib_words.device(device))


def parse(text: str) -> list[IbPort]:
    """Return the ports of all devices, in the order in which they are shown.

    Raises ToolError where ibstat ended with a complaint, even after some ports, and
    NotRecognisedError for any other text, also when a device shows fewer ports than it has.
    """
    check(text, ib_words.COMPLAINTS)
    return _ports(text, is_excerpt=False)


def parse_excerpt(text: str) -> list[IbPort]:
    """Return the ports of a text that may end within its last port, as people paste it.

    State and rate of that port must be there; what its text does not show is None.
    """
    check(text, ib_words.COMPLAINTS)
    return _ports(text, is_excerpt=True)


def _ports(text: str, is_excerpt: bool) -> list[IbPort]:
    ports: list[IbPort] = []
    lines = [line.strip() for line in ib_words.output(text)]
    starts = [place for place, line in enumerate(lines) if DEVICE.fullmatch(line)]
    if not starts or starts[0]:
        raise NotRecognisedError(f"expected CA 'NAME', got {lines[0][:80]!r}")
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        ports += _device(lines[start:end], is_excerpt and end == len(lines))
    return ports


def _device(lines: list[str], is_excerpt: bool) -> list[IbPort]:
    match = DEVICE.fullmatch(lines[0])
    name = match[1] if match else ""
    starts = [place for place, line in enumerate(lines) if PORT.fullmatch(line)]
    info = _entries(lines[1 : starts[0] if starts else len(lines)])
    count = info.get("Number of ports", "1" if ": '" in lines[0] else "")
    if count != str(len(starts)):
        raise NotRecognisedError(f"expected {count or 'the'} ports of {name}, got {len(starts)}")
    ends = [*starts[1:], len(lines)]
    ports = []
    for start, end in zip(starts, ends, strict=True):
        port = _entries(lines[start + 1 : end])
        is_cut = is_excerpt and end == len(lines) and LAST not in port
        ports.append(_port(name, info, lines[start], _shown(port) if is_cut else port))
    return ports


def _entries(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for line in lines:
        match = ENTRY.fullmatch(line)
        if match is None or match[1] in found:
            raise NotRecognisedError(f"expected 'NAME: VALUE' of ibstat, got {line[:80]!r}")
        found[match[1]] = (match[2] or "").strip()
    return found


def _shown(port: Mapping[str, str]) -> dict[str, str]:
    """Return the entries of a port that is cut off, with those missing that come after its rate."""
    if any(not port.get(key) for key in SHOWN):
        raise NotRecognisedError(f"expected {', '.join(SHOWN)} of a port, got {sorted(port)}")
    return {"Base lid": "0", "SM lid": "0", "Port GUID": "...", LAST: ""} | {
        key: value for key, value in port.items() if value
    }


def _port(name: str, info: Mapping[str, str], title: str, port: Mapping[str, str]) -> IbPort:
    rate = RATE.fullmatch(port.get("Rate", ""))
    lids = [port.get(key, "") for key in ("Base lid", "SM lid")]
    if rate is None or not all(map(LID.fullmatch, lids)) or any(key not in port for key in NEEDED):
        raise NotRecognisedError(f"expected a whole port of {name}, got {sorted(port)}")
    number, state = PORT.fullmatch(title), ib_words.state(port["State"])
    is_down = state in ("DOWN", "NOP")
    types = [info[key] for key in info if key.endswith(" type")]
    return IbPort(
        device=name,
        port=int(number[1]) if number else 0,
        state=state,
        physical_state=ib_words.physical_state(port["Physical state"]),
        rate_gbps=None if is_down else _number(rate[1]),
        lid=None if is_down else ib_words.lid(int(lids[0])),
        sm_lid=None if is_down else ib_words.lid(int(lids[1])),
        port_guid=None if port["Port GUID"] == "..." else ib_words.guid(port["Port GUID"]),
        link_layer=ib_words.link_layer(port[LAST]),
        type=_told(types[0] if types else ""),
        fw=_told(info.get("Firmware version", "")),
    )


def _number(digits: str) -> float:
    return float(digits) if "." in digits else int(digits)


def _told(word: str) -> str | None:
    """Return what a text says; None for nothing, and for what somebody has taken out."""
    return None if word in ("", "...") else printable(word)


def records(text: str) -> list[dict[str, object]]:
    """Return the ports as plain records, of an excerpt too.

    A ToolError says which ports were whole before ibstat failed.
    """
    try:
        return [asdict(port) for port in parse_excerpt(text)]
    except ToolError as error:
        raise ToolError(error.kind, str(error), _before(text)) from None


def _before(text: str) -> list[dict[str, object]]:
    """Return the whole ports above the complaint that ended ibstat; none where one is not whole."""
    lines = text.split("\n")
    end = next(
        (n for n, line in enumerate(lines) if any(x.search(line) for _, x in ib_words.COMPLAINTS)),
        0,
    )
    try:
        return [asdict(port) for port in _ports("\n".join([*lines[:end], ""]), is_excerpt=False)]
    except NotRecognisedError:
        return []
