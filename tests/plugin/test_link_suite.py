"""Every test of the link suite sees its faults, each at its place, and stays green elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from .runs import run, told

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
    "pcie_speed": {"test_pcie_speed", "test_pcie_path"},
    "link_layer": {"test_link_layer"},
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


def placed(faults: Iterable[str], node: str, rails: int) -> dict[str, str]:
    """Return a port for each fault, `rails` to a node."""
    return {
        fault: f"{node.format(number // rails + 1)}:rail{number % rails}"
        for number, fault in enumerate(faults)
    }


def test_each_fault_fails_its_tests_at_its_port_and_no_other(site: pytest.Pytester) -> None:
    (site.path / "cluster.yaml").write_text(ROCE)
    places = placed(FAULTS, "gpu{:03d}", 2)
    faults = ["root_only@gpu009", *(f"{fault}@{place}" for fault, place in places.items())]
    done = run(site, "-k", "test_1_link", faults=faults)

    assert done.ret == 1
    assert set(told(site, "failed")) == {
        (check, place) for fault, place in places.items() for check in FAULTS[fault]
    }
    errors = told(site, "error")
    assert set(errors) == {
        (check, f"gpu009:{rail}") for rail in ("rail0", "rail1") for check in ROOT_ONLY
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

#: What has no value where the link is down: nothing crosses it.
DOWN = {
    "test_fec_mode",
    "test_bit_errors_before_correction",
    "test_bit_errors_after_correction",
    "test_no_uncorrectable_blocks",
}


def test_faults_are_seen_on_infiniband_by_the_firmwares_tool(site: pytest.Pytester) -> None:
    (site.path / "cluster.yaml").write_text(NDR)
    names = ("fec_mode", "module_hot", "dirty_optic", "weak_laser", "high_ber", "link_flap")
    places = placed(names, "ib{}", 1)
    faults = ["port_down@ib7:rail0", *(f"{fault}@{place}" for fault, place in places.items())]
    run(site, "-k", "test_1_link", faults=faults)

    expected = {(check, place) for fault, place in places.items() for check in FAULTS[fault]}
    down = {(check, "ib7:rail0") for check in ("test_port_state", "test_physical_state")}
    assert set(told(site, "failed")) == expected | down
    errors = told(site, "error")
    assert set(errors) == {(check, "ib7:rail0") for check in DOWN}
    assert all("the link is down" in message for message in errors.values())


def test_a_link_that_flaps_is_lost_under_load_too(site: pytest.Pytester) -> None:
    (site.path / "cluster.yaml").write_text(NDR)
    few = "test_link_flaps or test_no_link_down or test_small_write_p99"
    run(site, "-k", few, faults=["link_flap@ib2:rail0"])

    failed = set(told(site, "failed"))
    assert ("test_link_flaps", "ib2:rail0") in failed
    assert {check for check, _ in failed} == {"test_link_flaps", "test_no_link_down"}
    assert all("ib2:rail0" in target for _, target in failed)
