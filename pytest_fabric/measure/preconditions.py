"""What facts say against a measurement before it is tried."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pytest_fabric.errors import FabricError, MeasurementError
from pytest_fabric.measure import busy
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.results import Pair, Port


def missed(fabric: Fabric, in_use: Mapping[str, Sequence[str]], pair: Pair) -> FabricError | None:
    """Return why a pair cannot be measured, as far as facts say; `in_use` are reasons by node."""
    try:
        for port in (pair.client, pair.server):
            fabric.end(port)
            if in_use.get(port.node):
                told = "; ".join((*in_use[port.node], busy.REMEDY))
                raise MeasurementError(port.node, "busy", told.removeprefix(f"{port.node}: "))
    except FabricError as error:
        return error
    return None


def loaded(targets: Iterable[object]) -> list[Port]:
    """Return the ports that measurements on targets may load."""
    pairs = [target for target in targets if isinstance(target, Pair)]
    return [port for pair in pairs for port in (pair.client, pair.server)]
