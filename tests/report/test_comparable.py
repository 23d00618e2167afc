"""How a run stands beside its baseline, in the lines of its summary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from pytest_fabric.report.comparable import lines, run_of
from pytest_fabric.report.rundir import RunDirectory
from pytest_fabric.report.stored import Stored, open_run
from pytest_fabric.results import Growth, Measurement
from tests.judge.compare.runs import PAIRS, bandwidth, latency

from .examples import ABOUT


def stored(root: Path, records: Sequence[Measurement]) -> Stored:
    directory = RunDirectory.create(root, datetime.now(), lambda new: new.about(ABOUT))
    for record in records:
        directory.measurement(record)
    directory.close()
    return open_run("compare", directory.path)


def values(slower: float = 1.0, less: float = 1.0) -> list[Measurement]:
    """Return a latency and a bandwidth of each pair; the first two are another matter."""
    factors = [slower, slower, *[1.0] * (len(PAIRS) - 2)]
    times = [latency(pair, 4 * factor) for pair, factor in zip(PAIRS, factors, strict=True)]
    return [*times, *(bandwidth(pair, 380 * less) for pair in PAIRS)]


def test_what_is_worse_and_better_is_counted_and_named(tmp_path: Path) -> None:
    baseline = [stored(tmp_path, values()) for _ in range(3)]
    now = stored(tmp_path, [*values(1.3, 1.05), latency("gpu101:rail0..gpu102:rail0", 9)])

    assert lines(now, baseline) == [
        "compared with baseline (3 runs): 32 values: 4 worse, 8 better, 20 same",
        "  worse: 2 x ib_write_lat 4 B median, under load  "
        "gpu001:rail0..gpu002:rail0, gpu002:rail0..gpu003:rail0 (at most 4 us -> 5.2 us)",
        "  worse: 2 x ib_write_lat 4 B P99, under load  "
        "gpu001:rail0..gpu002:rail0, gpu002:rail0..gpu003:rail0 (at most 8 us -> 10.4 us)",
        "  better: 8 x ib_write_bw 1 MiB average, under load  "
        "8 pairs among gpu[001-008]:rail0 (at most 380 Gb/s -> 399 Gb/s)",
    ]


def test_what_an_earlier_run_has_shown_by_itself_is_not_worse(tmp_path: Path) -> None:
    """One of them was as slow."""
    baseline = [stored(tmp_path, values(factor)) for factor in (1.0, 1.0, 1.4)]

    assert ": 0 worse, 0 better, 32 same" in lines(stored(tmp_path, values(1.3)), baseline)[0]


def test_nothing_in_common_is_said(tmp_path: Path) -> None:
    baseline = [stored(tmp_path, [latency("gpu101:rail0..gpu102:rail0", 9)])]

    assert lines(stored(tmp_path, values()), baseline) == [
        "compared with baseline (1 run): no value of this run is in it"
    ]


def test_a_run_knows_the_counters_that_it_saw(tmp_path: Path) -> None:
    """Those that did not grow, and those without a meaning, too: a driver may lose any of them."""
    grown = (
        Growth("gpu001:rail0", "rx_prio3_pause", "pause", 0, "rx", 3),
        Growth("gpu001:rail0", "tx_bytes_phy", "bytes", 9_000_000, "tx"),
    )
    found = run_of(stored(tmp_path, [replace(latency(PAIRS[0], 4), growth=grown)]))

    assert found.counters == {"gpu001:rail0": frozenset({"rx_prio3_pause", "tx_bytes_phy"})}
