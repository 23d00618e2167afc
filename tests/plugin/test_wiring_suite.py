"""The suite of the wiring against the lab: each fault is found where it is, and nowhere else."""

from __future__ import annotations

import pytest

from .runs import at_once, latest, run, told, unplanned

SUITE = "suites/test_0_wiring.py"

FAULTS = (
    "cable_swapped@gpu001:rail0",  # with gpu002:rail0
    "cable_wrong_port@gpu003:rail1",
    "cable_missing_lldp@gpu004:rail1",
)


def test_faults_of_cables_are_found_at_their_places(site: pytest.Pytester) -> None:
    """A swap is told at both its ports, and once for the fabric."""
    done = run(site, suites=[SUITE], faults=FAULTS)

    assert done.ret == 1
    failed = told(site, "failed")
    cable = "test_cable_is_where_the_plan_says"
    assert failed.keys() == {
        (cable, "gpu001:rail0"),
        (cable, "gpu002:rail0"),
        (cable, "gpu003:rail1"),
        (cable, "gpu004:rail1"),
        ("test_no_cables_are_swapped", "fabric"),
    }
    assert "the place of gpu002:rail0 (cables.csv:5)" in failed[cable, "gpu001:rail0"]
    assert "moved to leaf-1 swp103" in failed[cable, "gpu003:rail1"]
    assert "no LLDP neighbour" in failed[cable, "gpu004:rail1"]
    swap = failed["test_no_cables_are_swapped", "fabric"]
    assert "gpu001:rail0 and gpu002:rail0 are swapped" in swap
    assert not told(site, "error")


def test_without_a_plan_it_is_skipped_with_what_to_add(site: pytest.Pytester) -> None:
    """Once for each test, and not for each port; nothing but skips is no pass."""
    inventory = site.path / "cluster.yaml"
    inventory.write_text(unplanned(inventory.read_text()))
    done = run(site, suites=[SUITE])

    assert done.ret == 10
    skipped = told(site, "skipped")
    assert len(skipped) == 2
    assert all("add `cables: cables.csv`" in message for message in skipped.values())
    assert not (latest(site) / "audit.jsonl").exists()  # nobody was asked


def test_a_node_that_is_lost_and_a_port_without_a_plan_are_errors(site: pytest.Pytester) -> None:
    """Where nobody looked there may be a swap: that there is none cannot be said."""
    plan = site.path / "cables.csv"
    lines = [line for line in plan.read_text().splitlines() if "gpu001,rail1" not in line]
    plan.write_text("\n".join(lines))
    done = run(site, suites=[SUITE], faults=["ssh_down@gpu003"])

    assert done.ret == 10
    errors = told(site, "error")
    cable = "test_cable_is_where_the_plan_says"
    assert errors.keys() == {
        (cable, "gpu001:rail1"),
        (cable, "gpu003:rail0"),
        (cable, "gpu003:rail1"),
        ("test_no_cables_are_swapped", "fabric"),
    }
    assert "expected its cable in cables.csv, found none" in errors[cable, "gpu001:rail1"]


def test_stored_cables_are_judged_again_by_the_plan_of_today(site: pytest.Pytester) -> None:
    """The plan was wrong, and is mended: no node is asked again."""
    run(site, suites=[SUITE], faults=["cable_swapped@gpu001:rail0"])
    assert told(site, "failed")
    plan = site.path / "cables.csv"
    text = plan.read_text().replace("gpu001,rail0,leaf-0,swp1", "gpu001,rail0,leaf-0,swp-")
    text = text.replace("gpu002,rail0,leaf-0,swp2", "gpu002,rail0,leaf-0,swp1")
    plan.write_text(text.replace("swp-", "swp2"))

    assert at_once(site, SUITE, "--fabric-replay=latest").ret == 0
