"""What a run of nccl-tests found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Half:
    """A size, out of place or in place: time, and bandwidths in gigabytes (10^9) per second.

    `wrong` counts wrong values and is None when they were not checked; `error` is the greatest
    difference, which releases before 2.13 showed instead.
    """

    time_us: float | None
    algbw_gb_s: float | None
    busbw_gb_s: float | None
    wrong: int | None
    error: float | None


@dataclass(frozen=True)
class Row:
    """A size of the sweep; `redop` and `root` are None where the collective has none."""

    size_bytes: int
    count: int
    type: str
    redop: str | None
    root: int | None
    out_of_place: Half
    in_place: Half


@dataclass(frozen=True)
class Report:
    """A whole run. The average goes over all sizes, in and out of place: it is no bandwidth.

    `okay` is False when data was wrong or the average is below what was asked for, None when the
    run did not say.
    """

    collective: str | None
    iterations: int | None
    average_busbw_gb_s: float
    out_of_bounds: int | None
    okay: bool | None
    rows: tuple[Row, ...]
