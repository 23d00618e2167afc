"""The signal of a link: FEC and bit errors, its module, links lost, and the slot of its card.

Reading a module takes a bus of 100 kHz, and `mlxlink` asks the firmware: seconds per port.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from pytest_fabric.measure.end import End
from pytest_fabric.measure.topics import link_errors, link_module, uptime
from pytest_fabric.measure.topics.heard import Heard, Outcomes, heard, root_advice, tree
from pytest_fabric.measure.topics.topic import Facts, Subject, Topic, netdevs
from pytest_fabric.results import Fact, RdmaPort
from pytest_fabric.tools import ethtool_fec, ethtool_module, lspci, mlxlink, names, sysfs
from pytest_fabric.tools.ethtool_fec import Fec
from pytest_fabric.transport import Glob
from pytest_fabric.transport.jobs import Word

Commands = Mapping[str, tuple[Word, ...]]

#: How long blocks are watched that FEC cannot correct, in seconds: a link has traffic all the time.
WINDOW_S = 5

#: The firmware's tool is NVIDIA's; no other vendor's card answers it.
FIRMWARE_DRIVER = "mlx5_core"

#: Eight ports, each with a module to read and firmware that answers in up to ten seconds.
DEADLINE_S = 240.0

NO_FIRMWARE_TOOL = (
    f"bit error rates are read with mlxlink, of cards with the driver {FIRMWARE_DRIVER} only: "
    "see not_available"
)


def sections(subject: Subject) -> Commands:
    """Return the commands that read every port of a node."""
    found: dict[str, tuple[Word, ...]] = {"uptime": uptime.COMMAND}
    for place, end in enumerate(subject.ends):
        found.update(port_sections(subject, place, end))
    twice = [name for place, end in enumerate(subject.ends) for name in _twice(place, end)]
    later = {f"later-{name}": found[name] for name in twice if name in found}
    return {**found, "window": ("sleep", f"{WINDOW_S}"), **later} if later else found


def _twice(place: int, end: End) -> tuple[str, ...]:
    """Return the sections that are read again after a while: those of blocks that were lost."""
    if end.rdma.link_layer != "Ethernet":
        return (f"mlxlink-{place}",)
    return tuple(f"fec-{place}-{member}" for member in range(len(wired(end.rdma))))


def port_sections(subject: Subject, place: int, end: End) -> Iterator[tuple[str, tuple[Word, ...]]]:
    port = end.rdma
    for member, netdev in enumerate(wired(port)):
        ethtool = subject.asroot("ethtool")[:-1]
        words = ethtool_fec.command(netdev)
        yield f"fec-{place}-{member}", (*ethtool, *words)
        yield f"oldfec-{place}-{member}", (*ethtool, *(word for word in words if word != "-I"))
        yield f"module-{place}-{member}", (*ethtool, *ethtool_module.command(netdev))
    device = f"{sysfs.RDMA}/{port.device}"
    counts = [f"{sysfs.NET}/{netdev}/carrier_down_count" for netdev in netdevs(port)]
    counts.append(f"{device}/ports/{port.number}/counters/link_downed")
    yield f"flaps-{place}", ("grep", "-sH", ".", *counts)
    aer = (Glob(f"{device}/{hop}/aer_dev_*") for hop in ("device", "device/.."))
    yield f"aer-{place}", ("grep", "-sH", ".", *aer)
    if port.pci is not None and re.fullmatch(names.PCI, port.pci):
        yield f"lspci-{place}", (*subject.asroot("lspci")[:-1], *lspci.command(port.pci))
        if port.driver == FIRMWARE_DRIVER:
            tool = firmware_tool(subject)
            command = (*subject.asroot(tool), *mlxlink.command(port.pci)[1:])
            yield f"mlxlink-{place}", command


def firmware_tool(subject: Subject) -> str:
    """Return which of the two names of one tool the node has: MFT's, else mstflint's."""
    has_other = "mstlink" in subject.facts.tools and "mlxlink" not in subject.facts.tools
    return "mstlink" if has_other else "mlxlink"


def wired(port: RdmaPort) -> tuple[str, ...]:
    """Return the network devices that ethtool can ask; those of IP over InfiniBand cannot tell."""
    if port.link_layer != "Ethernet":
        return ()
    return netdevs(port)


def read(subject: Subject, outcomes: Outcomes) -> Facts:
    """Return what every port says."""
    uptime_s = uptime.read(outcomes).value
    return {
        str(end.port): {**_port(subject, place, end, outcomes, uptime_s)}
        for place, end in enumerate(subject.ends)
    }


def _port(
    subject: Subject, place: int, end: End, outcomes: Outcomes, uptime_s: float | None
) -> Mapping[str, Fact]:
    port = end.rdma
    tool = firmware_tool(subject)
    link = heard(outcomes, f"mlxlink-{place}", tool, first)
    if f"mlxlink-{place}" not in outcomes:
        link = Heard(None, NO_FIRMWARE_TOOL)
    fecs = [fec(outcomes, f"{place}-{member}") for member in range(len(wired(port)))]
    return {
        "link.fec": link_errors.fec(port, fecs, link),
        "link.raw_ber": link_errors.ber(port, link, "raw_physical_ber"),
        "link.effective_ber": link_errors.ber(port, link, "effective_physical_ber"),
        "link.uncorrectable": link_errors.uncorrectable(
            port, *_lost(outcomes, place, end, tool), WINDOW_S
        ),
        "link.flaps": link_errors.flaps(port, tree(outcomes, f"flaps-{place}"), uptime_s),
        **modules(port, place, outcomes, link),
        **link_errors.aer(tree(outcomes, f"aer-{place}"), uptime_s),
        "pcie.max_read_request": _max_read_request(outcomes, place),
        "pcie.numa_node": _numa_node(port),
    }


def _numa_node(port: RdmaPort) -> Fact:
    if port.numa_node is None:
        return Fact(None, "sysfs has no numa_node of its device: see not_available")
    return Fact(port.numa_node, detail=(f"local CPUs {port.local_cpus or 'unknown'}",))


def fec(outcomes: Outcomes, which: str) -> Heard[list[Fec]]:
    """Return FEC with its statistics; without them where ethtool is too old for `-I`."""
    found = heard(outcomes, f"fec-{which}", "ethtool", ethtool_fec.parse)
    if found.value is not None or found.kind in ("tool_missing", "permission", "no_such_device"):
        return found
    return heard(outcomes, f"oldfec-{which}", "ethtool", ethtool_fec.parse)


def _lost(
    outcomes: Outcomes, place: int, end: End, tool: str
) -> tuple[list[Heard[int]], list[Heard[int]]]:
    """Return what could not be corrected, before and after the window."""

    def lost(section: str) -> Heard[int]:
        if end.rdma.link_layer == "Ethernet":
            return link_errors.blocks(heard(outcomes, section, "ethtool", ethtool_fec.parse))
        return link_errors.left_behind(heard(outcomes, section, tool, first))

    names = _twice(place, end)
    return [lost(name) for name in names], [lost(f"later-{name}") for name in names]


def first(text: str) -> mlxlink.Port:
    return mlxlink.parse(text)[0]


def modules(
    port: RdmaPort, place: int, outcomes: Outcomes, link: Heard[mlxlink.Port]
) -> Mapping[str, Fact]:
    """Return what ethtool reads of the modules, or else what the firmware's tool reads."""
    asked = [
        heard(outcomes, f"module-{place}-{member}", "ethtool", ethtool_module.parse)
        for member in range(len(wired(port)))
    ]
    found = [link_module.from_ethtool(one.value) for one in asked if one.value is not None]
    if not asked or len(found) != len(asked):
        other = link_module.from_mlxlink(link.value) if link.value is not None else None
        found = [other] if other is not None and len(asked) <= 1 else []
    if found:
        return link_module.facts(found, port.width)
    failed = next((one for one in asked if one.value is None), None)
    problem = failed.problem if failed is not None else link.problem
    problem = problem or "mlxlink shows no module: the cage is empty, or see not_available"
    return {name: Fact(None, problem) for name in link_module.NAMES}


def _max_read_request(outcomes: Outcomes, place: int) -> Fact:
    if f"lspci-{place}" not in outcomes:
        return Fact(None, "the port has no PCI address (software device?): see not_available")
    found = heard(outcomes, f"lspci-{place}", "lspci", lspci.parse)
    if found.value is None:
        return found.nothing
    device = found.value[0]
    if device.max_read_request_bytes is not None:
        return Fact(device.max_read_request_bytes, detail=(f"lspci: {device.address}",))
    if device.capabilities_readable is False:
        return Fact(None, f"lspci needs root: {root_advice('lspci')}")
    return Fact(None, "lspci shows no MaxReadReq of the card: see not_available")


TOPIC = Topic("link", sections, read, DEADLINE_S)
