"""A waiver is about one check, on the places that it names, until its last day."""

from __future__ import annotations

import datetime

import pytest

from pytest_fabric.config import Waiver
from pytest_fabric.judge.waivers import covers, find, unused

DAY = datetime.date(2027, 1, 15)


def waiver(
    target: str, until: datetime.date = DAY, metric: str | None = None, owner: str = "netops"
) -> Waiver:
    """Return a waiver of the check of bandwidth."""
    return Waiver(
        check="test_bw", target=target, metric=metric, until=until, owner=owner, reason="RMA 4711"
    )


@pytest.mark.parametrize(
    ("target", "place", "expected"),
    [
        ("gpu[003,009]:rail3", "gpu009:rail3", True),
        ("gpu[003,009]:rail3", "gpu009:rail2", False),
        ("gpu[003,009]:rail3", "gpu009", False),
        ("gpu003:rail3", "gpu001:rail3..gpu003:rail3", True),
        ("gpu003", "gpu003", True),
        ("gpu003", "gpu003:rail1", True),
        ("gpu003", "gpu003:rail1..gpu004:rail1", True),
        ("gpu003", "gpu0031", False),
        ("gpu001:rail0..gpu002:rail0", "gpu001:rail0..gpu002:rail0", True),
        ("gpu001:rail0..gpu002:rail0", "gpu002:rail0..gpu001:rail0", False),
        ("gpu001:rail0..gpu002:rail0", "gpu001:rail0", False),
        ("fabric", "fabric", True),
    ],
)
def test_a_waiver_covers(target: str, place: str, expected: bool) -> None:
    """A port stands for its pairs, a node for its ports, a pair for one direction."""
    assert covers(waiver(target), "test_bw", place) is expected
    assert not covers(waiver(target), "test_bw2", place)


@pytest.mark.parametrize(
    ("metric", "failed", "expected"),
    [
        (None, None, True),
        (None, "ib_write_bw.65536.average", True),
        ("ib_write_bw.average", "ib_write_bw.65536.average", True),
        ("ib_write_bw.65536.average", "ib_write_bw.65536.average", True),
        ("ib_write_bw.65536.average", "ib_write_bw.8.average", False),
        ("ib_write_bw.average", "ib_write_bw.65536.peak", False),
        ("ib_write_bw.average", None, False),
    ],
)
def test_a_metric_narrows_a_waiver(metric: str | None, failed: str | None, expected: bool) -> None:
    found = find([waiver("gpu003", metric=metric)], "test_bw", "gpu003", failed, DAY)

    assert (found is not None) is expected


def test_a_waiver_holds_until_the_end_of_its_last_day() -> None:
    late = DAY + datetime.timedelta(days=1)
    one = [waiver("gpu003")]
    held, over = (find(one, "test_bw", "gpu003", None, day) for day in (DAY, late))

    assert str(held) == "waived by netops until 2027-01-15: RMA 4711"
    assert str(over) == "waiver of netops expired 2027-01-15: RMA 4711"
    assert held is not None
    assert not held.expired


def test_one_that_holds_outlives_one_that_has_expired() -> None:
    later = waiver("gpu003", DAY + datetime.timedelta(days=30), owner="storage")
    found = find(
        [waiver("gpu003"), later], "test_bw", "gpu003", None, DAY + datetime.timedelta(days=1)
    )

    assert found is not None
    assert found.waiver == later


def test_waivers_that_no_failure_fell_under_are_told() -> None:
    """One may be forgotten, another one a slip of the pen."""
    ended = [
        ("test_bw", "gpu003:rail0", "waived"),
        ("test_bw", "gpu004:rail0", "passed"),
        ("test_bw", "gpu005:rail0", "error"),
    ]
    given = [waiver("gpu003:rail0"), waiver("gpu004"), waiver("gpu005"), waiver("gpu006")]

    assert unused(given, ended) == [
        "test_bw gpu004 (netops: mended?)",
        "test_bw gpu005 (netops: not judged in this run)",
        "test_bw gpu006 (netops: not judged in this run)",
    ]
