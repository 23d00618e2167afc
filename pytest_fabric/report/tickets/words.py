"""Values of tickets as people write them."""

from __future__ import annotations

import math

from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.tickets.record import Flap, Value
from pytest_fabric.units import render


def shown(one: Value) -> str:
    """Return a value with its unit, or that there is none."""
    if one.value is None:
        return "not told"
    if isinstance(one.value, str):
        return clean_line(one.value)
    if not math.isfinite(one.value):
        return str(one.value)
    return render(one.value, one.unit) if one.unit != "word" else str(one.value)


def exposure(one: Value) -> str:
    """Return for how long errors were counted, and what that can show; nothing for others."""
    if one.exposure_s is None:
        return ""
    floor = "" if one.floor is None else f", which shows rates of {one.floor:.2g} and more"
    return f"counted for {one.exposure_s:,.0f} s{floor}"


def flap(one: Flap) -> str:
    """Return when a link was lost, and how often."""
    return f"{one.begun} +{one.seconds:.0f} s: {one.count:,} times"
