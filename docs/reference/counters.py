"""The catalogue of counters: names as the kernel has them, by driver."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from docs.reference.markdown import code, codes, table, text
from docs.reference.markdown import page as a_page
from pytest_fabric import metrics
from pytest_fabric.counters.drivers import DRIVERS
from pytest_fabric.counters.entry import Counter, Driver

GROUPS = {
    "never": "is a fault in every window",
    "uncongested": "is a fault where nothing congests on purpose",
    "forced": "is a fault where nothing congests, and is demanded where something does (incast)",
    "information": "is kept in the record and judged by nothing",
}


def _name(counter: Counter) -> str:
    return counter.pattern.pattern.replace("(?P<p>[0-7])", "<p>").replace("(?:", "(")


def _row(counter: Counter) -> tuple[str, ...]:
    growth = counter.group + (", information with adaptive routing" if counter.reorders else "")
    width = "64 bit" if counter.bits == 64 else f"{counter.bits} bit, {counter.behaviour}"
    unit = {"words4": "words of 4 B"}.get(counter.unit, counter.unit)
    return (
        code(_name(counter)),
        counter.meaning,
        counter.direction or "both",
        growth,
        unit,
        width,
    )


def _home(driver: Driver) -> ModuleType:
    folder = "pytest_fabric.counters.drivers"
    modules = [m for n, m in sorted(sys.modules.items()) if n.startswith(f"{folder}.")]
    return next(
        (m for m in modules if any(one is driver for one in vars(m).values())),
        importlib.import_module(folder),
    )


def _section(driver: Driver) -> list[str]:
    slowest = max(one.refresh_s for one in driver.counters)
    about = text((_home(driver).__doc__ or "").partition("\n\n")[0])
    told = "read from real samples" if driver.verified else "from documents only, not verified"
    head = ("counter", "meaning", "direction", "growth", "unit", "width")
    return [
        f"## {driver.names[0]}",
        f"{about} Drivers {codes(driver.names)} on {', '.join(driver.layers)}; {told}. Fresh after "
        f"{slowest:g} s.",
        table(head, map(_row, driver.counters)),
    ]


def page() -> str:
    """Return the page."""
    return a_page(
        "Counters",
        "Names are patterns; `<p>` is a priority from 0 to 7. Only growth between the counters "
        "before a measurement and those after it is judged. What growth means:",
        table(("group", "growth"), [(code(k), v) for k, v in GROUPS.items()]),
        f"A limit names a meaning: `MEANING.growth`, for {codes(metrics.MEANINGS)}. A meaning that "
        "the driver of a port cannot count is an error, unless `not_available` of the profile says "
        "why.",
        *(block for driver in DRIVERS for block in _section(driver)),
    )
