"""What a leaf does with the frames of a port: its queues, its thresholds, its way up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Leaf:
    """How the switch that a port hangs on is set up, as frames of that port meet it.

    `uplinks` are the bits per second of each link to a spine, one spine each; a leaf without any is
    alone, and what leaves it is not limited. `routing` is ecmp, adaptive or spray. `lossless` are
    the priorities on which it sends PFC, `marks` those whose queue has thresholds for ECN.
    """

    uplinks: tuple[float, ...] = ()
    lossless: tuple[int, ...] = ()
    marks: tuple[int, ...] = ()
    routing: str = "ecmp"


#: A switch that has no way up, and no class for RDMA.
ALONE = Leaf()

#: A spine: every class is served as its ends want it.
SPINE = Leaf(lossless=tuple(range(8)), marks=tuple(range(1, 8)))
