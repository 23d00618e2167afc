"""What facts say against a measurement before it is tried."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from pytest_fabric.errors import FabricError, MeasurementError
from pytest_fabric.measure import busy
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.results import Pair, Port


class Preconditions:
    """What the nodes of a fabric say about themselves, and about who uses them; safe in threads."""

    def __init__(self, fabric: Fabric, allow_busy: bool) -> None:
        self._fabric = fabric
        self._allow_busy = allow_busy
        self._in_use: dict[str, Sequence[str]] = {}
        self._looked_at: set[str] = set()
        self._looking = threading.Lock()

    def look(self, targets: Iterable[object]) -> None:
        """Find out who uses the nodes that measurements on targets load, once for each node."""
        if self._allow_busy:
            return
        with self._looking:
            ports = [port for port in _loaded(targets) if port.node not in self._looked_at]
            self._in_use.update(busy.busy_nodes(self._fabric, ports))
            self._looked_at.update(port.node for port in ports)  # not before the answer is there

    def in_use(self, ports: Iterable[Port]) -> MeasurementError | None:
        """Return why ports must not be loaded all at once, None when their nodes are idle."""
        if self._allow_busy:
            return None
        wanted = list(ports)
        with self._looking:
            new = [port for port in wanted if port.node not in self._looked_at]
            self._in_use.update(busy.busy_nodes(self._fabric, new))
            self._looked_at.update(port.node for port in new)
        reasons = [
            (n, self._in_use[n]) for n in dict.fromkeys(p.node for p in wanted) if n in self._in_use
        ]
        for node, told in reasons:
            return MeasurementError(
                node, "busy", "; ".join((*told, busy.REMEDY)).removeprefix(f"{node}: ")
            )
        return None

    def missed(self, pairs: Iterable[Pair]) -> FabricError | None:
        """Return why pairs cannot be measured, or None."""
        try:
            for port in _loaded(pairs):
                self._fabric.end(port)
                reasons = self._in_use.get(port.node)
                if reasons:
                    told = "; ".join((*reasons, busy.REMEDY)).removeprefix(f"{port.node}: ")
                    raise MeasurementError(port.node, "busy", told)
        except FabricError as error:
            return error
        return None


def _loaded(targets: Iterable[object]) -> list[Port]:
    """Return the ports that measurements on targets may load."""
    pairs = [target for target in targets if isinstance(target, Pair)]
    return [port for pair in pairs for port in (pair.client, pair.server)]
