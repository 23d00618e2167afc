"""Ports of a node as they were found, and what its commands say, for tests of topics."""

from __future__ import annotations

from dataclasses import replace

from pytest_fabric.config import Cable, Cluster
from pytest_fabric.measure.end import End
from pytest_fabric.measure.topics.topic import Subject
from pytest_fabric.results import NodeFacts, Port, RdmaPort
from pytest_fabric.transport import Outcome
from tests.clusters import TEXT, cluster
from tests.lab.clusters import INFINIBAND
from tests.ports import PORT

RDMA = PORT
FACTS = NodeFacts("gpu001", "6.1", None, {}, None, (), {}, {}, ())


def subject(
    *found: RdmaPort,
    text: str = TEXT,
    cables: tuple[Cable, ...] = (),
    site: Cluster | None = None,
    facts: NodeFacts = FACTS,
) -> Subject:
    """Return the first node of a cluster with ports that were found, rail by rail."""
    site = site or cluster(text)
    name = next(iter(site.nodes))
    rails = site.nodes[name].rails.values()
    ends = (
        End(Port(name, rail.name), rail, facts, rdma)
        for rail, rdma in zip(rails, found or (RDMA,), strict=False)
    )
    return Subject(name, facts, tuple(ends), cables, site)


def infiniband(*found: RdmaPort, cables: tuple[Cable, ...] = ()) -> Subject:
    """Return a node whose ports are InfiniBand."""
    layer = [replace(rdma, link_layer="InfiniBand", netdevs=()) for rdma in found]
    return subject(*layer, text=INFINIBAND, cables=cables)


def outcome(
    stdout: str = "", status: int | None = 0, stderr: str = "", end: str = "exit"
) -> Outcome:
    """Return how a section ended."""
    return Outcome(end, status, stdout, stderr, False, 0.1)


MISSING = outcome("", 127, "sh: 1: tool: not found\n")
LATE = outcome("driver: ml", None, end="deadline")
