"""The models of a cluster: what the rest of the program reads, all frozen."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from pytest_fabric.config import hardware, kinds
from pytest_fabric.config.cables import Cable
from pytest_fabric.config.limits import Limit, header_bytes, payload_rate_bps
from pytest_fabric.config.nodesets import expand
from pytest_fabric.config.sections import (
    Collectives,
    Fabric,
    Flag,
    GpuMemory,
    Infiniband,
    Lab,
    LatencyParts,
    Link,
    Pcie,
    Roce,
    Ssh,
    Strict,
    Text,
    Tools,
    TrafficSettings,
    Waiver,
    Workload,
)
from pytest_fabric.config.switches import Switch
from pytest_fabric.results import Port

#: Programs that tell more to root on most machines, and only read as they are called: no shell and
#: no editor may be named where a line of sudoers comes from.
ROOT_TOOLS = (
    *("ethtool", "mlxlink", "mstlink", "lspci", "dmesg", "mlnx_qos", "devlink"),
    *("lldpcli", "lldptool", "sminfo", "iblinkinfo"),
)


class ProfileKeys(Strict):
    """What a profile says besides its limits."""

    pcie: Pcie | None = None
    """The PCIe link of the NIC."""
    roce: Roce | None = None
    """The class of RDMA traffic on Ethernet."""
    infiniband: Infiniband | None = None
    """The class of RDMA traffic on InfiniBand."""
    firmware: dict[Text, Text] = Field(default_factory=dict)
    """The firmware version by board id (PSID)."""
    traffic: TrafficSettings = TrafficSettings()
    """How much traffic a measurement makes."""
    gpu_memory: GpuMemory | None = None
    """How perftest reaches the memory of a rail's `gpu`; none is measured where it is not said."""
    latency: LatencyParts | None = None
    """What the parts of a path take; no budget is shown where it is not declared."""
    not_available: dict[str, Text] = Field(default_factory=dict)
    """Metrics, or their first words, that this hardware cannot show, each with the reason."""
    unstable: Annotated[Literal["failed", "allowed"], kinds.choice("failed", "allowed")] = "failed"
    """What a pair is that holds and misses by turns when measured alone (`confirm`: 2 or more)."""
    sudo: Annotated[tuple[str, ...], kinds.words_of(*ROOT_TOOLS)] = ()
    """Tools that may be run with `sudo -n`."""


class Profile(ProfileKeys):
    """One kind of port: what is declared, and what is expected of it, after `extends`."""

    name: str
    link: Link
    limits: dict[str, Limit] = Field(default_factory=dict)
    ipv6: bool = False
    """Whether the ports are rails of IPv6: what their `network` says."""

    @property
    def header_bytes(self) -> int:
        """Return the bytes around the payload of each packet of this kind of port."""
        version = self.roce.version if self.roce else 2
        return header_bytes(self.link.layer, self.ipv6, version)

    @property
    def line_rate_bps(self) -> float | None:
        """Return the declared speed in bits per second, or None where none is declared."""
        return None if self.link.speed is None else self.link.speed.number

    @property
    def payload_rate_bps(self) -> float | None:
        """Return the payload rate of the declared speed, MTU and network, or None."""
        if self.line_rate_bps is None or self.link.mtu is None:
            return None
        return payload_rate_bps(self.line_rate_bps, self.link.mtu, self.header_bytes)

    def why_not_available(self, metric: str) -> str | None:
        """Return the reason why this hardware cannot show a metric, or None when it can."""
        words = metric.split(".")
        names = [".".join(words[:length]) for length in range(len(words), 0, -1)]
        return next(
            (self.not_available[name] for name in names if name in self.not_available), None
        )

    def has_limits_of(self, first: str) -> bool:
        """Return whether a limit is declared of metrics that begin with a word."""
        return any(metric.partition(".")[0] == first for metric in self.limits)


class Selector(Strict):
    """How a port is found on its node."""

    kind: Literal["pci", "netdev", "guid", "device", "netdevs"]
    value: str

    def __str__(self) -> str:
        return f"{self.kind} {self.value}"


