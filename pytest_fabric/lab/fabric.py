"""The fabric while the lab runs: nodes, what flows between them, who listens, who holds what."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from itertools import count
from random import Random

from pytest_fabric.lab import sysfs
from pytest_fabric.lab.clock import Clock
from pytest_fabric.lab.filesystem import Directory, Trails, View
from pytest_fabric.lab.leases import Leases
from pytest_fabric.lab.model import Node
from pytest_fabric.lab.network import Network
from pytest_fabric.lab.tcp import Stream
from pytest_fabric.lab.traffic import Traffic

#: Simulated seconds until a measuring tool uses its socket, where nothing else is said.
START_S = 0.3


class Fabric:
    """All that changes in a running lab; `lock` is held around every change.

    `start_s` is how long a measuring tool takes to open its device and pin its memory, simulated;
    `sockets` are the connections of TCP that each node sends on.
    """

    def __init__(
        self, nodes: Sequence[Node], seed: int, scale: float, start_s: float = START_S
    ) -> None:
        self.start_s = start_s
        self.nodes = {node.name: node for node in nodes}
        self.seed = seed
        self.lock = threading.RLock()
        self.clock = Clock(scale)
        self.traffic = Traffic(uptime=self.clock.uptime, scale=self.clock.scale, seed=seed)
        self.network = Network(nodes)
        self.leases = Leases()
        self.sockets: dict[str, list[Stream]] = {}
        self._roots: dict[str, tuple[Directory, Trails]] = {}
        self._pids = count(4242)
        self._runs: Counter[str] = Counter()

    def change(self, nodes: Sequence[Node]) -> None:
        """Put nodes with other faults in the place of those that are there.

        What runs goes on as it has begun; what has been counted stays, and so do other nodes:
        switches have no faults of their own.
        """
        with self.lock:
            self.nodes = {**self.nodes, **{node.name: node for node in nodes}}
            self.network.rename(tuple(self.nodes.values()))
            self._roots.clear()

    def view(self, node: Node) -> View:
        """Return a node's file system at this moment; it is made when it is first looked at."""
        if node.name not in self._roots:
            traffic, uptime = self.traffic, self.clock.uptime
            root = sysfs.root(node, traffic.tally, uptime, traffic.written)
            self._roots[node.name] = (root, {})
        return View(*self._roots[node.name])

    def pid(self) -> int:
        """Return a process id that no other process of the lab has."""
        return next(self._pids)

    def chance(self, run: str) -> Random:
        """Return the random source of the next run of this name; the same in every lab."""
        self._runs[run] += 1
        return Random(f"{self.seed} {run} {self._runs[run]}")
