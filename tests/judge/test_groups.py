"""What a test reads of a group: sums, shares, and how congestion showed; never a silent zero."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric.errors import CounterError, MeasurementError, MissingValueError
from pytest_fabric.judge.groups import GroupResult
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.results import Bandwidth, Growth, Measurement, Member

from ..report.examples import BANDWIDTH

RECEIVER = "c:r0"


def member(client: str, bps: float, server: str = RECEIVER) -> Member:
    row = Bandwidth(2**20, 1000, None, bps, 46_000.0)
    return Member(f"{client}..{server}", row, 4096, 0.0, 12.0)


def grown(port: str, meaning: str, delta: int, direction: str = "rx") -> Growth:
    return Growth(port, f"{meaning}_of_{port}", meaning, delta, direction, 3)


def record(tool: str, *members: Member, growth: tuple[Growth, ...] = ()) -> Measurement:
    senders = len(members) if tool == "incast" else None
    return replace(
        BANDWIDTH,
        tool=tool,
        target=RECEIVER if tool == "incast" else "n0",
        settings={"duration_s": 10, "senders": senders, "directions": None},
        latency=None,
        bandwidth=None,
        growth=growth,
        counter_errors={},
        doubts=(),
        error=None,
        members=members,
    )


def result(made: Measurement, **more: object) -> GroupResult:
    return GroupResult(made, Ledger(), **more)  # type: ignore[arg-type]


INCAST = record(
    "incast",
    member("a:r0", 100e9),
    member("b:r0", 300e9),
    growth=(
        grown(RECEIVER, "ecn_marked", 50),
        grown(RECEIVER, "cnp_sent", 40, "tx"),
        grown("a:r0", "cnp_handled", 40),
        grown("b:r0", "cnp_handled", 0),
        grown("a:r0", "pause", 0),
        grown("a:r0", "pause_duration", 200_000),
        grown(RECEIVER, "pause_duration", 900_000, "tx"),
    ),
)


def test_a_receiver_takes_in_the_sum_and_the_slowest_has_a_share_of_the_mean() -> None:
    told = result(INCAST)

    assert float(told.bandwidth) == 400e9
    assert float(told.slowest) == 0.5
    assert told.slowest.detail[0] == "a:r0 100 Gb/s"
    assert float(told.fastest) == 1.5
    assert told.fastest.detail[-1] == "a:r0 100 Gb/s"


def test_marks_and_notifications_are_the_reaction() -> None:
    assert result(INCAST).reaction == 90


def test_each_sender_must_slow_down() -> None:
    """One that does not obey is not hidden by one that does."""
    handled = result(INCAST).cnp_handled

    assert handled.number == 0
    assert handled.detail == ("a:r0 40", "b:r0 0")


def test_paused_is_the_longest_time_that_a_port_had_to_wait() -> None:
    """What the receiver sent is its own slowness, which is a storm and no reaction."""
    assert float(result(INCAST).paused) == 0.02


@pytest.mark.parametrize("name", ["reaction", "cnp_sent", "cnp_handled", "paused"])
def test_no_counter_is_no_silence(name: str) -> None:
    with pytest.raises(CounterError, match="not_available of the profile"):
        getattr(result(replace(INCAST, growth=())), name)


def test_a_sender_without_a_counter_of_notifications_is_an_error() -> None:
    """Nobody knows whether it obeys."""
    some = tuple(one for one in INCAST.growth if one.port != "b:r0")

    with pytest.raises(CounterError, match="b:r0"):
        _ = result(replace(INCAST, growth=some)).cnp_handled


def test_waiting_for_credits_is_the_reaction_of_infiniband() -> None:
    waited = (grown("a:r0", "waited", 7, "tx"), grown("b:r0", "waited", 0, "tx"))

    assert result(replace(INCAST, growth=waited)).reaction == 7


def test_doubts_are_errors() -> None:
    with pytest.raises(MeasurementError, match="incast 2:1: started late"):
        _ = result(replace(INCAST, doubts=("started late",))).bandwidth


def test_a_name_that_a_group_does_not_have_is_told() -> None:
    with pytest.raises(MissingValueError, match="incast has no value 'mean': it has bandwidth"):
        _ = result(INCAST).mean


def test_ports_of_a_node_are_compared_by_what_each_could_do() -> None:
    """A storage port of 100 Gb/s beside ports of 400 Gb/s does not fall behind."""
    members = (member("n0:r0", 390e9, "n1:r0"), member("n0:st", 97e9, "n1:st"))
    rates = {members[0].pair: 392e9, members[1].pair: 98e9}
    told = result(record("node_bandwidth", *members), rates=rates)

    assert float(told.slowest) > 0.99
    assert float(told.bandwidth) == 487e9
    assert told.slowest.detail[0] == "n0:st 97 Gb/s (with n1:st)"


def test_only_the_ports_of_the_node_itself_count() -> None:
    growth = (grown("n0:r0", "discards", 2), grown("n1:r0", "discards", 5))
    made = record("node_bandwidth", member("n0:r0", 390e9, "n1:r0"), growth=growth)

    assert result(made).growth("discards") == 2


def test_what_misses_at_first_is_decided_by_what_was_made_again() -> None:
    good = replace(INCAST, members=(member("a:r0", 190e9), member("b:r0", 190e9)))
    told = result(INCAST, again=lambda: (good,))

    assert told.slowest >= 0.9
    assert told.ledger.checks[-1].company == "0.5 at first, 1 when made again"
