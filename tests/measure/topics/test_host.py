"""What a node says of its system: the right value of each text, and a problem for each other."""

from __future__ import annotations

import math
import re

import pytest

from pytest_fabric.measure.topics import host
from pytest_fabric.metrics import TOPICS
from pytest_fabric.results import Fact
from pytest_fabric.tools import allowed
from pytest_fabric.transport import Outcome
from tests.clusters import TEXT

from .ends import LATE, MISSING, outcome, subject

LIMITS = "Limit                     Soft Limit           Hard Limit           Units\n"
CONF = "/proc/sys/net/ipv4/conf"
ROUTE = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
GROUP = "/sys/class/infiniband/mlx5_0/device/iommu_group/type"
UNIT = "r- /sys/class/iommu/ivhd0\n"
NO_UNIT = "-- /sys/class/iommu/*\n"


def facts(text: str = TEXT, /, **outcomes: Outcome) -> dict[str, Fact]:
    """Return the facts where these sections said something and the others failed."""
    asked = subject(text=text)
    given = {name.replace("_", "-"): answer for name, answer in outcomes.items()}
    read = host.read(asked, {**dict.fromkeys(host.sections(asked), MISSING), **given})
    return dict(read["gpu001"])


def test_every_metric_is_there_and_nothing_said_is_a_problem_of_one_line() -> None:
    for answer in (MISSING, LATE, outcome()):
        found = facts(**dict.fromkeys(host.sections(subject()), answer))
        assert found.keys() == TOPICS["host"].keys()
        for fact in found.values():
            assert fact.value is None
            assert "\n" not in (fact.problem or fact.inapplicable or "\n")


def test_every_command_is_on_the_allow_list() -> None:
    text = TEXT.replace("network: 10.1.0.0/16}", 'network: 10.1.0.0/16, gpu: "0000:1b:00.0"}')
    text = text.replace("    limits:", "    sudo: [lspci, dmesg]\n    limits:")
    sections = host.sections(subject(text=text))

    for words in sections.values():
        allowed.require(words)
    assert sections["lspci"][:3] == ("sudo", "-n", "lspci")
    assert sections["dmesg"] == ("sudo", "-n", "dmesg")
    assert sections["bridges"][2:] == tuple(
        f"/sys/bus/pci/devices/{address}" for address in ("0000:1a:00.0", "0000:1b:00.0")
    )


@pytest.mark.parametrize(
    ("soft", "value"), [("unlimited", math.inf), ("8388608", 2**23), ("65536", 65536)]
)
def test_memlock_is_the_soft_limit(soft: str, value: float) -> None:
    text = f"{LIMITS}Max locked memory         {soft:<21}unlimited            bytes \n"

    assert facts(limits=outcome(text))["host.memlock"].value == value


@pytest.mark.parametrize(
    ("section", "text", "metric", "value"),
    [
        ("kernel", "6.8.0-71-generic\n", "host.kernel", "6.8.0-71-generic"),
        ("kernel", "a b\n", "host.kernel", None),
        ("os", 'NAME="x"\nPRETTY_NAME="Ubuntu 24.04.3 LTS"\n', "host.os", "Ubuntu 24.04.3 LTS"),
        ("os", "PRETTY_NAME='Rocky 9.4'\n", "host.os", "Rocky 9.4"),
        ("os", 'PRETTY_NAME="\x1b[31mred"\n', "host.os", "?[31mred"),
        ("os", "NAME=x\n", "host.os", None),
        ("sysctl", "/proc/sys/net/core/rmem_max:212992\n", "host.rmem_max", 212992),
        ("sysctl", "/proc/sys/net/core/rmem_max:many\n", "host.rmem_max", None),
        ("sysctl", "/proc/sys/net/ipv4/tcp_rmem:4096\t8\t6291456\n", "host.tcp_rmem_max", 6291456),
        ("sysctl", "/proc/sys/net/ipv4/tcp_wmem:4096\t87380\n", "host.tcp_wmem_max", None),
        ("sysctl", "/proc/sys/kernel/numa_balancing:0\n", "host.numa_balancing", 0),
        ("sysctl", "/proc/sys/net/core/rmem_max:1\n", "host.numa_balancing", None),
    ],
)
def test_single_values(section: str, text: str, metric: str, value: object) -> None:
    fact = facts(**{section: outcome(text)})[metric]

    assert fact.value == value
    assert (fact.problem is None) == (value is not None)


CLOCKS = "/sys/devices/system/cpu/cpu{}/cpufreq/{}_max_freq:{}\n"
WHOLE = CLOCKS.format(0, "scaling", 3_800_000) + CLOCKS.format(0, "cpuinfo", 3_800_000)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (WHOLE, 0),
        (WHOLE.replace("scaling_max_freq:38", "scaling_max_freq:12"), 1),
        (WHOLE + WHOLE.replace("cpu0", "cpu1").replace("info_max_freq:38", "info_max_freq:39"), 1),
        (CLOCKS.format(0, "scaling", 3_800_000), None),
        (WHOLE.replace("3800000", "fast"), None),
        ("", None),
    ],
)
def test_cpus_that_may_not_clock_as_high_as_they_can(text: str, value: int | None) -> None:
    fact = facts(clocks=outcome(text))["host.capped_cpus"]

    assert fact.value == value
    assert (fact.problem is None) == (value is not None)


