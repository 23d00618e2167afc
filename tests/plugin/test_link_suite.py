"""The link suite without root, and on InfiniBand, where the firmware's tool is asked."""

from __future__ import annotations

import pytest

from .runs import run, told

ROCE = """\
name: lab
transport: lab
nodes:
  gpu[001-002]: {profile: builtin/cx7-400g-roce}
rails:
  rail0: {pci: "0000:1a:00.0", network: 10.1.0.0/16}
  rail1: {pci: "0000:3a:00.0", network: 10.2.0.0/16}
pairs: {strategy: ring}
"""

#: What needs root: it cannot be told without, and the rest is.
ROOT_ONLY = {
    "test_bit_errors_before_correction",
    "test_bit_errors_after_correction",
    "test_module_temperature",
    "test_module_is_cooler_than_it_warns_at",
    "test_received_power",
    "test_sent_power",
    "test_lanes_receive_alike",
    "test_pcie_read_request",
}


def test_what_needs_root_is_an_error_that_says_so(site: pytest.Pytester) -> None:
    (site.path / "cluster.yaml").write_text(ROCE)
    run(site, "-k", "test_1_link", faults=["root_only@gpu002"])

    assert not told(site, "failed")
    errors = told(site, "error")
    assert set(errors) == {
        (check, f"gpu002:{rail}") for rail in ("rail0", "rail1") for check in ROOT_ONLY
    }
    assert all("needs root" in message and "sudo" in message for message in errors.values())
    assert all(len(message.splitlines()) == 1 for message in errors.values())


NDR = """\
name: ndr
transport: lab
nodes:
  ib[1-8]: {profile: builtin/cx7-400g-ndr}
rails:
  rail0: {pci: "0000:1a:00.0"}
pairs: {strategy: ring}
"""

#: What each fault makes fail.
FAULTS = {
    "fec_mode@ib1:rail0": {"test_fec_mode"},
    "module_hot@ib2:rail0": {"test_module_temperature", "test_module_is_cooler_than_it_warns_at"},
    "dirty_optic@ib3:rail0": {
        "test_received_power",
        "test_lanes_receive_alike",
        "test_bit_errors_before_correction",
    },
    "weak_laser@ib4:rail0": {"test_sent_power"},
    "high_ber@ib5:rail0": {
        "test_bit_errors_before_correction",
        "test_bit_errors_after_correction",
        "test_no_uncorrectable_blocks",
    },
    "link_flap@ib6:rail0": {"test_link_flaps"},
    "port_down@ib7:rail0": {"test_port_state", "test_physical_state"},
}

#: What has no value where the link is down: nothing crosses it.
DOWN = {
    "test_fec_mode",
    "test_bit_errors_before_correction",
    "test_bit_errors_after_correction",
    "test_no_uncorrectable_blocks",
}


def test_faults_are_seen_on_infiniband_by_the_firmwares_tool(site: pytest.Pytester) -> None:
    (site.path / "cluster.yaml").write_text(NDR)
    run(site, "-k", "test_1_link", faults=FAULTS)

    assert set(told(site, "failed")) == {
        (check, fault.partition("@")[2]) for fault, checks in FAULTS.items() for check in checks
    }
    errors = told(site, "error")
    assert set(errors) == {(check, "ib7:rail0") for check in DOWN}
    assert all("the link is down" in message for message in errors.values())
