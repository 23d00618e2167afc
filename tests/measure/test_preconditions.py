"""Nodes are looked at once, and before anything loads them."""

from __future__ import annotations

from typing import cast

import pytest

from pytest_fabric.errors import FabricError, MeasurementError, NotRecognisedError
from pytest_fabric.measure import busy
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.preconditions import Preconditions
from pytest_fabric.results import Pair, Port

ONE, OTHER, THIRD = (Port(f"gpu00{n}", "rail0") for n in (1, 2, 3))


class AnyFabric:
    def end(self, port: Port) -> None:
        """Every port is there."""


@pytest.mark.parametrize("allow_busy", [False, True])
def test_each_node_is_looked_at_once(monkeypatch: pytest.MonkeyPatch, allow_busy: bool) -> None:
    """What comes later, as after a resume, is looked at before it is loaded."""
    asked: list[str] = []

    def nodes(fabric: Fabric, ports: list[Port]) -> dict[str, tuple[str, ...]]:
        asked.extend(port.node for port in ports)
        return {p.node: (f"{p.node}: in use: train.py",) for p in ports if p.node == "gpu003"}

    monkeypatch.setattr(busy, "busy_nodes", nodes)
    known = Preconditions(cast("Fabric", AnyFabric()), allow_busy)
    known.look([Pair(ONE, OTHER), "gpu009", THIRD])
    assert known.missed([Pair(ONE, OTHER)]) is None
    known.look([Pair(ONE, THIRD)])
    told: FabricError | None = known.missed([Pair(ONE, THIRD)])

    if allow_busy:
        assert (asked, told) == ([], None)
        return
    assert asked == ["gpu001", "gpu002", "gpu003"]
    assert isinstance(told, MeasurementError)
    assert told.kind == "busy"
    assert str(told).startswith("gpu003: in use: train.py; wait")


def test_a_look_that_failed_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The node is looked at again before it is loaded, and not taken for idle."""
    asked: list[str] = []

    def nodes(fabric: Fabric, ports: list[Port]) -> dict[str, tuple[str, ...]]:
        asked.extend(port.node for port in ports)
        if len(asked) == 2:
            raise RuntimeError("no threads left")
        return {}

    monkeypatch.setattr(busy, "busy_nodes", nodes)
    known = Preconditions(cast("Fabric", AnyFabric()), allow_busy=False)
    with pytest.raises(RuntimeError):
        known.look([Pair(ONE, OTHER)])
    known.look([Pair(ONE, OTHER)])

    assert asked == ["gpu001", "gpu002"] * 2


def test_what_a_node_says_and_nobody_understands_is_no_idle_node(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is refused with what was found, in one line, and no traceback ends the run."""

    class Reached(AnyFabric):
        def session(self, node: str) -> None:
            """Every node is reached."""

    def garbage(session: object, ends: object) -> tuple[str, ...]:
        raise NotRecognisedError("expected PATH:VALUE, got 'x'")

    monkeypatch.setattr(busy, "check", garbage)
    found = busy.busy_nodes(cast("Fabric", Reached()), [ONE])
    assert found == {
        "gpu001": ("gpu001: cannot tell whether it is in use: expected PATH:VALUE, got 'x'",)
    }
