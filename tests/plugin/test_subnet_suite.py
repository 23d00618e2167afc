"""The suite of the InfiniBand subnet against the lab: each fault is found, at its place."""

from __future__ import annotations

import json

import pytest

from .runs import latest, run, told

SUITES = ("suites/test_0_wiring.py", "suites/test_3_subnet.py")

CLUSTER = """\
name: ndr
transport: lab
nodes:
  ib[1-2]: {profile: ours, rails: {rail0: {pci: "0000:1a:00.0", leaf: leaf-0}}}
  ib[3-4]: {profile: ours, rails: {rail0: {pci: "0000:1a:00.0", leaf: leaf-1}}}
profiles:
  ours: {extends: builtin/cx7-400g-ndr, infiniband: {partition: "0x8001"}}
cables: cables.csv
"""

PLAN = """\
node,rail,switch,switch_port
ib1,rail0,leaf-0,1
ib2,rail0,leaf-0,2
ib3,rail0,leaf-1,1
ib4,rail0,leaf-1,2
"""


@pytest.fixture
def subnet(site: pytest.Pytester) -> pytest.Pytester:
    """Return a site with two leaves of two InfiniBand nodes each."""
    (site.path / "cluster.yaml").write_text(CLUSTER)
    (site.path / "cables.csv").write_text(PLAN)
    return site


def test_cables_are_told_apart_from_what_the_subnet_lacks(subnet: pytest.Pytester) -> None:
    """Where a cable ends is known without the subnet manager, and without a LID."""
    faults = ("no_subnet_manager@ib4", "no_lid@ib2:rail0", "cable_swapped@ib3:rail0")
    done = run(subnet, suites=SUITES, faults=faults)

    assert done.ret == 1
    assert told(subnet, "failed").keys() == {
        ("test_subnet_manager", "fabric"),
        ("test_one_master_per_subnet", "fabric"),
        ("test_ports_know_one_subnet_manager", "fabric"),
        ("test_every_port_has_a_lid", "fabric"),
        ("test_lid", "ib2:rail0"),
        ("test_lid_of_the_subnet_manager", "ib2:rail0"),
        ("test_cable_is_where_the_plan_says", "ib3:rail0"),
        ("test_cable_is_where_the_plan_says", "ib4:rail0"),
        ("test_no_cables_are_swapped", "fabric"),
    }
    assert not told(subnet, "error")
    assert not told(subnet, "skipped")


def test_a_healthy_subnet_passes_and_is_swept_from_one_node(subnet: pytest.Pytester) -> None:
    """Of the wiring each node scans one hop."""
    done = run(subnet, suites=SUITES)

    assert done.ret == 0
    audit = (latest(subnet) / "audit.jsonl").read_text().splitlines()
    sent = [json.loads(line) for line in audit]
    sweeps = [one["node"] for one in sent if one["command"].startswith("sminfo")]
    assert sweeps == ["ib1"]


def test_the_next_node_is_asked_where_the_first_does_not_answer(subnet: pytest.Pytester) -> None:
    """A fabric is not unknown because one node of it is lost."""
    done = run(subnet, suites=SUITES[1:], faults=["ssh_down@ib1"])

    assert done.ret == 10
    errors = told(subnet, "error")
    assert errors.pop(("test_ports_know_one_subnet_manager", "fabric")).startswith("ib1: ")
    assert all("ib1:rail0" in target for _, target in errors)
    passed = told(subnet, "passed")
    assert ("test_subnet_manager", "fabric") in passed
    assert ("test_every_port_has_a_lid", "fabric") in passed


def test_ethernet_has_no_subnet(site: pytest.Pytester) -> None:
    """It is skipped with the reason, once for each test."""
    done = run(site, suites=SUITES[1:])

    assert done.ret == 10
    skipped = told(site, "skipped")
    assert len(skipped) == 9
    assert all("no port of cluster.yaml is InfiniBand" in text for text in skipped.values())
