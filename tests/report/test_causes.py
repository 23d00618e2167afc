"""Failures under the lowest of their layers, where pairs are not what shows them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric.report.causes import causes
from pytest_fabric.report.suspects import suspects
from pytest_fabric.results import Verdict

from .examples import verdict


def failed(target: str, metric: str, check: str) -> Verdict:
    return replace(verdict(target, "failed", check), metric=metric)


WIDTH = failed("gpu002:rail1", "pcie.width", "test_pcie_width")
ALL_PORTS = failed("gpu002", "node.bandwidth", "test_bandwidth_of_all_ports")
ALL_GPUS = failed("gpu002", "gpu.slowest", "test_no_gpu_falls_behind")


def test_all_ports_of_a_node_follow_from_the_one_that_is_broken() -> None:
    found = [WIDTH, ALL_PORTS, ALL_GPUS]

    assert [(one.fact, one.followers) for one in causes(found, suspects(found))] == [
        (WIDTH, (ALL_PORTS, ALL_GPUS))
    ]
    assert [suspect.place for suspect in suspects(found)] == ["gpu002:rail1"]


@pytest.mark.parametrize(
    "other",
    [
        failed("gpu003:rail1", "pcie.width", "test_pcie_width"),
        failed("gpu002:rail1", "firmware.running", "test_declared_firmware"),
        replace(WIDTH, outcome="passed"),
    ],
)
def test_a_node_without_a_port_to_blame_stays_a_suspect(other: Verdict) -> None:
    found = [other, ALL_PORTS]

    assert causes(found, suspects(found)) == []
    assert "gpu002" in [suspect.place for suspect in suspects(found)]
