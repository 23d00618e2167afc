"""What a leaf does with the frames of a port: its queues, its thresholds, its way up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Leaf:
    """How the switch that a port hangs on is set up, as frames of that port meet it.

    `uplinks` are the bits per second of each link to a spine; a leaf without any is alone, and
    what leaves it is not limited. `lossless` are the priorities on which it sends PFC, `marks`
    those whose queue has thresholds for ECN.
    """

    uplinks: tuple[float, ...] = ()
    lossless: tuple[int, ...] = ()
    marks: tuple[int, ...] = ()


#: A switch that has no way up, and no class for RDMA.
ALONE = Leaf()
