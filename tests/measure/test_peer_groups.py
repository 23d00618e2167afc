"""A group of peers is judged when its last member is measured, and once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fabric import ib_write_bw, ib_write_lat, node_bandwidth
from pytest_fabric.config import Cluster, load_text
from pytest_fabric.measure import plan
from pytest_fabric.measure.peer_groups import PeerGroups
from pytest_fabric.measure.plan import Job, Policy, Want
from pytest_fabric.results import Pair, PairGroup
from tests.clusters import TEXT
from tests.report.examples import LATENCY

ROOM = TEXT.replace("gpu[001-002]", "gpu[001-004]")
PEERS = ROOM.replace('"<= 5 us"', '["<= 5 us", "within 60% of peers"]')
PAIRS = [Pair.parse(f"gpu00{n}:rail0..gpu00{n + 1}:rail0") for n in (1, 2, 3)]


def jobs(cluster: Cluster) -> list[Job]:
    return [plan.job_of(Want(ib_write_lat(size=4), pair), cluster, Policy()) for pair in PAIRS]


def known(text: str) -> Cluster:
    return load_text(text, Path("cluster.yaml"))


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_the_last_member_brings_all(order: tuple[int, ...]) -> None:
    """Whichever it is; and none of them twice."""
    cluster = known(PEERS)
    all_jobs = jobs(cluster)
    groups = PeerGroups(all_jobs, cluster)
    found = []
    for place in order:
        record = replace(LATENCY, target=str(PAIRS[place]))
        made = groups.made(all_jobs[place], record)
        found.append({} if made is None else {str(j.pair): one.target for j, one in made.members})

    assert found == [{}, {}, {str(pair): str(pair) for pair in PAIRS}]
    assert groups.made(all_jobs[0], LATENCY) is None


def test_without_a_clause_of_peers_nobody_waits_for_them() -> None:
    cluster = known(ROOM)
    groups = PeerGroups(jobs(cluster), cluster)

    assert [groups.made(job, LATENCY) for job in jobs(cluster)] == [None] * 3


def test_other_settings_repetitions_and_groups_are_no_peers() -> None:
    """A group of three is complete without them, and not because of them."""
    cluster = known(PEERS)
    three = jobs(cluster)
    other = plan.job_of(Want(ib_write_bw(), PAIRS[0]), cluster, Policy())
    group = PairGroup("gpu001", (PAIRS[0],))
    node = plan.job_of(Want(node_bandwidth(), group), cluster, Policy())
    groups = PeerGroups([*three, other], cluster)

    for job in (*three[:2], *plan.repeats(three[2], 1), node):
        assert groups.made(job, LATENCY) is None
    for last, count in ((other, 1), (three[2], 3)):
        made = groups.made(last, LATENCY)
        assert made is not None
        assert len(made.records) == count
