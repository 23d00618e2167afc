"""Snapshots of a port's counters, and what grew between two of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import cast

from pytest_fabric.counters import catalogue
from pytest_fabric.counters.catalogue import Counter, Match
from pytest_fabric.errors import CounterError, NotRecognisedError
from pytest_fabric.results import Growth, Snapshot

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


def growth(before: Snapshot, after: Snapshot) -> tuple[tuple[Growth, ...], dict[str, str]]:
    """Return how far each counter with a meaning grew, and by meaning what cannot be told.

    Growth of bytes is in bytes, whatever the counter counts in; zero growth is listed too. Wraps of
    less than 64 bits are undone. A counter that was reset, is saturated or unreadable, or exists in
    one of the two only, is a problem of its meaning; the others still count. Raises CounterError
    when the snapshots are of different ports.
    """
    if (before.port, before.driver) != (after.port, after.driver):
        raise CounterError(
            f"expected two snapshots of one port, got {before.port} ({before.driver}) "
            f"and {after.port} ({after.driver})"
        )
    grown: list[Growth] = []
    problems: dict[str, list[str]] = {}
    names = before.names if before.names == after.names else before.names | after.names
    which = (before.driver, _is_ethernet(before), names)
    moved = {name for name, _ in before.values.items() ^ after.values.items()}
    doubtful = moved.union(before.unreadable, after.unreadable, _saturating(*which))
    for (name, match), still in zip(_known(*which), _still(after.port, *which), strict=True):
        if name not in doubtful:
            grown.append(still)
            continue
        try:
            grown.append(_grown(name, match, before, after))
        except CounterError as error:
            problems.setdefault(match.counter.meaning, []).append(f"{name} {error}")
    told = {
        meaning: f"{before.port} ({before.driver}): {'; '.join(said)}"
        for meaning, said in problems.items()
    }
    return tuple(grown), told


@lru_cache(maxsize=4096)  # most counters of most windows: no growth, which is the same record
def _still(port: str, driver: str, is_ethernet: bool, names: frozenset[str]) -> tuple[Growth, ...]:
    return tuple(
        Growth(port, name, match.counter.meaning, 0, match.counter.direction, match.priority)
        for name, match in _known(driver, is_ethernet, names)
    )


@lru_cache(maxsize=256)
def _saturating(driver: str, is_ethernet: bool, names: frozenset[str]) -> frozenset[str]:
    """Return the counters that may stand still because they are full."""
    known = _known(driver, is_ethernet, names)
    return frozenset(name for name, match in known if match.counter.behaviour != "wraps")


@lru_cache(maxsize=256)  # every window of a port has the same names, and so have its neighbours
def _known(driver: str, is_ethernet: bool, names: frozenset[str]) -> tuple[tuple[str, Match], ...]:
    """Return the counters that have a meaning, without those that are blind on this link layer."""
    found = ((name, catalogue.find(driver, name)) for name in sorted(names))
    return tuple(
        (name, match)
        for name, match in found
        if match is not None and not (is_ethernet and match.counter.layer == "InfiniBand")
    )


@lru_cache(maxsize=256)
def _by_meaning(
    driver: str, is_ethernet: bool, names: frozenset[str]
) -> Mapping[str, Mapping[str, str | None]]:
    """Return the known counters of each meaning, and the direction that each counts."""
    grouped: dict[str, dict[str, str | None]] = {}
    for name, match in _known(driver, is_ethernet, names):
        grouped.setdefault(match.counter.meaning, {})[name] = match.counter.direction
    return grouped


def _is_ethernet(shot: Snapshot) -> bool:
    """Return what the port says; where nobody asked it, counters of RoCE give it away."""
    return catalogue.is_ethernet(shot.driver, shot.link_layer, shot.names)


def _grown(name: str, match: Match, before: Snapshot, after: Snapshot) -> Growth:
    counter = match.counter
    delta = _delta(counter, _value(name, before, "before"), _value(name, after, "after"))
    size = 4 if counter.unit == "words4" else 1
    way = (counter.direction, match.priority)
    return Growth(after.port, name, counter.meaning, delta * size, *way)


def _value(name: str, shot: Snapshot, when: str) -> int:
    if name in shot.unreadable:
        raise CounterError(f"could not be read {when} the run: {shot.unreadable[name]}")
    if name not in shot.values:
        raise CounterError(f"was not there {when} the run")
    return shot.values[name]


def _delta(counter: Counter, before: int, after: int) -> int:
    if counter.behaviour == "saturates" and max(before, after) >= counter.maximum:
        raise CounterError(
            f"is saturated at {counter.maximum}: its growth cannot be seen until an administrator "
            "clears it"
        )
    if after >= before:
        return after - before
    wrapped = after + counter.maximum + 1 - before
    # A reset to a low value looks like a wrap by more than half the range: no window is so long.
    can_wrap = counter.behaviour == "wraps" and counter.bits < 64 and before <= counter.maximum
    if not can_wrap or wrapped > counter.maximum / 2:
        raise CounterError(f"was reset during the run: {before:,} before, {after:,} after")
    return wrapped


def require(shot: Snapshot, meaning: str) -> tuple[str, ...]:
    """Return the readable counters of a meaning in a snapshot.

    Raises CounterError when there is none, or none for a direction that the driver counts on
    Ethernet: a missing counter is not zero growth.
    """
    is_ethernet = _is_ethernet(shot)
    known = _by_meaning(shot.driver, is_ethernet, shot.names).get(meaning, {})
    readable = tuple(name for name in known if name in shot.values)
    expected = _directions(shot.driver, meaning) if is_ethernet else frozenset()
    blind = expected - {known[name] for name in readable}
    if not readable or blind:
        way = f" for {' and '.join(sorted(filter(None, blind)))}" if readable else ""
        reasons = "; ".join(f"{n}: {shot.unreadable[n]}" for n in known if n not in shot.values)
        raise CounterError(
            f"{shot.port}: no counter of driver {shot.driver or 'unknown'} says {meaning}{way}"
            f"{f' ({reasons})' if reasons else ''}: a missing counter is not zero growth"
        )
    return readable


@lru_cache(maxsize=256)
def _directions(driver: str, meaning: str) -> frozenset[str | None]:
    """Return the directions in which a driver counts a meaning on Ethernet.

    InfiniBand counts one direction only.
    """
    return frozenset(
        counter.direction
        for counter in catalogue.counters(driver)
        if counter.meaning == meaning and counter.layer != "InfiniBand"
    )


def saturated(shot: Snapshot) -> tuple[str, ...]:
    """Return the counters that stick at their maximum, so that nothing can be told by them."""
    return tuple(
        name
        for name, match in _known(shot.driver, _is_ethernet(shot), shot.names)
        if name in shot.values
        and match.counter.behaviour == "saturates"
        and shot.values[name] >= match.counter.maximum
    )
