"""What a node shows to whoever describes it: its ports, their networks, and what sudo allows."""

from __future__ import annotations

import contextlib
import ipaddress
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pytest_fabric.config import ROOT_TOOLS, Network
from pytest_fabric.draft import gpus
from pytest_fabric.errors import MeasurementError, NotRecognisedError
from pytest_fabric.measure.fabric import CheckedSession, Fabric
from pytest_fabric.measure.placement import gid_address
from pytest_fabric.measure.topics import qos_address, topic
from pytest_fabric.results import NodeFacts, RdmaPort
from pytest_fabric.tools import (
    devlink_info,
    ethtool_module,
    iblinkinfo,
    lldp,
    lspci,
    mlnx_qos,
    mlxlink,
    names,
    sminfo,
)
from pytest_fabric.tools.printable import printable
from pytest_fabric.transport import Collect, Glob, Job

DEADLINE_S = 30.0


@dataclass(frozen=True)
class SeenPort:
    """An RDMA port, the networks that its interfaces' routes lead to, and the GPU beside it."""

    rdma: RdmaPort
    networks: tuple[Network, ...] = ()
    gpu: str | None = None

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return the IP addresses by which RoCE v2 reaches it, IPv4 first."""
        found = (gid_address(gid) for gid in self.rdma.gids if gid.type == "RoCE v2")
        real = {text for text in found if not ipaddress.ip_address(text).is_link_local}
        return tuple(sorted(real, key=lambda text: (":" in text, ipaddress.ip_address(text))))

    @property
    def obstacle(self) -> str | None:
        """Return why nothing can be measured on it now, or None."""
        is_known = self.rdma.link_layer in ("Ethernet", "InfiniBand") or self.rdma.driver == "efa"
        if not is_known or self.rdma.driver == "siw":
            return f"{printable(self.rdma.link_layer)} of {printable(self.rdma.driver)} is no RDMA"
        if self.rdma.state != "ACTIVE":
            return f"its state is {printable(self.rdma.state)}"
        if self.rdma.link_layer == "Ethernet" and not self.addresses:
            return "it has no RoCE v2 address besides a link-local one"
        return None


@dataclass(frozen=True)
class SeenNode:
    """A node that answered."""

    name: str
    facts: NodeFacts
    ports: tuple[SeenPort, ...]
    sudo: frozenset[str] = field(default_factory=frozenset)


def look(fabric: Fabric, node: str) -> SeenNode:
    """Return what a node shows. Raises TransportError, MeasurementError."""
    facts = fabric.facts(node)
    if not facts.ports:
        raise MeasurementError(
            node, "port_not_found", "expected an RDMA port, found none: load the RDMA driver"
        )
    session = fabric.session(node)
    routes = session.run(Job(("cat", qos_address.ROUTES), deadline_s=DEADLINE_S)).stdout
    beside = _gpus(session, [port.pci for port in facts.ports if port.pci])
    ports = tuple(
        SeenPort(port, _networks(port, routes), beside.get(port.pci or "")) for port in facts.ports
    )
    return SeenNode(node, facts, ports, _sudo(session, facts.ports[0]))


def _gpus(session: CheckedSession, cards: Sequence[str]) -> dict[str, str]:
    """Return the GPU beside each card; where nothing tells, there is none."""
    pattern = Glob(f"{gpus.DEVICES}/*/uevent")
    classes = session.run(Job(("grep", "-sH", "PCI_CLASS=", pattern), deadline_s=DEADLINE_S))
    found = gpus.addresses(classes.stdout)
    known = [card for card in cards if re.fullmatch(names.PCI, card)]
    if not found or not known:
        return {}
    paths = [f"{gpus.DEVICES}/{address}" for address in dict.fromkeys((*known, *found))]
    said = session.run(Job(("readlink", "-f", *paths), deadline_s=DEADLINE_S))
    return gpus.neighbours(known, found, gpus.places(said.stdout))


def _networks(port: RdmaPort, routes: str) -> tuple[Network, ...]:
    with contextlib.suppress(NotRecognisedError):  # the addresses alone tell the network then
        return tuple(dict.fromkeys(qos_address.networks(port, routes)))
    return ()


def _sudo(session: CheckedSession, port: RdmaPort) -> frozenset[str]:
    """Return the programs that are there and may be run with sudo; root needs none."""
    asked = Collect({"user": ("id", "-un"), "have": ("have", *ROOT_TOOLS)}, DEADLINE_S)
    said = session.collect(asked)
    found = {line.strip().rpartition("/")[2] for line in said["have"].stdout.splitlines()}
    if said["user"].stdout.strip() == "root":
        return frozenset()
    return frozenset(_allowed(session, port, [one for one in ROOT_TOOLS if one in found]))


def _allowed(session: CheckedSession, port: RdmaPort, tools: Iterable[str]) -> Iterable[str]:
    """Yield the tools that may be called in any way, or at least in one of those of the checks."""
    calls = dict(_calls(port))
    for tool in tools:
        for words in ((tool,), calls.get(tool, ())):
            job = Job(("sudo", "-n", "-l", *words), deadline_s=DEADLINE_S)
            outcome = session.run(job) if words else None
            if outcome and outcome.end == "exit" and outcome.status == 0 and outcome.stdout.strip():
                yield tool
                break


def _calls(port: RdmaPort) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield one call of each tool, as sudoers may have it word by word."""
    found = [lspci.command(), devlink_info.command(), lldp.command()]
    for netdev in topic.netdevs(port)[:1]:
        found += [ethtool_module.command(netdev), mlnx_qos.command(netdev)]
        found += [lldp.lldptool_command(netdev)]
    with contextlib.suppress(ValueError):  # the node chose its names, and odd ones go
        found += [(tool, *mlxlink.command(port.pci or "")[1:]) for tool in ("mlxlink", "mstlink")]
    with contextlib.suppress(ValueError):
        found += [sminfo.command(port.device, port.number)]
        found += [iblinkinfo.command(device=port.device, port=port.number)]
    yield from ((words[0], words) for words in found)
