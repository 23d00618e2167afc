"""A port of the inventory as it was found on its node."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pytest_fabric.config import Rail
from pytest_fabric.measure import placement
from pytest_fabric.results import Gid, NodeFacts, Port, RdmaPort


@dataclass(frozen=True)
class End:
    """A port of the inventory as it was found on its node; `turn` is its place among the rails."""

    port: Port
    rail: Rail
    node: NodeFacts
    rdma: RdmaPort
    turn: int = 0

    @property
    def lease(self) -> str:
        """Return the file that a run locks while it measures on the port."""
        return f"/sys/class/infiniband/{self.rdma.device}/ports/{self.rdma.number}/state"

    @cached_property
    def gid(self) -> Gid | None:
        """Return the GID that the port's tools use; None on InfiniBand. Raises MeasurementError."""
        return placement.choose_gid(str(self.port), self.rail, self.rdma)

    @cached_property
    def core(self) -> int | None:
        """Return where the port's tools run; None where there is no choice."""
        return placement.choose_core(self.node, self.rdma, self.turn)