class Rail(Strict):
    """A port within its node; `netdevs` holds the members of a bond."""

    name: str
    selector: Selector
    netdevs: tuple[str, ...] = ()
    network: hardware.Network | None = None
    leaf: str | None = None
    gpu: str | None = None
    profile: Profile

    @property
    def gpu_memory(self) -> str | None:
        """Return the kind of memory of the GPU beside the port, None where there is none to use."""
        return None if self.gpu is None else self.profile.gpu_memory


class Node(Strict):
    """A machine: where SSH goes, and its rails; `port` is None where the address has none."""

    name: str
    address: str
    port: int | None = None
    oob: Literal["mgmt", "rail", "auto"] = "auto"
    profile: Profile
    rails: dict[str, Rail]


class PairSettings(Strict):
    """How pairs are chosen."""

    strategy: Annotated[
        Literal["cover", "ring", "all", "permutation", "random", "list"],
        kinds.choice("cover", "ring", "all", "permutation", "random", "list"),
    ] = "cover"
    """Few pairs that reach all ports and leaves, a ring, all, a bisection, a sample, the list."""
    seed: Annotated[int, kinds.whole(0, 2**32 - 1)] = 1
    """Another seed chooses other peers and another order."""
    peers: Annotated[int, kinds.whole(1, 64)] = 4
    """How many peers each port has, with the strategies cover and random."""
    cross_rail: Flag = False
    """Whether ports of different rails can reach each other, and are paired too."""


class Pairs(PairSettings):
    """Which pairs are measured; ids are `NODE:RAIL`."""

    list: tuple[tuple[str, str], ...] = ()


class Cluster(Strict):
    """A cluster file, read and checked: node sets expanded, profiles resolved."""

    name: str
    source: Path
    transport: Literal["ssh", "local", "lab"] = "ssh"
    ssh: Ssh = Ssh()
    fabric: Fabric = Fabric()
    tools: Tools = Tools()
    lab: Lab = Lab()
    nodes: dict[str, Node]
    profiles: dict[str, Profile] = Field(default_factory=dict)
    pairs: Pairs = Pairs()
    confirm: int = 1
    excluded: dict[str, str] = Field(default_factory=dict)
    min_coverage: float | None = None
    waivers: tuple[Waiver, ...] = ()
    cables: dict[Port, Cable] = Field(default_factory=dict)
    collectives: Collectives | None = None
    workload: Workload | None = None
    switches: dict[str, Switch] = Field(default_factory=dict)

    def ports(self) -> tuple[Port, ...]:
        """Return every port in the order of the inventory, those of excluded nodes left out."""
        return tuple(
            Port(node.name, rail)
            for node in self.nodes.values()
            if node.name not in self.excluded
            for rail in node.rails
        )

    def node(self, port: Port) -> Node:
        """Return the node of a port. Raises KeyError for one that is not in the inventory."""
        return self.nodes[port.node]

    def rail(self, port: Port) -> Rail:
        """Return the rail of a port. Raises KeyError for one that is not in the inventory."""
        return self.nodes[port.node].rails[port.rail]

    def collective_nodes(self) -> tuple[str, ...]:
        """Return the nodes whose GPUs a declared collective runs on, in the order of the set."""
        if self.collectives is None:
            return ()
        named = self.collectives.nodes
        wanted = expand(named) if named is not None else self.nodes
        return tuple(name for name in wanted if name not in self.excluded)

    def line_rate_bps(self, *ports: Port) -> float | None:
        """Return the slowest declared speed of ports, or None where a profile declares none."""
        rates = [self.rail(port).profile.line_rate_bps for port in ports]
        known = [rate for rate in rates if rate is not None]
        return min(known) if len(known) == len(rates) else None

    def cable(self, port: Port) -> Cable | None:
        """Return the planned cable of a port, or None where no plan has it."""
        return self.cables.get(port)

    def switch(self, port: Port) -> Switch | None:
        """Return the switch at the other end of a port's cable, None for one that is not asked."""
        cable = self.cables.get(port)
        wanted = None if cable is None else cable.switch.casefold()
        return next((one for name, one in self.switches.items() if name.casefold() == wanted), None)

    def cabled(self, switch: str) -> tuple[Cable, ...]:
        """Return the cables that the plan has at a switch, in the order of the inventory."""
        wanted = switch.casefold()
        planned = (self.cables.get(port) for port in self.ports())
        return tuple(one for one in planned if one and one.switch.casefold() == wanted)
