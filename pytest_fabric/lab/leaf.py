"""What a leaf does with the frames of a port: its queues, its thresholds, its way up."""

from __future__ import annotations

from dataclasses import dataclass

#: What SONiC gives a port without further words, in bytes.
MTU = 9100


@dataclass(frozen=True)
class Leaf:
    """How the switch that a port hangs on is set up, as frames of that port meet it.

    `uplinks` are the bits per second of each link to a spine, one spine each; a leaf without any is
    alone, and what leaves it is not limited. `routing` is ecmp, adaptive or spray. `lossless` are
    the priorities on which it sends PFC, `marks` those whose queue has thresholds for ECN.
    A leaf that does not keep the class sends everything on with DSCP 0. Without headroom, frames
    that are under way when it pauses find no buffer. It may delay notifications of congestion, and
    others may keep its uplinks `busy` in part.
    Of its end of the cable: `fec` as SONiC calls it, frames a second that come in damaged, and
    frames a second of others that lossless queues drop. `late_s` is what each
    frame to or from another leaf takes longer than over one spine.
    """

    uplinks: tuple[float, ...] = ()
    lossless: tuple[int, ...] = ()
    marks: tuple[int, ...] = ()
    routing: str = "ecmp"
    keeps_class: bool = True
    has_headroom: bool = True
    delays_notices: bool = False
    busy: float = 0.0
    fec: str = "rs"
    errors_per_s: float = 0.0
    drops_per_s: float = 0.0
    late_s: float = 0.0


#: A switch that has no way up, and no class for RDMA.
ALONE = Leaf()

#: A spine: every class is served as its ends want it.
SPINE = Leaf(lossless=tuple(range(8)), marks=tuple(range(1, 8)))
