"""Pairs that are run at once: none starts without the others, and what fails is named."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure import group
from pytest_fabric.measure.context import Context
from pytest_fabric.results import Attempt, Pair, Port
from pytest_fabric.transport import Outcome

from .test_run import GOOD, NO_MEMORY, TABLE, TAKEN, UNSTEADY, FakeRunning, context, ended

OTHER = Pair(Port("gpu003", "rail0"), Port("gpu002", "rail0"))


def pairs(
    clients: list[Outcome] | None = None, servers: list[FakeRunning] | None = None
) -> tuple[Context, Context]:
    """Return a pair that goes well, twice if need be, and another one with these ends."""
    first = context([GOOD, GOOD], [FakeRunning(GOOD), FakeRunning(GOOD)])
    second = context(clients or [GOOD], servers or [FakeRunning(GOOD)])
    return first, replace(second, pair=OTHER)


def jobs(made: Context, end: str) -> list[object]:
    side = made.client if end == "client" else made.server
    return list(side.session.inner.jobs)  # type: ignore[attr-defined]


def attempts(made: Context) -> list[str]:
    return [attempt.outcome for attempt in made.trail.attempts]


def test_all_pairs_run_once_and_their_times_are_noted() -> None:
    made = pairs()

    assert [ran.client for ran in group.run_all(made, itertools.count(18515))] == [GOOD, GOOD]
    for one in made:
        assert attempts(one) == ["ran"]
        assert one.trail.began is not None
        assert one.trail.ended is not None
        assert one.trail.ended >= one.trail.began


def test_a_control_port_that_is_taken_before_the_start_is_tried_again_by_its_pair() -> None:
    taken = FakeRunning(ended(stderr=TAKEN, status=1), is_ready=False)
    made = pairs(servers=[taken, FakeRunning(GOOD)])
    group.run_all(made, itertools.count(18515))

    assert len(jobs(made[0], "server")) == 1
    assert attempts(made[1]) == ["control port was taken on gpu002", "ran"]


def test_a_clock_that_fails_after_the_start_begins_all_of_them_again() -> None:
    """The others have had their traffic without it."""
    unsteady = ended(TABLE.replace("3000.00", "0.00"), UNSTEADY)
    made = pairs(clients=[unsteady, GOOD], servers=[FakeRunning(GOOD), FakeRunning(GOOD)])
    group.run_all(made, itertools.count(18515))

    assert len(jobs(made[0], "server")) == len(jobs(made[1], "server")) == 2
    assert attempts(made[0])[-1] == attempts(made[1])[-1] == "ran"
    assert "client at gpu003:rail0" in attempts(made[1])[0]


def test_a_pair_that_cannot_start_is_named_and_no_other_sends() -> None:
    broken = FakeRunning(ended(stderr=NO_MEMORY, status=1), is_ready=False)
    made = pairs(servers=[broken])
    with pytest.raises(MeasurementError, match=r"^gpu003:rail0\.\.gpu002:rail0: .*gpu002:rail0"):
        group.run_all(made, itertools.count(18515))

    assert jobs(made[0], "client") == []


def test_a_lease_of_somebody_else_ends_all_of_them_to_be_waited_for() -> None:
    held = FakeRunning(ended(stderr="held by run=x", status=None, end="lease"), is_ready=False)
    made = pairs(servers=[held])
    with pytest.raises(MeasurementError) as raised:
        group.run_all(made, itertools.count(18515))

    assert raised.value.kind == "lease"
    assert jobs(made[0], "client") == []


def test_of_pairs_that_share_a_port_one_takes_its_lease() -> None:
    """The others would be kept out by our own lock."""
    made = pairs()
    second = replace(made[1], server=replace(made[1].server, holds=False))
    group.run_all((made[0], second), itertools.count(18515))

    assert [job.lease is None for job in jobs(made[0], "server")] == [False]  # type: ignore[attr-defined]
    assert [job.lease is None for job in jobs(second, "server")] == [True]  # type: ignore[attr-defined]


def test_a_group_in_doubt_has_no_value_and_is_made_again() -> None:
    """Of clients that did not start together, the first has the line for itself for a while."""
    doubt, good = group.Values(doubts=("they were apart",)), group.Values()

    for made, last, noted in (
        ([good], good, 0),
        ([doubt, good], good, 1),
        ([doubt, doubt, doubt, good], doubt, 2),
    ):
        tried: list[Attempt] = []
        assert group.undoubted(iter(made).__next__, tried) is last
        assert [attempt.outcome for attempt in tried] == ["they were apart"] * noted
