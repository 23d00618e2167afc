"""What a node says and we cannot read is an error of that node, whatever it is."""

from __future__ import annotations

from typing import Any, cast

import pytest

from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure import facts
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.transport import Pool
from tests.clusters import cluster


class AnyPool:
    """A pool of nodes that answer nothing at all."""

    def session(self, node: str) -> Any:  # noqa: ANN401 - stands for a session
        return self

    def collect(self, job: object) -> dict[str, object]:
        return {}

    def begin(self, job: object) -> Any:  # noqa: ANN401
        return self

    def wait(self) -> dict[str, object]:
        return {}


def test_a_slip_of_ours_is_one_line_and_an_error_of_its_node_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is met in a thread, and must not end the run of all the others with a traceback."""

    def slips(node: str, outcomes: object) -> None:
        raise ValueError("invalid literal for int() with base 10: '\x1b[2J'")

    monkeypatch.setattr(facts, "parse", slips)
    nodes = Fabric(cluster(), cast(Pool, AnyPool()), lambda facts: None)
    nodes.gather(["gpu001", "gpu002"])

    with pytest.raises(MeasurementError, match="gpu001: facts: internal error: ValueError") as told:
        nodes.facts("gpu001")
    assert str(told.value).isprintable()
    assert told.value.kind == "internal"
