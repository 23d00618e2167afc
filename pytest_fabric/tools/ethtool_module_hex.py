"""The hex dump of `ethtool -m NETDEV hex on`: the module's memory, by SFF-8472, SFF-8636, CMIS.

What is read is who made the module and its present readings; a dump holds no names of alarms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import ethtool_module_values as values
from pytest_fabric.tools.printable import printable

ROW = re.compile(r"0x([0-9a-f]{4}):\s+((?:[0-9a-f]{2} ?){1,16})")
HEADING = re.compile(r"Offset\s+Values|-+\s+-+")
PLACE = re.compile(r"(I2C Address|Bank|Page): 0x([0-9a-f]{1,2})")

#: The second address of an SFP, which follows the first in a dump without headings.
DIAGNOSTICS = 256
SECOND_ADDRESS = 0x51

Memory = dict[int, int]


class Text(NamedTuple):
    """First and last byte of a text."""

    first: int
    last: int


class Map(NamedTuple):
    """Where a memory map keeps who made the module, and its temperature and voltage."""

    vendor: Text
    part_number: Text
    revision: Text
    serial_number: Text
    date_code: Text
    oui: int
    temperature: int
    voltage: int


SFP = Map(Text(20, 35), Text(40, 55), Text(56, 59), Text(68, 83), Text(84, 91), 37, 352, 354)
QSFP = Map(
    Text(148, 163), Text(168, 183), Text(184, 185), Text(196, 211), Text(212, 219), 165, 22, 26
)
CMIS = Map(
    Text(129, 144), Text(148, 163), Text(164, 165), Text(166, 181), Text(182, 189), 145, 14, 16
)

MAPS: Mapping[int, Map] = {
    0x03: SFP,
    **dict.fromkeys((0x0C, 0x0D, 0x11), QSFP),
    **dict.fromkeys((0x18, 0x19, 0x1A, 0x1B, 0x1E, 0x1F, 0x20), CMIS),
}

#: First byte of the readings of the lanes, and how many lanes there are.
READINGS = {SFP: (356, 358, 360, 1), QSFP: (42, 50, 34, 4)}

#: An SFP says in byte 92 whether it has diagnostics that need no calibration by the reader.
CALIBRATED = 0x60


def is_dump(lines: list[str]) -> bool:
    """Return whether lines are a dump and not the usual text."""
    return any(HEADING.fullmatch(line) or ROW.fullmatch(line) for line in lines[:4])


def read(lines: list[str]) -> dict[str, object]:
    """Return the values of a module by the keys of the result."""
    memory: Memory = {}
    place = {"I2C Address": 0, "Bank": 0, "Page": 0}
    for line in lines:
        row, where = ROW.fullmatch(line), PLACE.fullmatch(line)
        if where is not None:
            place[where[1]] = int(where[2], 16)
        elif row is not None:
            data = [int(byte, 16) for byte in row[2].split()]
            add(memory, place["I2C Address"], place["Bank"], place["Page"], int(row[1], 16), data)
        elif not HEADING.fullmatch(line):
            raise NotRecognisedError(f"expected a row of a hex dump, got {line[:80]!r}")
    return decode(memory)


def add(memory: Memory, address: int, bank: int, page: int, offset: int, data: list[int]) -> None:
    """Add bytes of a page; raises NotRecognisedError when others are there already."""
    if bank or page:
        return
    start = offset + (DIAGNOSTICS if address == SECOND_ADDRESS else 0)
    for place, byte in enumerate(data, start):
        if memory.setdefault(place, byte) != byte:
            raise NotRecognisedError(f"expected one byte at 0x{place:04x} of a module, got two")


def decode(memory: Memory) -> dict[str, object]:
    """Return the values of a module; what the memory does not hold is None."""
    code = memory.get(0)
    layout = MAPS.get(code) if code is not None else None
    if code is None or layout is None:
        raise NotRecognisedError(f"expected the memory of an SFP, QSFP or CMIS module, got {code}")
    oui = _bytes(memory, layout.oui, 3)
    found: dict[str, object] = {
        "identifier": values.identifier(code, ""),
        "vendor": _text(memory, layout.vendor),
        "vendor_oui": ":".join(f"{byte:02x}" for byte in oui) if oui else None,
        "part_number": _text(memory, layout.part_number),
        "revision": _text(memory, layout.revision),
        "serial_number": _text(memory, layout.serial_number),
        "date_code": _text(memory, layout.date_code),
    }
    if layout is CMIS:
        firmware = _bytes(memory, 39, 2) or [0, 0]
        is_told = firmware not in ([0, 0], [255, 255])
        found["firmware_version"] = f"{firmware[0]}.{firmware[1]}" if is_told else None
    if layout is not SFP or memory.get(92, 0) & CALIBRATED == CALIBRATED:
        found |= _diagnostics(memory, layout)
    return found


def _diagnostics(memory: Memory, layout: Map) -> dict[str, object]:
    raw, voltage = _word(memory, layout.temperature), _word(memory, layout.voltage)
    found: dict[str, object] = {"voltage_mv": voltage / 10 if voltage else None}
    if raw in (None, 0, 0xFFFF):  # ethtool takes these for no diagnostics
        return found
    found["temperature_c"] = round((raw - 0x10000 if raw & 0x8000 else raw) / 256, 2)
    if layout in READINGS:
        bias, tx, rx, count = READINGS[layout]
        found["tx_bias_ma"] = _lanes(memory, bias, count, 500)
        for name, first in (("tx_power", tx), ("rx_power", rx)):
            powers = _lanes(memory, first, count, 10000)
            found[f"{name}_mw"] = powers
            found[f"{name}_dbm"] = [values.dbm_of(power) for power in powers] if powers else None
    return found


def _bytes(memory: Memory, first: int, count: int) -> list[int] | None:
    places = range(first, first + count)
    return [memory[place] for place in places] if all(p in memory for p in places) else None


def _word(memory: Memory, first: int) -> int | None:
    data = _bytes(memory, first, 2)
    return data[0] << 8 | data[1] if data else None


def _text(memory: Memory, place: Text) -> str | None:
    data = _bytes(memory, place.first, place.last - place.first + 1)
    return printable(bytes(data).decode("ascii", "replace").strip(" \0")) or None if data else None


def _lanes(memory: Memory, first: int, count: int, scale: int) -> list[float] | None:
    words = [_word(memory, first + 2 * lane) for lane in range(count)]
    found = [word / scale for word in words if word is not None]
    return found if len(found) == count else None