@pytest.mark.parametrize(
    ("units", "groups", "cmdline", "value"),
    [
        (NO_UNIT, "", "quiet\n", "off"),
        (UNIT, f"{GROUP}:identity\n", "quiet\n", "pt"),
        (UNIT, f"{GROUP}:DMA-FQ\n", "iommu=pt\n", "translated"),
        (UNIT, f"{GROUP}:identity\n{GROUP.replace('_0', '_1')}:DMA\n", "\n", "pt"),
        (UNIT, f"{GROUP}:DMA\n{GROUP.replace('_0', '_1')}:identity\n", "\n", "translated"),
        (UNIT, "", "ro intel_iommu=on iommu=pt\n", "pt"),
        (UNIT, "", "ro intel_iommu=on\n", "translated"),
        (UNIT, "", "ro quiet\n", None),
        (UNIT, "/sys/class:identity\n", "ro quiet\n", None),
        ("", "", "iommu=pt\n", None),
        ("hello\n", "", "iommu=pt\n", None),
    ],
)
def test_iommu(units: str, groups: str, cmdline: str, value: str | None) -> None:
    outcomes = {
        "iommu_units": outcome(units),
        "iommu_groups": outcome(groups),
        "cmdline": outcome(cmdline),
    }

    assert facts(**outcomes)["host.iommu"].value == value


BRIDGE = "PCI bridge: Broadcom / LSI PEX890xx (rev b0)\n"
ACS = "\tCapabilities: [170 v1] Access Control Services\n\t\tACSCtl:\tSrcValid+ {}\n\n"
ON, OFF = ACS.format("ReqRedir+ CmpltRedir-"), ACS.format("ReqRedir- CmpltRedir-")
DENIED = "\tCapabilities: <access denied>\n\n"
PATHS = (
    "/sys/devices/pci0000:17/0000:17:01.0/0000:18:00.0/0000:19:00.0/0000:1a:00.0\n"
    "/sys/devices/pci0000:17/0000:17:01.0/0000:18:00.0/0000:19:01.0/0000:1b:00.0\n"
)
APART = (
    "/sys/devices/pci0000:17/0000:17:01.0/0000:1a:00.0\n"
    "/sys/devices/pci0000:27/0000:27:01.0/0000:1b:00.0\n"
)
GPU = TEXT.replace("network: 10.1.0.0/16}", 'network: 10.1.0.0/16, gpu: "0000:1b:00.0"}')


def devices(**rows: str) -> str:
    named = {name.removeprefix("b").replace("_", "."): row for name, row in rows.items()}
    return "".join(f"0000:{name[:2]}:{name[2:]} {BRIDGE}{row}" for name, row in named.items())


@pytest.mark.parametrize(
    ("text", "paths", "lspci", "value"),
    [
        (GPU, APART, devices(b1701_0=ON, b2701_0=ON), 0),
        (GPU, PATHS, devices(b1701_0=ON, b1800_0=ON, b1900_0=ON, b1901_0=ON), 2),
        (GPU, PATHS, devices(b1701_0=ON, b1900_0=OFF, b1901_0=OFF), 0),
    ],
)
def test_acs_counts_bridges_between_card_and_gpu(
    text: str, paths: str, lspci: str, value: int
) -> None:
    found = facts(text, bridges=outcome(paths), lspci=outcome(lspci))

    assert found["host.acs"].value == value


@pytest.mark.parametrize(
    ("text", "paths", "lspci", "problem"),
    [
        (GPU, PATHS, devices(b1900_0=DENIED, b1901_0=DENIED), "pytest-fabric sudoers"),
        (GPU, PATHS, "", "fabric sudoers|see not_available|expected whole lines"),
        (GPU, PATHS, devices(b4000_0=ON), "no bridge at 0000:19:00.0"),
        (GPU, PATHS, devices(b1900_0=ON), "no bridge at 0000:19:00.0"),
        (GPU, PATHS.splitlines()[0] + "\n", devices(b1900_0=OFF), "no device is at 0000:1b:00.0"),
    ],
)
def test_what_hides_acs_is_told(text: str, paths: str, lspci: str, problem: str) -> None:
    fact = facts(text, bridges=outcome(paths), lspci=outcome(lspci))["host.acs"]

    assert fact.value is None
    assert re.search(problem, fact.problem or "")


def test_acs_is_nothing_for_a_node_without_gpus() -> None:
    fact = facts(TEXT, bridges=outcome(PATHS), lspci=outcome(devices(b1900_0=ON)))["host.acs"]

    assert "no rail declares a GPU" in (fact.inapplicable or "")


def test_lspci_that_is_not_installed_or_needs_a_password() -> None:
    password = outcome(stderr="sudo: a password is required\n", status=1)

    assert "pciutils" in (facts(GPU, lspci=MISSING)["host.acs"].problem or "")
    assert "sudo: [lspci]" in (facts(GPU, lspci=password)["host.acs"].problem or "")
