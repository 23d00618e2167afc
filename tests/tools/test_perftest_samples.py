"""Percentiles of ours: nearest-rank over every sample, so that no large time is left out."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.tools import perftest
from pytest_fabric.tools.perftest_samples import Samples, parse, percentile

DATA = Path(__file__).parents[1] / "data" / "perftest-samples"

TIMES = st.lists(st.floats(1e-7, 1.0), min_size=1, max_size=60)


def _of(values: list[float], missing: int = 0) -> Samples:
    kept = sorted(values)[: len(values) - missing] if missing else values
    return Samples(2, len(values) + 1, False, tuple(kept), len(values))


@given(TIMES, st.integers(1, 10_000))
def test_a_percentile_is_the_smallest_time_that_enough_do_not_exceed(
    values: list[float], part: int
) -> None:
    found = percentile(_of(values), part)

    assert found is not None
    assert found in values
    assert sum(value <= found for value in values) * 10_000 >= part * len(values)
    assert sum(value < found for value in values) * 10_000 < part * len(values)


@given(TIMES, st.integers(1, 10_000))
def test_sorted_samples_give_the_same_percentile_or_none(values: list[float], part: int) -> None:
    few = percentile(_of(values, missing=min(2, len(values) - 1)), part)

    assert few in (None, percentile(_of(values), part))


def test_the_largest_time_counts_which_the_summary_leaves_out() -> None:
    text = (DATA / "unsorted.txt").read_text()
    (samples,), (row,) = parse(text), perftest.parse(text).latency

    assert (row.max_s, max(samples.values)) == (2.6e-06, 3.15e-05)
    assert percentile(samples, 9990) == 3.15e-05


def test_every_size_keeps_its_row_when_samples_stand_between_them() -> None:
    run = perftest.parse((DATA / "two-sizes.txt").read_text())

    assert [row.bytes for row in run.latency] == [2, 4]
