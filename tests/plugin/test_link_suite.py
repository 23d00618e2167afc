"""Every test of the link suite sees its faults, each at its place, and stays green elsewhere."""

from __future__ import annotations

import pytest

from .test_lab_runs import bad, run

ROCE = """\
name: lab
transport: lab
nodes:
  gpu[001-010]: {profile: builtin/cx7-400g-roce}
rails:
  rail0: {pci: "0000:1a:00.0", network: 10.1.0.0/16}
  rail1: {pci: "0000:3a:00.0", network: 10.2.0.0/16}
pairs: {strategy: ring}
"""

#: What each fault makes fail, of the link suite; what else it breaks is told by other layers.
FAULTS = {
    "link_speed": {"test_link_speed"},
    "fewer_lanes": {"test_link_speed", "test_link_width"},
    "mtu_low": {"test_mtu"},
    "pcie_width": {"test_pcie_width", "test_pcie_path"},
    "fec_mode": {"test_fec_mode"},
    "module_hot": {"test_module_temperature", "test_module_is_cooler_than_it_warns_at"},
    "dirty_optic": {
        "test_received_power",
        "test_lanes_receive_alike",
        "test_bit_errors_before_correction",
    },
    "weak_laser": {"test_sent_power"},
    "high_ber": {
        "test_bit_errors_before_correction",
        "test_bit_errors_after_correction",
        "test_no_uncorrectable_blocks",
    },
    "uncorrectable": {"test_no_uncorrectable_blocks"},
    "link_flap": {"test_link_flaps"},
    "aer": {"test_pcie_corrected_errors"},
    "aer_uncorrectable": {"test_no_pcie_uncorrected_errors"},
    "max_read_request": {"test_pcie_read_request"},
}

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


def places() -> dict[str, str]:
    """Return a node for each fault; its other rail is healthy."""
    return {
        fault: f"gpu{number // 2 + 1:03d}:rail{number % 2}" for number, fault in enumerate(FAULTS)
    }


def test_each_fault_fails_its_tests_at_its_port_and_no_other(site: pytest.Pytester) -> None:
    (site.path / "cluster.yaml").write_text(ROCE)
    options = [f"--fabric-fault={fault}@{place}" for fault, place in places().items()]
    done = run(site, "--fabric-fault=root_only@gpu009", *options, "-k", "test_1_link")

    assert done.ret == 1
    failed = {(verdict.target, verdict.check) for verdict in bad(site)}
    assert failed == {
        (place, check) for fault, place in places().items() for check in FAULTS[fault]
    }
    errors = {
        (verdict.target, verdict.check): verdict.message or "" for verdict in bad(site, "error")
    }
    assert set(errors) == {
        (f"gpu009:{rail}", check) for rail in ("rail0", "rail1") for check in ROOT_ONLY
    }
    assert all("needs root" in message and "sudo" in message for message in errors.values())
    assert all(len(message.splitlines()) == 1 for message in errors.values())
