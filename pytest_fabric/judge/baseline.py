"""Baseline: what earlier runs measured of the same target, one number of each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median

from pytest_fabric.errors import FabricError, MissingValueError
from pytest_fabric.results import Measured, Measurement
from pytest_fabric.units import render

#: An earlier run by its name, with what it knows of a measurement, if anything.
Past = tuple[str, Measured | None]

Read = Callable[[Measurement], float]


def is_alone(record: Measurement) -> bool:
    """Return whether a measurement was made with nothing beside it."""
    return not record.company


def numbers(
    record: Measurement, metric: str, past: Sequence[Past], read: Read
) -> tuple[tuple[float, ...], bool]:
    """Return one number of each run that has one, and whether they were measured alone.

    In the company of `record` where any run has that, else in the other: a value under load that
    holds against values alone holds. Raises MissingValueError where no run has any.
    """
    for alone in (is_alone(record), not is_alone(record)):
        found = tuple(
            median(of_run) for _, measured in past if (of_run := _of_run(measured, alone, read))
        )
        if found:
            return found, alone
    raise MissingValueError(_missing(record, metric, past))


def _of_run(measured: Measured | None, alone: bool, read: Read) -> list[float]:
    records = () if measured is None else (measured.record, *measured.alone)
    found = []
    for record in records:
        if is_alone(record) is alone:
            try:
                found.append(read(record))
            except FabricError:
                continue
    return found


def _missing(record: Measurement, metric: str, past: Sequence[Past]) -> str:
    runs = f"{len(past)} run{'s' if len(past) > 1 else ''}: {', '.join(name for name, _ in past)}"
    made = [measured.record for _, measured in past if measured is not None]
    why = next((one.error.message for one in made if one.error is not None), None)
    why = why or next((doubt for one in made for doubt in one.doubts), None)
    found = "no such measurement of this target" if not made else why or "no such value"
    return (
        f"{record.target}: {metric}: expected a value in the baseline ({runs}), found {found}: "
        "give --fabric-baseline runs that measured it, or --fabric-no-baseline"
    )


def told(found: Sequence[float], alone: bool, unit: str) -> str:
    """Return in words what the runs measured."""
    shown = ", ".join(render(number, unit) for number in found[:8])
    more = f" and {len(found) - 8} more" if len(found) > 8 else ""
    middle = f", median {render(median(found), unit)}" if len(found) > 1 else ""
    runs = f"{len(found)} runs" if len(found) > 1 else "1 run"
    return f"{shown}{more} in {runs}{middle}, {'alone' if alone else 'under load'}"
