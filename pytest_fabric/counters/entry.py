"""What is known about one counter, and about all the counters of one driver."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

#: Refresh of `hw_counters/`: the kernel caches them for `lifespan`, 10 ms plus rounding.
CACHED_S = 0.02

#: Stands in a pattern for the priority: one digit.
PRIORITY = "<p>"

#: When growth is a fault. `forced` is a fault without congestion, and must be there with it.
GROUPS = ("never", "uncongested", "forced", "information")


@dataclass(frozen=True)
class Counter:
    """One counter, or one per priority where the pattern has a group `p`.

    `pattern` matches the whole name. `unit` is B, words4 (four bytes), packets, events, us, bits or
    codewords. `behaviour` at the width of `bits` is wraps or saturates; a 64-bit counter never gets
    there. `group` says when growth is a fault: never allowed, only allowed with congestion
    (uncongested; forced, if it must then grow), or information. `reorders` marks what also grows
    where packets overtake each other. A value is fresh after `refresh_s`. `layer` is InfiniBand for
    what does not see the errors of an Ethernet link, although the kernel shows it there too.
    """

    pattern: re.Pattern[str]
    meaning: str
    direction: str | None
    unit: str = "packets"
    bits: int = 64
    behaviour: str = "wraps"
    group: str = "never"
    refresh_s: float = 0.0
    layer: str | None = None
    reorders: bool = False

    @property
    def maximum(self) -> int:
        """Return the largest value that the counter can hold."""
        return (1 << self.bits) - 1


@dataclass(frozen=True)
class Driver:
    """The counters of one driver.

    `names` are the driver names under which a port can carry them: that of the PCI device first,
    then those of the RDMA and of the network part. `verified` says that real samples were read.
    `layers` are the link layers that its ports can have.
    """

    names: tuple[str, ...]
    counters: tuple[Counter, ...]
    verified: bool
    layers: tuple[str, ...] = ("Ethernet",)


def entry(
    pattern: str, meaning: str, direction: str | None, group: str = "never", unit: str = "packets"
) -> Counter:
    """Return a counter of 64 bits; `<p>` in the pattern stands for the priority."""
    compiled = re.compile(pattern.replace(PRIORITY, "(?P<p>[0-7])"))
    return Counter(compiled, meaning, direction, unit, group=group)


def refreshed(seconds: float, *entries: Counter) -> tuple[Counter, ...]:
    """Return the entries with the time after which their values are fresh."""
    return tuple(replace(one, refresh_s=seconds) for one in entries)


def wrapping(bits: int, *entries: Counter) -> tuple[Counter, ...]:
    """Return the entries as counters of so many bits, which start again at zero."""
    return tuple(replace(one, bits=bits, behaviour="wraps") for one in entries)


def reordering(*entries: Counter) -> tuple[Counter, ...]:
    """Return the entries as counters that grow where packets overtake each other."""
    return tuple(replace(one, reorders=True) for one in entries)
