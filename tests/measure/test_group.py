"""Groups of pairs at once: what they claim, when their clients start, and what is doubted."""

from __future__ import annotations

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fabric import bisection, gpu_bandwidth, ib_write_bw, incast, node_bandwidth
from pytest_fabric.config import Cluster, load, load_text
from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure import group_window, plan, storms
from pytest_fabric.measure.claims import Claims, Occupied
from pytest_fabric.measure.group import Start
from pytest_fabric.measure.group_window import Part
from pytest_fabric.measure.plan import Policy, Want
from pytest_fabric.measure.settings import Settings
from pytest_fabric.measure.window import Window
from pytest_fabric.results import Bandwidth, Growth, Pair, PairGroup, Port

WRITE = Settings("ib_write_bw", 2**20, None, 8, 4, 106, None, 3)
COUNTED_S = 4
ONE, OTHER = (Pair(Port(name, "r0"), Port("c", "r0")) for name in "ab")
DRIVERS = {"a:r0": "mlx5_core", "b:r0": "mlx5_core", "c:r0": "mlx5_core"}

GROUP = PairGroup(
    "gpu001",
    tuple(Pair(Port("gpu001", rail), Port("gpu002", rail)) for rail in ("rail0", "rail1")),
    tuple(Pair(Port("gpu001", rail), Port("gpu003", rail)) for rail in ("rail0", "rail1")),
)


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return load(Path(__file__).parents[2] / "cluster.yaml")


def moved(port: str, direction: str, delta: float) -> Growth:
    return Growth(port, f"port_{direction}_data", "bytes", int(delta), direction)


def part(pair: Pair, bps: float = 190e9, received: float | None = None, late: float = 0.0) -> Part:
    """Return one of two senders that share the line of a receiver; 6 of 8 s flowed beside it."""
    octets = bps / 8 * 7
    row = Bandwidth(2**20, int(bps / 8 / 2**20 * COUNTED_S), None, bps, bps / 8 / 2**20)
    growth = (
        moved(str(pair.client), "tx", octets),
        moved("c:r0", "rx", 2 * octets if received is None else received),
    )
    seen = Window(growth, {}, 9.0)
    return Part(pair, WRITE, row, 4096, seen, 400e9, DRIVERS, 5.0 + late, 15.0 + late)


def doubts(*parts: Part) -> str:
    return "; ".join(group_window.doubts(parts))


def test_two_senders_that_share_a_receiver_raise_no_doubt() -> None:
    """What the receiver took in is the sum of both: neither is foreign to the other."""
    assert doubts(part(ONE), part(OTHER)) == ""


def test_a_client_that_started_late_is_named() -> None:
    """perftest leaves out a quarter of its run: more than that, and it was alone for a while."""
    assert doubts(part(ONE), part(OTHER, late=1.9)) == ""
    told = doubts(part(ONE), part(OTHER, late=2.5))
    assert told.startswith("b:r0..c:r0 started 2.5 s after the first, expected at most 2 s")


def test_more_than_the_line_means_that_they_did_not_meet() -> None:
    told = doubts(part(ONE, 300e9), part(OTHER, 300e9))

    assert "c:r0 received 600 Gb/s by the sum of its pairs, more than its line" in told


def test_a_receiver_that_took_in_less_was_not_the_receiver() -> None:
    told = doubts(part(ONE, received=1e9), part(OTHER, received=1e9))

    assert "c:r0 received 1 GB by its counters, expected at least" in told


def test_more_than_all_pairs_sent_is_foreign() -> None:
    octets = 4 * 190e9 / 8 * 7
    told = doubts(part(ONE, received=octets), part(OTHER, received=octets))

    assert "that are not ours: foreign traffic" in told


def test_of_windows_of_the_same_port_the_widest_counts() -> None:
    narrow = Window((moved("c:r0", "rx", 10), moved("a:r0", "tx", 9)), {}, 1.0)
    wide = Window((moved("c:r0", "rx", 20),), {"pause": "none"}, 2.0)
    seen = group_window.merged([narrow, wide])

    assert [(one.port, one.delta) for one in seen.growth] == [("a:r0", 9), ("c:r0", 20)]
    assert (seen.problems, seen.duration_s) == ({"pause": "none"}, 2.0)


def test_clients_start_when_the_last_server_listens() -> None:
    start, begun = Start(3), threading.Event()
    with ThreadPoolExecutor(3) as threads:
        early = [threads.submit(start.wait) for _ in range(2)]
        assert not begun.wait(0.05)
        assert not any(one.done() for one in early)
        threads.submit(start.wait).result(10)
        for one in early:
            one.result(10)
    assert start.is_over


