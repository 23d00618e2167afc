"""Rows of perftest as results: units applied, and every value checked for sense.

Numbers stay decimal until they have their unit, so that 1.86 us is 1.86e-06 s and not a neighbour.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.results import Bandwidth, Latency

Numbers = Mapping[str, Decimal]

#: perftest prints 32-bit iteration counts and 31-bit sizes; more is a misread.
LARGEST = Decimal(2**63)


@dataclass(frozen=True)
class Unit:
    """A unit of bandwidth; `bits` are the bits per second of one."""

    name: str
    bits: int


#: The label was `MB/sec` before 24.07, but the value always was MiB: `format_factor` is 0x100000 in
#: perftest_parameters.c.
MEBIBYTES = Unit("MiB/sec", 8 * 2**20)
GIGABITS = Unit("Gb/sec", 10**9)
UNITS = {"MB/sec": MEBIBYTES, "MiB/sec": MEBIBYTES, "Gb/sec": GIGABITS}

MICROSECOND = Decimal("1e-6")
MEGA = Decimal(10**6)

#: Statistics in the order in which their values must stand.
ORDER = ("min", "median", "p99", "p999", "max")

#: The best moment of a run is as good as its average; the rest is rounding.
PEAK_SHARE = Decimal("0.99")


def latency(row: Numbers) -> Latency:
    """Return a latency row, given in microseconds. Raises NotRecognisedError for nonsense."""
    _counted(row)
    times = {name: value for name, value in row.items() if name in (*ORDER, "mean")}
    zero = [name for name, value in times.items() if value <= 0]
    if zero:
        raise NotRecognisedError(f"expected a time above zero, got {zero[0]} {times[zero[0]]} us")
    for order in (ORDER, ("min", "mean", "max")):
        _rising({name: times[name] for name in order if name in times})
    seconds = {name: float(value * MICROSECOND) for name, value in times.items()}
    return Latency(
        bytes=int(row["bytes"]),
        iterations=int(row["iterations"]),
        min_s=seconds.get("min"),
        max_s=seconds.get("max"),
        median_s=seconds.get("median"),
        mean_s=seconds.get("mean"),
        p99_s=seconds.get("p99"),
        p999_s=seconds.get("p999"),
    )


def _rising(times: Numbers) -> None:
    for (low, first), (high, second) in pairwise(times.items()):
        if first > second:
            raise NotRecognisedError(f"expected {low} <= {high}, got {first} us > {second} us")


def bandwidth(row: Numbers, unit: Unit) -> Bandwidth:
    """Return a bandwidth row. Raises NotRecognisedError for nonsense.

    A peak of 0.00 was not measured, any other is no less than the average. The message rate must
    agree with the bandwidth.
    """
    _counted(row)
    average, rate = row["average"], row["message_rate"]
    if average <= 0 or rate <= 0:
        raise NotRecognisedError(
            f"expected a rate above zero, got {average} {unit.name} and {rate} Mpps"
        )
    if not agrees(row, unit):
        raise NotRecognisedError(
            f"expected the message rate to give the bandwidth, got {rate} Mpps of "
            f"{row['bytes']} B and {average} {unit.name}"
        )
    if 0 < row["peak"] < average * PEAK_SHARE:
        raise NotRecognisedError(
            f"expected a peak of at least the average {average}, got {row['peak']}"
        )
    return Bandwidth(
        bytes=int(row["bytes"]),
        iterations=int(row["iterations"]),
        peak_bps=float(row["peak"] * unit.bits) if row["peak"] else None,
        average_bps=float(average * unit.bits),
        message_rate=float(rate * MEGA),
    )


def agrees(row: Numbers, unit: Unit) -> bool:
    """Return whether rate x size is the bandwidth, within 1 % or what printing has rounded off."""
    size = row["bytes"] * 8
    stated, computed = row["average"] * unit.bits, row["message_rate"] * MEGA * size
    rounded = half_step(row["message_rate"]) * MEGA * size + half_step(row["average"]) * unit.bits
    return abs(stated - computed) <= max(stated / 100, rounded)


def half_step(number: Decimal) -> Decimal:
    """Return half of the last printed digit, which is what rounding may have hidden."""
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int):
        raise NotRecognisedError(f"expected a number, got {number}")
    return Decimal(1).scaleb(exponent) / 2


def _counted(row: Numbers) -> None:
    for name, value in row.items():
        if value > LARGEST:
            raise NotRecognisedError(f"expected {name} below {LARGEST}, got {value}")
    for name in ("bytes", "iterations"):
        if row[name] <= 0 or row[name] != int(row[name]):
            raise NotRecognisedError(f"expected {name} above zero, got {row[name]}: no result")
