"""The suite of the fabric against the lab: congestion is answered, or what does not is named."""

from __future__ import annotations

import pytest

from .runs import run, told

SUITE = "suites/test_6_fabric.py"

#: The receivers of the shipped lab are gpu003:rail0 and gpu001:rail1.
FAULTS = ("ecn_np_off@gpu003:rail0", "ecn_rp_off@gpu002:rail1")


def test_faults_of_congestion_control_are_found(site: pytest.Pytester) -> None:
    """A receiver that notifies nobody, and a sender that does not obey: both are paused instead."""
    done = run(site, suites=[SUITE], faults=FAULTS)

    assert done.ret == 1
    failed = told(site, "failed")
    assert failed.keys() == {
        ("test_incast_is_notified", "gpu003:rail0"),
        ("test_incast_is_obeyed", "gpu003:rail0"),
        ("test_incast_is_obeyed", "gpu001:rail1"),
        ("test_incast_pauses_little", "gpu003:rail0"),
        ("test_incast_pauses_little", "gpu001:rail1"),
        ("test_incast_is_shared", "gpu001:rail1"),
    }
    assert "gpu002:rail1 0" in failed["test_incast_is_obeyed", "gpu001:rail1"]
    assert not told(site, "error")
    skipped = told(site, "skipped")
    assert {target for _, target in skipped} == {"no-incast", "no-bisection", "fabric"}
    assert "an incast 8:1 needs 9 nodes on a rail, found at most 4" in skipped.values()


def test_a_fabric_that_others_use_is_not_congested(site: pytest.Pytester) -> None:
    inventory = site.path / "cluster.yaml"
    inventory.write_text(inventory.read_text().replace("dedicated: true", "dedicated: false"))
    done = run(site, suites=[SUITE])

    assert done.ret == 0  # contention of pairs is looked at all the same
    skipped = told(site, "skipped")
    reason = (
        "incast is disruptive load, this run may only be full: it needs fabric.dedicated: true, or "
        "--fabric-load disruptive"
    )
    assert skipped["test_incast_is_answered", "gpu003:rail0"] == reason
