"""Answers from a stored run: what is there, and one line about what is not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric import ib_write_bw, ib_write_lat
from pytest_fabric.declare import Declaration
from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure.earlier import Earlier
from pytest_fabric.measure.plan import Policy, Want, job_of
from pytest_fabric.measure.replay import Replay
from pytest_fabric.results import Measured, NodeFacts, Pair, Port
from tests.clusters import TEXT, cluster
from tests.judge.test_views import PORT
from tests.report.examples import LATENCY

PAIR = Pair(Port("gpu001", "rail0"), Port("gpu002", "rail0"))
WANT = Want(ib_write_lat(size=4), PAIR)
POLICY = Policy()
FACTS = NodeFacts("gpu001", "6.1", "6.24", {}, None, (0,), {}, {}, (PORT,))
RECORD = replace(LATENCY, key=job_of(WANT, cluster(), POLICY).settings.key)
AGAIN = replace(RECORD, alone=True, company=0)


def replay(*measured: Measured, text: str = TEXT, policy: Policy = POLICY) -> Replay:
    return Replay(cluster(text), policy, "runs/1", measured, {"gpu001": FACTS}, {})


def refused(replayed: Replay, want: Want = WANT) -> MeasurementError:
    with pytest.raises(MeasurementError) as caught:
        replayed.pair(want, lambda: None)
    return caught.value


def test_stored_measurements_are_answers() -> None:
    """With their repetitions."""
    found = replay(Measured(RECORD, (AGAIN,)))

    assert found.pair(WANT, lambda: None) == Measured(RECORD, (AGAIN,))
    assert found.alone(WANT, lambda: None) == (AGAIN,)


FOUR = TEXT.replace("gpu[001-002]", "gpu[001-004]").replace(
    "rails:\n", "rails:\n  rail1: {device: mlx5_1, leaf: leaf-1}\n"
)


def test_peers_are_alike_in_all_that_decides_a_latency() -> None:
    """Not another size, not another hop class, and no port that is not declared any more."""
    alike = [
        replace(RECORD, target=f"{a}:rail0..{b}:rail0")
        for a, b in (("gpu002", "gpu003"), ("gpu004", "gpu001"))
    ]
    others = [
        replace(RECORD, target="gpu003:rail0..gpu004:rail0", key="ib_write_lat size=8"),
        replace(RECORD, target="gpu003:rail1..gpu004:rail1"),
        replace(RECORD, target="gpu003:rail0..gpu009:rail0"),
    ]
    found = replay(*(Measured(record) for record in (RECORD, *alike, *others)), text=FOUR)

    assert found.peers(WANT, lambda: None) == (RECORD, *alike)


def test_a_baseline_is_asked_for_the_same_measurement() -> None:
    """Each run by its name, with nothing where it has nothing; without any, nothing at all."""
    known = Measured(RECORD)
    earlier = Earlier([("one", [known]), ("two", [Measured(replace(RECORD, key="other"))])])
    found = Replay(cluster(), POLICY, "runs/1", (), {}, {}, earlier)

    assert found.past(WANT) == (("one", known), ("two", None))
    assert replay(known).past(WANT) == ()


def test_what_nothing_was_beside_needs_no_repetition() -> None:
    """A miss of it is one."""
    assert replay(Measured(replace(RECORD, company=0))).alone(WANT, lambda: None) == ()


@pytest.mark.parametrize(("company", "told"), [(1, "1 other,"), (3, "3 others,")])
def test_a_miss_that_was_never_confirmed_is_no_verdict(company: int, told: str) -> None:
    """The run was killed in between, or the limit of then was met."""
    found = replay(Measured(replace(RECORD, company=company)))

    with pytest.raises(MeasurementError, match="it was not confirmed") as caught:
        found.alone(WANT, lambda: None)
    assert caught.value.kind == "not_confirmed"
    assert told in str(caught.value)


def test_what_is_not_stored_is_named() -> None:
    """With what is stored instead: another size, another tool, or nothing of the pair."""
    line = str(refused(replay()))
    assert line == (
        "gpu001:rail0..gpu002:rail0: expected a measurement ib_write_lat size=4 iterations=20000 "
        "traffic_class=106 priority=3 in runs/1, found none of that pair; --fabric-resume measures "
        "what is missing"
    )
    assert "found none of that tool;" in str(
        refused(replay(Measured(RECORD)), Want(ib_write_bw(), PAIR))
    )
    changed = TEXT.replace("    limits:", "    traffic: {iterations: 5000}\n    limits:")
    error = refused(replay(Measured(RECORD), text=changed))
    assert error.kind == "not_measured"
    assert "iterations=5000" in str(error)
    assert f"found {RECORD.key}: it was measured with other settings;" in str(error)


def test_a_pair_the_other_way_is_another_pair() -> None:
    """Directions differ."""
    turned = Pair(PAIR.server, PAIR.client)

    assert "none of that pair" in str(
        refused(replay(Measured(RECORD)), replace(WANT, target=turned))
    )


def test_facts_are_those_of_the_run() -> None:
    """A node without is an error that says so."""
    found = replay()

    assert found.node("gpu001") == FACTS
    assert found.port(Port("gpu001", "rail0")) == PORT
    with pytest.raises(MeasurementError, match=r"gpu002: expected facts in runs/1, found none"):
        found.port(Port("gpu002", "rail0"))


def test_there_is_no_shell() -> None:
    """What a user's command prints is not stored."""
    with pytest.raises(MeasurementError, match="no network in a replay"):
        replay().shell("gpu001")


@pytest.mark.parametrize(
    ("declaration", "refusal"),
    [
        (ib_write_lat(size=4), None),
        (ib_write_bw(), "ib_write_bw is full load, this run may only be light"),
    ],
)
def test_the_load_of_today_applies(declaration: Declaration, refusal: str | None) -> None:
    """A check that is skipped today is skipped in a replay, too."""
    found = replay(policy=replace(POLICY, load="light"))

    assert found.refusal(Want(declaration, PAIR)) == refusal
