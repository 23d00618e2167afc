"""Which counter of which driver means what, when its growth is a fault, and what a driver lacks.

A port carries the name of one driver, mostly that of its PCI device; its RDMA counters and those of
its network device are in one table, so that both are found by it. `lifespan` (the age of the
kernel's cache) and gauges have no entry.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from pytest_fabric.counters.drivers import DRIVERS
from pytest_fabric.counters.drivers.pma import PMA
from pytest_fabric.counters.entry import Counter as Counter
from pytest_fabric.counters.entry import Driver
from pytest_fabric.errors import CounterError

#: Counters of RoCE's congestion control: where one exists, the port is Ethernet.
ROCE_ONLY = frozenset(
    {"np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled", "rp_cnp_ignored"}
)

#: What to wait for a driver that is not verified: the slowest known one takes two seconds.
UNKNOWN_REFRESH_S = 2.0

#: Where packets may overtake each other, what counts that is information.
OVERTAKING = frozenset({"adaptive", "spray"})

#: What is known of a driver that is not listed: the counters that InfiniBand ports have.
UNKNOWN = Driver((), PMA, verified=False, layers=("InfiniBand", "Ethernet"))

CATALOGUE = {name: driver for driver in DRIVERS for name in driver.names}


@dataclass(frozen=True)
class Match:
    """A counter that a name belongs to, and the priority that the name carries."""

    counter: Counter
    priority: int | None


def _driver(driver: str) -> Driver:
    return CATALOGUE.get(driver, UNKNOWN)


def counters(driver: str) -> tuple[Counter, ...]:
    """Return the counters of a driver; for an unknown one, those that InfiniBand ports have."""
    return _driver(driver).counters


@lru_cache(maxsize=65_536)  # names repeat in every window; bounded, since nodes choose them
def find(driver: str, name: str) -> Match | None:
    """Return what a counter of a driver is, or None for one that has no meaning here."""
    for counter in counters(driver):
        match = counter.pattern.fullmatch(name)
        if match is not None:
            priority = match.groupdict().get("p")
            return Match(counter, int(priority) if priority is not None else None)
    return None


def group(driver: str, name: str, routing: str = "ecmp") -> str:
    """Return when growth of a counter is a fault: never, uncongested, forced or information.

    `routing` is what the fabric is declared to do. Raises CounterError for a name without meaning.
    """
    match = find(driver, name)
    if match is None:
        raise CounterError(f"counter {name} of driver {driver or 'unknown'} has no meaning")
    if match.counter.reorders and routing in OVERTAKING:
        return "information"
    return match.counter.group


@lru_cache(maxsize=65_536)
def overtakes(name: str) -> bool:
    """Return whether a counter of any driver grows where packets overtake each other, too."""
    found = (find(driver.names[0], name) for driver in DRIVERS)
    return any(match is not None and match.counter.reorders for match in found)


@lru_cache(maxsize=256)
def meanings(driver: str, link_layer: str = "") -> frozenset[str]:
    """Return the meanings that a driver can give, on one link layer where that is said."""
    blind = "InfiniBand" if is_ethernet(driver, link_layer) else None
    return frozenset(
        counter.meaning for counter in counters(driver) if blind is None or counter.layer != blind
    )


def is_ethernet(driver: str, link_layer: str, names: Iterable[str] = ()) -> bool:
    """Return what the port says; where nobody asked it, its driver or counters of RoCE tell."""
    return (
        link_layer == "Ethernet"
        or "InfiniBand" not in _driver(driver).layers
        or not ROCE_ONLY.isdisjoint(names)
    )


def missing(driver: str, wanted: Iterable[str], link_layer: str = "") -> tuple[str, ...]:
    """Return those of the wanted meanings that no counter of a driver can give."""
    known = meanings(driver, link_layer)
    return tuple(meaning for meaning in wanted if meaning not in known)


def require_meaning(driver: str, meaning: str, link_layer: str = "") -> None:
    """Raise CounterError, which names driver and meaning, where the driver cannot give it."""
    if missing(driver, (meaning,), link_layer):
        raise CounterError(
            f"driver {driver or 'unknown'} has no counter of {meaning}: add `{meaning}` to "
            "not_available of the profile, with the reason"
        )


@lru_cache(maxsize=256)
def per_priority(driver: str, meaning: str) -> bool:
    """Return whether a driver counts a meaning for each priority."""
    return any(
        counter.meaning == meaning and "p" in counter.pattern.groupindex
        for counter in counters(driver)
    )


def is_verified(driver: str) -> bool:
    """Return whether the counters of a driver were checked with real samples."""
    return _driver(driver).verified


@lru_cache(maxsize=256)
def refresh_s(driver: str) -> float:
    """Return how long after an event the slowest counter of a driver shows it, in seconds."""
    slowest = max(counter.refresh_s for counter in counters(driver))
    return slowest if is_verified(driver) else max(slowest, UNKNOWN_REFRESH_S)
