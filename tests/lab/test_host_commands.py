"""What the lab's node says of its system is what our parsers read, and what its model holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric.lab.commands import start
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result
from pytest_fabric.tools import (
    devlink_info,
    ethtool_driver,
    interrupts,
    kernel_log,
    lspci,
    proc_limits,
    sysctl,
)

from . import clusters
from .clusters import INFINIBAND, ROCE, fabric

SUDO = ROCE.replace("sudo: [ethtool]", "sudo: [lspci, dmesg]").replace(
    "leaf: leaf-0}", 'leaf: leaf-0, gpu: "0000:1b:00.0"}'
)
JOURNAL = "journalctl -k -b --no-pager -o short-monotonic --since=-1h"


def run(line: str, text: str = SUDO, node: str = "gpu001", *fault: str) -> Result:
    return clusters.run(line, text, node, *fault)


def test_devlink_tells_running_and_stored_firmware() -> None:
    healthy = devlink_info.parse(run("devlink -j dev info").stdout)
    fault = (SUDO, "gpu001", "firmware_pending@gpu001:rail0")
    pending = devlink_info.parse(run("devlink -j dev info", *fault).stdout)

    assert {row.device for row in healthy} == {"pci/0000:1a:00.0", "pci/0000:3a:00.0"}
    assert all(row.running == row.stored for row in healthy if row.running)
    waiting = {row.device for row in pending if row.running != row.stored}
    assert waiting == {"pci/0000:1a:00.0"}
    assert [row.fixed for row in healthy if row.name == "fw.psid"] == ["MT_0000000838"] * 2


@pytest.mark.parametrize(
    ("text", "node", "netdev", "driver"),
    [(SUDO, "gpu001", "enp26s0np0", "mlx5_core"), (INFINIBAND, "ib1", "*", "mlx5_core[ib_ipoib]")],
)
def test_ethtool_tells_the_driver(text: str, node: str, netdev: str, driver: str) -> None:
    name = fabric(text).nodes[node].ports[0].netdevs[0] if netdev == "*" else netdev
    found = ethtool_driver.parse(run(f"ethtool -i {name}", text, node).stdout)

    assert (found.driver, found.version) == (driver, "24.10-1.1.4")


def test_the_kernel_log_is_quiet_while_healthy_and_tells_of_faults() -> None:
    faults = ("log_xid@gpu001", "log_mlx5@gpu001", "log_aer@gpu001", "log_link_down@gpu001")
    healthy = kernel_log.parse(run("dmesg").stdout)
    faulty = kernel_log.parse(run("dmesg", SUDO, "gpu001", *faults).stdout)

    assert {event.kind for event in healthy.events} == {"link"}
    assert max(event.uptime_s or 0 for event in healthy.events) < 60
    told = [event.kind for event in faulty.events if (event.uptime_s or 0) > 60]
    assert told == ["xid", "mlx5_syndrome", "mlx5_health", "aer_uncorrected", "link", "link"]


def test_the_journal_holds_the_last_hour() -> None:
    found = kernel_log.parse(run(JOURNAL, SUDO, "gpu001", "log_xid@gpu001").stdout)

    assert run(JOURNAL).stdout == "-- No entries --\n"
    assert [event.number for event in found.events] == [79]


def test_who_may_read_the_log() -> None:
    world = fabric(SUDO)
    for readers, said in (("all", (0, 0)), ("group", (1, 0)), ("root", (1, 1))):
        node = replace(world.nodes["gpu001"], log_readers=readers)
        calls = [
            Call(world, node, tuple(line.split()), world.view(node)) for line in ("dmesg", JOURNAL)
        ]
        results = [start(call).result for call in calls]
        assert tuple(result.status for result in results if result) == said
        root = start(Call(world, node, ("sudo", "-n", "dmesg"), world.view(node))).result
        assert root
        assert root.status == 0


def test_lspci_shows_capabilities_to_root_only() -> None:
    hidden = (SUDO, "gpu001", "root_only@gpu001")
    user = lspci.parse(run("lspci -vvv -D", *hidden).stdout)
    root = lspci.parse(run("sudo -n lspci -vvv -D").stdout)
    redirects = lspci.parse(run("sudo -n lspci -vvv -D", SUDO, "gpu001", "acs@gpu001").stdout)

    assert {row.capabilities_readable for row in user} == {False}
    assert {row.capabilities_readable for row in root} == {True}
    assert [row.acs for row in root if row.address == "0000:19:00.0"] == [()]
    bridges = {row.address: row.acs for row in redirects if row.driver == "pcieport"}
    assert bridges.keys() >= {"0000:17:01.0", "0000:18:00.0", "0000:19:00.0", "0000:19:1f.0"}
    assert all("ReqRedir" in (flags or ()) for flags in bridges.values())


def test_the_path_of_a_device_names_what_is_above_it() -> None:
    lines = run("readlink -f /sys/bus/pci/devices/0000:1a:00.0 /sys/bus/pci/devices/0000:1b:00.0")

    above = "/sys/devices/pci0000:17/0000:17:01.0/0000:18:00.0"
    assert lines.stdout == f"{above}/0000:19:00.0/0000:1a:00.0\n{above}/0000:19:1f.0/0000:1b:00.0\n"
    missing = "/sys/bus/pci/devices/0000:77:00.0"
    assert run(f"readlink -f {missing}").stdout == f"{missing}\n"


@pytest.mark.parametrize(
    ("fault", "path", "text"),
    [
        ("kernel_minority@gpu001", "/proc/cmdline", "6.8.0-45-generic"),
        ("iommu@gpu001", "/proc/cmdline", "amd_iommu=on quiet"),
        ("iommu@gpu001", "/sys/class/infiniband/mlx5_0/device/iommu_group/type", "DMA-FQ"),
        ("os_minority@gpu001", "/etc/os-release", "Ubuntu 22.04"),
        ("sysctl@gpu001", "/proc/sys/net/core/rmem_max", "212992"),
        ("numa_unknown@gpu001:rail0", "/sys/class/infiniband/mlx5_0/device/numa_node", "-1"),
    ],
)
def test_files_of_a_fault(fault: str, path: str, text: str) -> None:
    assert text in run(f"cat {path}", SUDO, "gpu001", fault).stdout
    assert text not in run(f"cat {path}").stdout


def test_memlock_and_settings_are_what_a_tuned_node_has() -> None:
    low = proc_limits.parse(run("cat /proc/self/limits", SUDO, "gpu001", "memlock@gpu001").stdout)

    assert proc_limits.parse(run("cat /proc/self/limits").stdout).locked_memory_soft_unlimited
    assert low.locked_memory_soft_bytes == 2**23
    text = run("cat /proc/sys/net/ipv4/tcp_rmem").stdout
    assert sysctl.parse(f"net.ipv4.tcp_rmem = {text}")[0].value == [4096, 87380, 67108864]


@pytest.mark.parametrize(
    ("fault", "cpus"),
    [
        ((), set(range(8))),
        (("irqs_one_core@gpu001:rail0",), {0}),
        (("irqs_remote@gpu001:rail0",), set(range(32, 40))),
    ],
)
def test_interrupts_are_where_the_model_puts_them(fault: tuple[str, ...], cpus: set[int]) -> None:
    text = run("grep -sH . /proc/irq/*/effective_affinity_list", SUDO, "gpu001", *fault).stdout
    found = interrupts.affinities(text)

    assert {cpu for irq in range(64, 73) for cpu in found[irq]} == cpus


@pytest.mark.parametrize(
    "line", ["devlink dev", "dmesg -w", "journalctl", "lspci -t", "readlink x"]
)
def test_what_the_lab_does_not_know_is_refused_by_name(line: str) -> None:
    result = run(line)

    assert result.status == 1
    assert "the lab answers only" in result.stderr
