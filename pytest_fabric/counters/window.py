"""What grew between two snapshots of a port's counters, and what a snapshot cannot tell."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from pytest_fabric.counters import catalogue
from pytest_fabric.counters.catalogue import Counter, Match
from pytest_fabric.errors import CounterError
from pytest_fabric.results import Growth, Snapshot


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
    problems: dict[str, list[str]] = {}
    names = before.names if before.names == after.names else before.names | after.names
    which = (before.driver, _is_ethernet(before), names)
    doubtful = _moved(before.values, after.values).union(
        before.unreadable, after.unreadable, _saturating(*which)
    )
    known, places = _known(*which), _places(*which)
    grown = list(_still(after.port, *which))
    lost: list[int] = []
    for place in sorted(places[name] for name in places.keys() & doubtful):
        name, match = known[place]
        try:
            grown[place] = _grown(name, match, before, after)
        except CounterError as error:
            lost.append(place)
            problems.setdefault(match.counter.meaning, []).append(f"{name} {error}")
    told = {
        meaning: f"{before.port} ({before.driver}): {'; '.join(said)}"
        for meaning, said in problems.items()
    }
    for place in reversed(lost):
        del grown[place]
    return tuple(grown), told


def _moved(before: Mapping[str, int], after: Mapping[str, int]) -> set[str]:
    """Return what does not have the same value in both; nearly always both have the same names."""
    names = list(after)
    if names != list(before):
        return {name for name, _ in before.items() ^ after.items()}
    both = zip(names, before.values(), after.values(), strict=True)
    return {name for name, early, late in both if early != late}


@lru_cache(maxsize=4096)  # most counters of most windows: no growth, which is the same record
def _still(port: str, driver: str, is_ethernet: bool, names: frozenset[str]) -> tuple[Growth, ...]:
    return tuple(
        Growth(port, name, match.counter.meaning, 0, match.counter.direction, match.priority)
        for name, match in _known(driver, is_ethernet, names)
    )


@lru_cache(maxsize=256)
def _places(driver: str, is_ethernet: bool, names: frozenset[str]) -> Mapping[str, int]:
    """Return where each counter stands among those that have a meaning."""
    known = _known(driver, is_ethernet, names)
    return {name: place for place, (name, _) in enumerate(known)}


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
    which = (shot.driver, is_ethernet, shot.names)
    readable, blind = _readable(*which, frozenset(shot.unreadable), meaning)
    if not readable or blind:
        known = _by_meaning(*which).get(meaning, {})
        way = f" for {' and '.join(sorted(filter(None, blind)))}" if readable else ""
        reasons = "; ".join(f"{n}: {shot.unreadable[n]}" for n in known if n not in shot.values)
        raise CounterError(
            f"{shot.port}: no counter of driver {shot.driver or 'unknown'} says {meaning}{way}"
            f"{f' ({reasons})' if reasons else ''}: a missing counter is not zero growth"
        )
    return readable


@lru_cache(maxsize=1024)
def _readable(
    driver: str,
    is_ethernet: bool,
    names: frozenset[str],
    unreadable: frozenset[str],
    meaning: str,
) -> tuple[tuple[str, ...], frozenset[str | None]]:
    """Return the readable counters of a meaning, and the directions that none of them counts."""
    known = _by_meaning(driver, is_ethernet, names).get(meaning, {})
    readable = tuple(name for name in known if name not in unreadable)
    expected = _directions(driver, meaning) if is_ethernet else frozenset()
    return readable, expected - {known[name] for name in readable}


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