def test_whoever_fails_before_the_start_lets_nobody_wait() -> None:
    start = Start(2)
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(start.wait)
        start.give_up()
        with pytest.raises(MeasurementError, match="another pair of the group could not be"):
            waiting.result(10)
    assert not start.is_over


def test_a_node_claims_its_ports_its_partners_and_places_on_their_leaves(cluster: Cluster) -> None:
    job = plan.job_of(Want(node_bandwidth(), GROUP), cluster, Policy())
    claims = plan.claims(job, cluster, lambda port: None)

    ports = {f"port {name}:{rail}" for name in ("gpu001", "gpu002") for rail in ("rail0", "rail1")}
    assert set(claims.held) == ports | {"node gpu001", "node gpu002"}
    assert sorted(claims.budgets) == ["load leaf leaf-0", "load leaf leaf-1"]
    assert (job.load, job.name) == ("full", "node_bandwidth gpu001")
    assert {member.settings.directions for member in job.members} == {2}


def test_its_repetition_has_other_partners_and_the_fabric_for_itself(cluster: Cluster) -> None:
    job = plan.job_of(Want(node_bandwidth(), GROUP), cluster, Policy())
    (again,) = plan.repeats(job, 1)

    assert again.pairs == GROUP.again
    assert "fabric" in plan.claims(again, cluster, lambda port: None).held
    assert again.key == f"{job.key} alone 1"
    assert again.phase == job.phase + 1


@pytest.mark.parametrize("declaration", [incast(senders=2), bisection()])
def test_what_congests_on_purpose_has_the_fabric_for_itself_and_comes_last(
    cluster: Cluster, declaration: object
) -> None:
    want = Want(declaration, GROUP)  # type: ignore[arg-type]
    job = plan.job_of(want, cluster, Policy())
    pair = plan.job_of(Want(ib_write_bw(), GROUP.pairs[0]), cluster, Policy())

    assert "fabric" in plan.claims(job, cluster, lambda port: None).held
    assert job.load == "disruptive"
    assert job.phase > pair.phase
    refused = plan.refusal(want, cluster, Policy(load="full"))
    assert refused is not None
    assert refused.endswith("it needs fabric.dedicated: true, or --fabric-load disruptive")
    assert plan.refusal(want, cluster, Policy(load="disruptive")) is None


@pytest.mark.parametrize(
    ("declaration", "word"),
    [
        (node_bandwidth(), "node"),
        (gpu_bandwidth(), "gpu"),
        (incast(senders=2), "incast"),
        (bisection(), "bisection"),
        (node_bandwidth(), "ib_write_bw"),
    ],
)
def test_a_group_that_hardware_cannot_make_is_not_measured(declaration: object, word: str) -> None:
    """Where the profile says it of the group, or of what its pairs run."""
    path = Path(__file__).parents[2] / "cluster.yaml"
    unable = f'not_available: {{{word}: "no connections"}}'
    text = path.read_text().replace("    extends: builtin", f"    {unable}\n    extends: builtin")
    cluster, policy = load_text(text, path), Policy(load="disruptive")
    want = Want(declaration, GROUP)  # type: ignore[arg-type]

    assert plan.jobs_of([want], cluster, policy) == []
    told = plan.refusal(want, cluster, policy)
    assert told is not None
    assert re.fullmatch(r"\w+: not available by profile \S+: no connections", told)


def test_two_incasts_of_one_receiver_are_two_measurements(cluster: Cluster) -> None:
    two, eight = (
        plan.job_of(Want(incast(senders=number), GROUP), cluster, Policy()) for number in (2, 8)
    )

    assert two.key != eight.key


def test_a_budget_is_spent_place_by_place_and_too_much_goes_alone() -> None:
    occupied = Occupied({"load": 3})
    two = Claims(budgets=("load", "load"))
    occupied.take(two)

    assert occupied.obstacle(two) == "load"
    assert occupied.obstacle(Claims(budgets=("load",))) is None
    occupied.free(two)
    assert occupied.obstacle(Claims(budgets=("load",) * 5)) is None


def test_senders_of_an_incast_may_be_paused_and_its_receiver_may_not_pause() -> None:
    """Long pauses at senders are what an incast is to cause where nothing marks."""
    paused = Growth("a:r0", "rx_prio3_pause_duration", "pause_duration", 6_000_000, "rx", 3)
    slow = replace(paused, port="c:r0", name="tx_prio3_pause_duration", direction="tx")

    assert storms.storm(storms.unforced([paused], "c:r0"), 8, is_disruptive=True) is None
    assert storms.storm(storms.unforced([slow], "c:r0"), 8, is_disruptive=True) is not None
    assert storms.storm(storms.unforced([paused], None), 8, is_disruptive=True) is not None
