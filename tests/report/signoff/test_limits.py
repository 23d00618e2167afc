"""Which limits a leaf must have been judged by: those of its ports, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fabric import config
from pytest_fabric.description import OF_FABRIC, limited
from pytest_fabric.metrics import GROUP_METRICS, SOAK_METRICS, TOGETHER_METRICS
from tests.clusters import cluster

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", config.builtin_names())
def test_what_is_a_matter_of_the_fabric_is_no_limit_of_a_leaf(name: str) -> None:
    """Else no leaf would be ready whose fabric is too small for a bisection."""
    profile = config.builtin_profile(name)
    found = limited(cluster(), profile)

    assert found
    assert {*GROUP_METRICS, *TOGETHER_METRICS, *SOAK_METRICS} <= OF_FABRIC
    assert not set(found) & OF_FABRIC


def test_what_the_inventory_has_not_got_need_not_be_judged() -> None:
    """The lab's own inventory has switches and TCP; one without them does not ask for either."""
    lab = config.load(ROOT / "cluster.yaml")
    profile = lab.rail(lab.ports()[0]).profile
    words = {metric.partition(".")[0] for metric in limited(lab, profile)}
    bare = {metric.partition(".")[0] for metric in limited(cluster(), profile)}

    assert {"switch", "tcp", "firmware", "link", "ib_write_lat"} <= words
    assert words - bare == {"switch", "tcp"}
    assert "crc_errors.growth" not in limited(cluster(), cluster().profiles["ours"])
