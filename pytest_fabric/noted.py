"""What a run notes of ports beside its verdicts: growth, oddities, devices, unverified drivers."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

from pytest_fabric import counters
from pytest_fabric.config import Cluster
from pytest_fabric.errors import MeasurementError
from pytest_fabric.grown import Grown
from pytest_fabric.judge.oddities import oddities
from pytest_fabric.measure.facts import find
from pytest_fabric.report.context import Device
from pytest_fabric.results import NodeFacts


class Noted:
    """Evidence about ports, as it comes in; `growth` is safe to use from many threads."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.growth = Grown()
        self.odd: dict[str, tuple[str, ...]] = {}
        self.devices: dict[str, Device] = {}
        self.unverified: Counter[str] = Counter()

    def facts(self, facts: NodeFacts) -> None:
        """Remember facts that are not as declared, and drivers known from their sources only."""
        for name, rail in self._cluster.nodes[facts.node].rails.items():
            place = f"{facts.node}:{name}"
            with suppress(MeasurementError):  # no such port: told by its own checks
                port = find(place, rail, facts)
                self.odd[place] = tuple(oddities(port, rail.profile))
                self.devices[place] = Device(port.device, port.number)
                if not counters.is_verified(port.driver):
                    self.unverified[port.driver or "unknown"] += 1
