"""The suites of host and firmware: what they say of a fault, and what they cannot say."""

from __future__ import annotations

import pytest

from .runs import ended, run, told

SUITES = ("suites/test_2_host.py", "suites/test_2_firmware.py")

#: A fault at its place, the test that fails, its target, and what the message must name beside it.
TOLD = {
    "memlock@gpu001": ("test_memlock", "gpu001", "8 MiB"),
    "sysctl@gpu002": ("test_receive_buffer", "gpu002", "212992"),
    "acs@gpu004": ("test_no_pcie_bridge_redirects", "gpu004", "ReqRedir"),
    "kernel_minority@gpu001": ("test_same_kernel", "fabric", "gpu001 6.8.0-45-generic"),
    "os_minority@gpu002": ("test_same_system", "fabric", "gpu002 Ubuntu 22.04"),
    "driver_minority@gpu003": ("test_same_driver", "fabric", "gpu003:rail0"),
    "log_xid@gpu002": ("test_kernel_log_tells_no_fault_of_a_gpu", "gpu002", "Xid"),
    "log_link_down@gpu001": ("test_kernel_log_tells_no_lost_link", "gpu001", "Link down"),
    "firmware_pending@gpu001:rail0": (
        "test_no_firmware_waits_for_a_reset",
        "gpu001:rail0",
        "reset the card",
    ),
    "firmware_declared@gpu004:rail0": ("test_declared_firmware", "gpu004:rail0", "DEL0000000049"),
    "firmware_minority@gpu002:rail1": ("test_same_firmware", "fabric", "28.36.1010"),
}


def test_a_message_names_what_is_odd(site: pytest.Pytester) -> None:
    """And who has it, where a fabric is to be of one kind."""
    run(site, suites=SUITES, faults=TOLD)

    bad = {**told(site, "failed"), **told(site, "error")}
    for check, target, word in TOLD.values():
        assert word in bad[check, target]


def test_what_is_not_declared_is_skipped_and_what_root_hides_is_an_error(
    site: pytest.Pytester,
) -> None:
    """No firmware section, no sudo: the first asks for nothing, the second names its remedy."""
    cluster = site.path / "cluster.yaml"
    text = cluster.read_text()
    cluster.write_text(text.replace('    firmware: {MT_0000000838: "28.39.1002"}\n', ""))
    options = ("-k", "declared_firmware or bridge", "--fabric-nodes=gpu[001-002]")

    run(site, *options, suites=SUITES, faults=["root_only@gpu001", "root_only@gpu002"])

    assert not told(site, "passed")
    assert {(check, outcome) for (check, _), outcome in ended(site).items()} == {
        ("test_declared_firmware", "skipped"),
        ("test_no_pcie_bridge_redirects", "error"),
    }
    errors = told(site, "error").values()
    assert all("[lspci]" in message and "fabric sudoers" in message for message in errors)
