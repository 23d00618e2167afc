"""Ports of a node as they were found, for tests of topics."""

from __future__ import annotations

from dataclasses import replace

from pytest_fabric.config import Cable, Cluster
from pytest_fabric.measure.end import End
from pytest_fabric.measure.topics.topic import Subject
from pytest_fabric.results import NodeFacts, Port, RdmaPort
from pytest_fabric.transport import Outcome
from tests.lab.clusters import INFINIBAND, ROCE, cluster

FACTS = NodeFacts("gpu001", "6.1", None, {}, None, (), {}, {}, ())

RDMA = RdmaPort(
    device="mlx5_0",
    number=1,
    pci="0000:1a:00.0",
    driver="mlx5_core",
    guid="0200:0000:0000:00a0",
    firmware=None,
    psid=None,
    netdevs=("ens1f0np0",),
    link_layer="Ethernet",
    state="ACTIVE",
    physical_state="LinkUp",
    speed_bps=400e9,
    width=4,
    active_mtu=4096,
    gids=(),
    numa_node=0,
    local_cpus=None,
    irq_cpus=(),
    traffic_class=None,
    pcie=(),
)


def subject(
    *found: RdmaPort, text: str = ROCE, cables: tuple[Cable, ...] = (), site: Cluster | None = None
) -> Subject:
    """Return the first node of a cluster with ports that were found, rail by rail."""
    site = site or cluster(text)
    name = next(iter(site.nodes))
    rails = site.nodes[name].rails.values()
    ends = (
        End(Port(name, rail.name), rail, FACTS, rdma)
        for rail, rdma in zip(rails, found, strict=False)
    )
    return Subject(name, FACTS, tuple(ends), cables)


def infiniband(*found: RdmaPort, cables: tuple[Cable, ...] = ()) -> Subject:
    """Return a node whose ports are InfiniBand."""
    layer = [replace(rdma, link_layer="InfiniBand", netdevs=()) for rdma in found]
    return subject(*layer, text=INFINIBAND, cables=cables)


def outcome(stdout: str, status: int | None = 0, stderr: str = "", end: str = "exit") -> Outcome:
    """Return how a section ended."""
    return Outcome(end, status, stdout, stderr, False, 0.1)
