"""Snapshots of a port's counters, from the texts that its node printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import cast

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.results import Snapshot

#: A line of `grep -sH . counters/* hw_counters/*`: names may hold blanks, but no colon.
FILE = re.compile(r"/[^:]*/(?:hw_)?counters/([^/:]+):(.*)")

#: A line of `ethtool -S`: names may hold colons, so that the last one ends the name. Some drivers
#: pad names with blanks.
STATISTIC = re.compile(r"\s*(\S.*): (\S+)")

#: Nearly always every line is one of these, before its only colon, and ends with a number of so
#: many digits: no failed read shows that.
PLAIN_FILE = re.compile(r"/[^:\n]*/(?:hw_)?counters/([^/:\n]+)")
PLAIN_STATISTIC = re.compile(r"[ \t]*([^:\s]+)")
PLAIN_DIGITS = 19

STATISTICS_TITLE = "NIC statistics:"
NO_STATISTICS = re.compile(r"no stats available|Operation not supported|No such device")

#: The cache's age stands between the counters and is none.
NOT_COUNTERS = frozenset({"lifespan"})

#: What a failed read of the hardware shows.
ALL_ONES = 2**64 - 1

Readings = dict[str, int | str]


@lru_cache(maxsize=1024)  # what closes a window mostly opens the next one of the port
def snapshot(
    port: str, driver: str, sysfs_text: str, ethtool_text: str | None, link_layer: str = ""
) -> Snapshot:
    """Return every counter that the two texts hold, by the driver's names.

    `sysfs_text` is what `grep -sH .` printed, `ethtool_text` what `ethtool -S` printed, for the
    members of a bond one after another: their counters are added. Either may be empty. A value that
    is no number, or all ones, goes to `unreadable`. Raises NotRecognisedError for any other text.
    """
    readings = {**_ethtool(ethtool_text or ""), **_sysfs(sysfs_text)}
    if set(map(type, readings.values())) <= {int}:  # of most windows, and soon seen
        return Snapshot(port, driver, cast("dict[str, int]", readings), {}, link_layer)
    values = {name: value for name, value in readings.items() if isinstance(value, int)}
    unreadable = {name: value for name, value in readings.items() if isinstance(value, str)}
    return Snapshot(port, driver, values, unreadable, link_layer)


def _plain(pattern: re.Pattern[str], blank: str, text: str) -> Readings | None:
    """Return the readings of a text of plain lines with different names, None for any other.

    Every window has the same names, so that only the numbers are looked at each time. `blank` is
    what stands between the colon and the number.
    """
    *pieces, rest = text.replace(f":{blank}", "\n").split("\n")
    names, values = _names(pattern, "\n".join(pieces[::2])), pieces[1::2]
    digits = "".join(values)
    if rest or len(names) != len(values) or not (digits.isascii() and digits.isdigit()):
        return None
    if "" in values or len(max(values, key=len)) > PLAIN_DIGITS:
        return None
    return dict(zip(names, map(int, values), strict=True))


@lru_cache(maxsize=512)  # few kinds of ports, each with its names
def _names(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    """Return the different names in lines that each are one, nothing for any other text."""
    found = [pattern.fullmatch(line) for line in text.split("\n")]
    names = tuple(match[1] for match in found if match is not None)
    return names if len(set(names)) == len(found) else ()


def _sysfs(text: str) -> Readings:
    plain = _plain(PLAIN_FILE, "", text)
    if plain is not None:
        for name in NOT_COUNTERS:
            plain.pop(name, None)
        return plain
    readings: Readings = {}
    for line, is_whole in _lines(text):
        match = FILE.fullmatch(line)
        if match is None:
            raise NotRecognisedError(f"expected 'PATH/counters/NAME:VALUE', got {line[:80]!r}")
        name, value = match.groups()
        if name not in NOT_COUNTERS:
            readings[name] = _reading(value, is_whole)
    return readings


def _ethtool(text: str) -> Readings:
    plain = _plain(PLAIN_STATISTIC, " ", text.removeprefix(f"{STATISTICS_TITLE}\n"))
    if plain is not None:
        return plain
    total: Readings = {}
    block: Readings = {}
    has_none = NO_STATISTICS.search(text) is not None
    for line, is_whole in _lines(text):
        if line.strip() == STATISTICS_TITLE or (has_none and NO_STATISTICS.search(line)):
            total, block = _add(total, block), {}
            continue
        match = STATISTIC.fullmatch(line)
        if match is None:
            raise NotRecognisedError(f"expected 'NAME: NUMBER', got {line.strip()[:80]!r}")
        name, reading = match.group(1).rstrip(), _reading(match.group(2), is_whole)
        block[name] = reading if block.get(name, reading) == reading else "it is there twice"
    return _add(total, block)


def _add(total: Readings, block: Readings) -> Readings:
    """Return the sums over the members of a bond; unreadable in one is unreadable in all."""
    added = dict(total)
    for name, reading in block.items():
        before = added.get(name, 0)
        if isinstance(before, int):
            added[name] = before + reading if isinstance(reading, int) else reading
    return added


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line that is not blank, and whether its end has arrived."""
    lines = text.split("\n")
    for place, line in enumerate(lines):
        if line.strip():
            yield line.rstrip(), place < len(lines) - 1


def _reading(text: str, is_whole: bool) -> int | str:
    """Return the value of a counter, or the reason why there is none."""
    if not is_whole:
        return "the line is cut off"
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 20):
        return f"it reads {digits[:40]!r}"
    value = int(digits)
    return value if value < ALL_ONES else "it reads all ones: the read failed"
