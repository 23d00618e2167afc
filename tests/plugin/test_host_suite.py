"""The suites of host and firmware find each fault of a system, where it is, and nothing else."""

from __future__ import annotations

import pytest

from .runs import ended, run, told

SUITES = ("suites/test_2_host.py", "suites/test_2_firmware.py")

BUFFERS = (
    "test_receive_buffer",
    "test_send_buffer",
    "test_tcp_receive_buffer",
    "test_tcp_send_buffer",
    "test_receive_backlog",
)
LOG = "test_kernel_log_tells"

#: Fault and place -> the tests that fail, each with its target. Faults of one wave are on nodes, or
#: ports, of their own.
WAVES: dict[str, dict[str, set[tuple[str, str]]]] = {
    "settings": {
        "governor@gpu001": {("test_cpu_governor", "gpu001")},
        "memlock@gpu001": {("test_memlock", "gpu001")},
        "sysctl@gpu002": {(name, "gpu002") for name in BUFFERS},
        "numa_balancing@gpu003": {("test_numa_balancing", "gpu003")},
        "iommu@gpu004": {("test_iommu_does_not_translate", "gpu004")},
        "acs@gpu004": {("test_no_pcie_bridge_redirects", "gpu004")},
        "kernel_minority@gpu001": {("test_same_kernel", "fabric")},
        "os_minority@gpu002": {("test_same_system", "fabric")},
    },
    "log": {
        "log_mlx5@gpu001": {(f"{LOG}_no_fault_of_a_card", "gpu001")},
        "log_xid@gpu002": {(f"{LOG}_no_fault_of_a_gpu", "gpu002")},
        "log_aer@gpu003": {(f"{LOG}_no_pcie_error", "gpu003")},
        "log_aer_corrected@gpu004": {(f"{LOG}_few_corrected_pcie_errors", "gpu004")},
        "log_link_down@gpu001": {(f"{LOG}_no_lost_link", "gpu001")},
        "driver_minority@gpu003": {("test_same_driver", "fabric")},
        "numa_unknown@gpu002:rail0": {("test_numa_node", "gpu002:rail0")},
        "irqs_one_core@gpu002:rail1": {("test_interrupts_are_spread", "gpu002:rail1")},
        "irqs_remote@gpu003:rail1": {("test_interrupts_are_local", "gpu003:rail1")},
        "firmware_pending@gpu001:rail0": {("test_no_firmware_waits_for_a_reset", "gpu001:rail0")},
        "firmware_declared@gpu004:rail0": {("test_declared_firmware", "gpu004:rail0")},
        "firmware_minority@gpu002:rail1": {
            ("test_declared_firmware", "gpu002:rail1"),
            ("test_same_firmware", "fabric"),
        },
    },
}

#: What the message of a fault's verdict must name, beside its place.
NAMES = {
    "memlock": "8 MiB",
    "sysctl": "212992",
    "acs": "ReqRedir",
    "kernel_minority": "gpu001 6.8.0-45-generic",
    "os_minority": "gpu002 Ubuntu 22.04",
    "log_xid": "Xid",
    "log_link_down": "Link down",
    "driver_minority": "gpu003:rail0",
    "firmware_declared": "DEL0000000049",
    "firmware_pending": "reset the card",
    "firmware_minority": "28.36.1010",
}


@pytest.mark.parametrize("wave", WAVES)
def test_each_fault_is_found_at_its_place_and_nothing_else(
    site: pytest.Pytester, wave: str
) -> None:
    run(site, suites=SUITES, faults=WAVES[wave])

    assert ended(site).keys() == set().union(*WAVES[wave].values())
    errors = told(site, "error")
    assert {check for check, _ in errors} <= {"test_declared_firmware"}
    bad = {**told(site, "failed"), **errors}
    for fault, places in WAVES[wave].items():
        word = NAMES.get(fault.partition("@")[0], "")
        messages = [bad[one] for one in places]
        assert any(word in message for message in messages), (fault, messages)


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
    assert all("sudo: [lspci]" in message and "NOPASSWD" in message for message in errors)
