"""The single times that a perftest latency test prints with `-U` or `-H`, and percentiles of ours.

perftest's own summary leaves out the two largest of the n-1 times of n iterations, so its maximum
and its high percentiles are too good (`print_report_lat` in perftest_parameters.c). Percentiles
here are nearest-rank over ALL n-1 times: p is the smallest time that p % of them do not exceed,
which is the one of rank ceil(p/100 * (n-1)) when sorted; no value is interpolated.

`-U` prints all times in the order in which they were measured, `-H` the n-3 smallest ones sorted:
then the two ranks above them, the mean and the deviation are unknown. Times are those that perftest
counts with, half a round trip for write and send, and have six digits (`%g`). With `-C` they are
CPU cycles, and the first line of the list is all that says so.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import perftest_errors, perftest_text

TITLE = re.compile(r"\s*#, (usec|cycles)\s*")
SAMPLE = re.compile(r"\s*([0-9]{1,9}), ([0-9]{1,20}(?:\.[0-9]{1,9})?(?:e[-+][0-9]{2})?)\s*")
ROW = re.compile(r"\s*([0-9]{1,10})\s+([0-9]{1,10})(?:\s+[0-9]{1,20}\.[0-9]{2}){7,8}\s*")

#: How many of n iterations are listed: with `-U`, and with `-H`.
ALL, SORTED = 1, 3

#: Names of percentiles, in ten-thousandths.
PERCENTILES = {"median": 5000, "p90": 9000, "p99": 9900, "p999": 9990, "p9999": 9999}


@dataclass(frozen=True)
class Samples:
    """The times of one message size, in seconds or, with `in_cycles`, in CPU cycles.

    `values` stand in the order in which they were printed; of `total`, as many may be missing as
    are larger than all of them.
    """

    bytes: int
    iterations: int
    in_cycles: bool
    values: tuple[float, ...]
    total: int

    @property
    def is_complete(self) -> bool:
        """Return whether every time is there."""
        return len(self.values) == self.total


@dataclass(frozen=True)
class _List:
    """A list as it is printed: its unit and the numbers of its lines."""

    unit: str
    values: list[float]


def percentile(samples: Samples, ten_thousandths: int) -> float | None:
    """Return a nearest-rank percentile over all times, or None when its rank is not listed.

    9990 is the 99.9th.
    """
    rank = max(1, -(-samples.total * ten_thousandths // 10_000))
    return sorted(samples.values)[rank - 1] if rank <= len(samples.values) else None


def parse(text: str) -> list[Samples]:
    """Return the times of each message size, in the order in which they were printed.

    With both `-U` and `-H`, the complete list is given. Raises ToolError when perftest reported an
    error, NotRecognisedError for a text without a whole list and the result row below it.
    """
    lines = perftest_text.clean(text)
    words = perftest_text.words(lines)
    perftest_errors.check(words)
    perftest_text.refuse_trouble(words)
    found: list[Samples] = []
    lists: list[_List] = []
    for line in lines:
        title, row = TITLE.fullmatch(line), ROW.fullmatch(line)
        if title is not None:
            lists.append(_List(title[1], []))
        elif "," in line and (sample := SAMPLE.fullmatch(line)) is not None:
            _add(lists, int(sample[1]), float(sample[2]))
        elif row is not None:
            found.append(_samples(int(row[1]), int(row[2]), lists))
            lists = []
    if lists or not found:
        raise NotRecognisedError("expected lists of samples and a result row below each, got none")
    return found


def _add(lists: list[_List], index: int, value: float) -> None:
    if not lists or index != len(lists[-1].values) + 1 or not 0 < value < math.inf:
        raise NotRecognisedError(f"expected samples from 1 on, got number {index}: {value}")
    lists[-1].values.append(value)


def _samples(size: int, iterations: int, lists: Sequence[_List]) -> Samples:
    missing = [iterations - len(one.values) for one in lists]
    if missing not in ([ALL], [SORTED], [ALL, SORTED]) or len({one.unit for one in lists}) != 1:
        raise NotRecognisedError(
            f"expected {iterations - ALL} samples, or {iterations - SORTED} sorted ones, above the "
            f"row of {iterations} iterations, got {[len(one.values) for one in lists]}"
        )
    ordered = lists[-1].values
    if missing[-1] == SORTED and ordered != sorted(lists[0].values)[: len(ordered)]:
        raise NotRecognisedError("expected the sorted samples to be the smallest ones, in order")
    in_cycles = lists[0].unit == "cycles"
    return Samples(
        bytes=size,
        iterations=iterations,
        in_cycles=in_cycles,
        values=tuple(lists[0].values if in_cycles else map(_seconds, lists[0].values)),
        total=iterations - ALL,
    )


def _seconds(microseconds: float) -> float:
    """Return the nearest number of seconds: 1.9 us is 1.9e-06 s and not a neighbour."""
    return float(Decimal(repr(microseconds)).scaleb(-6))


def records(text: str) -> list[dict[str, object]]:
    """Return one record for each size; keys end in `_s`, or in `_cycles` with `-C`.

    `stdev` is the deviation of the population; None is what `-H` does not list.
    """
    return [_record(samples) for samples in parse(text)]


def _record(samples: Samples) -> dict[str, object]:
    values = samples.values
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    told = samples.is_complete
    statistics = {
        "min": min(values),
        **{name: percentile(samples, part) for name, part in PERCENTILES.items()},
        "max": max(values) if told else None,
        "mean": mean if told else None,
        "stdev": spread if told else None,
    }
    suffix = "cycles" if samples.in_cycles else "s"
    return {
        "bytes": samples.bytes,
        "iterations": samples.iterations,
        "samples": len(values),
        **{f"{name}_{suffix}": value for name, value in statistics.items()},
    }
