"""What the slowest port of a fabric costs a training step: a model, and never a verdict.

Data-parallel training adds up its gradients in every step (all-reduce). Two algorithms are known to
use all of a fabric, and NCCL chooses the one that its own model calls faster: a ring (Patarasuk and
Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009), and two binary
trees (Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and
scan", 2009). Each is as fast as its slowest port, since every NIC carries an equal part. NVLink,
kernels and what else is the same in every fabric is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, inf, log2
from statistics import median

from pytest_fabric.config import Workload


@dataclass(frozen=True)
class Work:
    """What is trained: `overlap` is the share of computing beside which gradients travel."""

    gpus: int
    gpus_per_node: int
    nics_per_node: int
    gradients_bytes: float
    compute_s: float
    overlap: float

    def __post_init__(self) -> None:
        whole = (self.gpus, self.gpus_per_node, self.nics_per_node)
        sizes = (self.gradients_bytes, self.compute_s, self.overlap)
        if min(whole) < 1 or not all(0 <= size < inf for size in sizes) or self.overlap > 1:
            raise ValueError(f"expected a workload, got {self}")

    @property
    def nodes(self) -> int:
        """Return the number of nodes."""
        return self.gpus // self.gpus_per_node

    @classmethod
    def of(cls, declared: Workload) -> Work:
        """Return the work that a cluster file declares."""
        return cls(
            declared.gpus,
            declared.gpus_per_node,
            declared.nics_per_node,
            declared.gradients.number,
            declared.compute.number,
            declared.overlap,
        )


@dataclass(frozen=True)
class Link:
    """What a port reaches: `bandwidth_bps` of payload, and `latency_s` one way."""

    bandwidth_bps: float
    latency_s: float


@dataclass(frozen=True)
class Step:
    """What a step takes, in seconds: each algorithm alone, and the step with the faster one."""

    ring_s: float
    tree_s: float
    whole_s: float

    @property
    def reduce_s(self) -> float:
        """Return what the faster algorithm takes."""
        return min(self.ring_s, self.tree_s)


@dataclass(frozen=True)
class Cost:
    """A fabric as it was measured, and the same with its slowest port like most."""

    slowest: str
    measured: Link
    usual: Link
    now: Step
    then: Step

    @property
    def difference_s(self) -> float:
        """Return what the slowest port adds to a step, in seconds."""
        return self.now.whole_s - self.then.whole_s


def ring_s(work: Work, link: Link) -> float:
    """Return the time of an all-reduce in rings over all GPUs, one through each NIC, in seconds.

    Each GPU sends 2 (N - 1) / N of the gradients to its neighbour; between nodes the NICs share
    that. Of its 2 (N - 1) steps only 2 (nodes - 1) leave a node (NCCL, src/graph/tuning.cc).
    """
    if work.nodes < 2:
        return 0.0
    octets = 2 * (work.gpus - 1) / work.gpus * work.gradients_bytes
    return _carry_s(octets, work, link) + 2 * (work.nodes - 1) * link.latency_s


def tree_s(work: Work, link: Link) -> float:
    """Return the time of an all-reduce in two binary trees over the nodes, in seconds.

    Each node sends the gradients up and down once, half in each tree, and the way there and back
    is 2 log2(nodes) steps (NCCL, src/graph/tuning.cc).
    """
    if work.nodes < 2:
        return 0.0
    steps = 2 * ceil(log2(work.nodes))
    return _carry_s(2 * work.gradients_bytes, work, link) + steps * link.latency_s


def _carry_s(octets: float, work: Work, link: Link) -> float:
    return octets * 8 / (work.nics_per_node * link.bandwidth_bps)


def step(work: Work, link: Link) -> Step:
    """Return what a step takes where every port is like `link`."""
    ring, tree = ring_s(work, link), tree_s(work, link)
    exposed = max(0.0, min(ring, tree) - work.overlap * work.compute_s)
    return Step(ring, tree, work.compute_s + exposed)


def cost(work: Work, ports: Mapping[str, Link]) -> Cost:
    """Return what the slowest port costs, as the difference to the same fabric without it.

    Raises ValueError where there is no port. A fabric is as fast as its least bandwidth and as its
    longest latency. The slowest port is the one like which all would make a step longest; then it
    is like the median of the others.
    """
    if not ports:
        raise ValueError("expected ports, found none")
    alone = {name: step(work, link).reduce_s for name, link in ports.items()}
    slowest = max(ports, key=lambda name: (alone[name], name))
    others = [link for name, link in ports.items() if name != slowest] or [ports[slowest]]
    usual = Link(
        median(link.bandwidth_bps for link in others), median(link.latency_s for link in others)
    )
    now = step(work, _worst(ports))
    then = step(work, _worst({**ports, slowest: usual}))
    return Cost(slowest, ports[slowest], usual, now, then)


def _worst(ports: Mapping[str, Link]) -> Link:
    return Link(
        min(link.bandwidth_bps for link in ports.values()),
        max(link.latency_s for link in ports.values()),
    )
