"""The directories of counters in sysfs, as fresh as a port's driver and the kernel keep them."""

from __future__ import annotations

from collections.abc import Callable

from pytest_fabric.lab import drivers
from pytest_fabric.lab.filesystem import Entry
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.tally import Tally

#: How long the kernel keeps what it has read of `hw_counters/`: its 10 ms, in whole ticks.
LIFESPAN_S = 0.012


def counters(
    port: Port,
    tally: Callable[[Port], Tally],
    written: Callable[[Port], Tally],
    uptime: Callable[[], float],
) -> dict[str, Entry]:
    """Return `counters` and `hw_counters`; a driver without a performance agent has but one.

    `tally` is what a port has moved, `written` what its card last wrote of that to memory.
    """
    shape = drivers.of(port)
    shown = tally if shape.is_hardware_live else written
    hardware = _cached(lambda: _texts(shape.hardware(port, shown(port))), uptime)
    if not shape.pma(port, Tally()):
        return {"hw_counters": hardware}
    return {"counters": lambda: _texts(shape.pma(port, tally(port))), "hw_counters": hardware}


def _cached(
    make: Callable[[], dict[str, Entry]], uptime: Callable[[], float]
) -> Callable[[], dict[str, Entry]]:
    """Return a directory that is made anew only when it is older than the kernel's cache."""
    made: list[tuple[float, dict[str, Entry]]] = []

    def directory() -> dict[str, Entry]:
        if not made or uptime() - made[0][0] > LIFESPAN_S:
            made[:] = [(uptime(), make())]
        return made[0][1]

    return directory


def _texts(values: dict[str, int]) -> dict[str, Entry]:
    return {name: str(value) for name, value in values.items()}
