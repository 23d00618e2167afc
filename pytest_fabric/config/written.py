"""The models of a cluster file as people write it: node sets, partial profiles, limits as text."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from pytest_fabric.config import hardware, kinds
from pytest_fabric.config.kinds import Kind
from pytest_fabric.config.models import PairSettings, ProfileKeys, Selector
from pytest_fabric.config.sections import (
    Collectives,
    Fabric,
    Lab,
    Link,
    Name,
    Share,
    Ssh,
    Strict,
    Text,
    Tools,
    Waiver,
    Workload,
)
from pytest_fabric.config.switches import SwitchKeys
from pytest_fabric.config.wording import expected
from pytest_fabric.errors import ConfigError

SELECTORS = ("pci", "netdev", "guid", "device", "netdevs")

Transport = Annotated[Literal["ssh", "local", "lab"], kinds.choice("ssh", "local", "lab")]
Oob = Annotated[Literal["mgmt", "rail", "auto"], kinds.choice("mgmt", "rail", "auto")]


def _pattern(example: str) -> dict[str, Any]:
    return {"type": "string", "examples": [example]}


def read_pair(value: object) -> tuple[str, str]:
    """Return the ids of the ports of a pair: `[A:R, B:R]` or `A:R..B:R`."""
    ends = value.split("..", 1) if isinstance(value, str) and ".." in value else value
    if isinstance(ends, (list, tuple)) and len(ends) == 2:
        client, server = ends
        if all(isinstance(end, str) and ":" in end.strip(" :") for end in ends):
            return str(client).strip(), str(server).strip()
    raise expected('a pair such as "gpu001:rail0..gpu002:rail0"', value)


PAIR: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "examples": ["gpu001:rail0..gpu002:rail0"]},
        {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2},
    ]
}


class RailKeys(Strict):
    """A rail: how its port is found, by exactly one of pci, netdev, guid, device, netdevs."""

    pci: Annotated[str, Kind(hardware.read_pci, _pattern("0000:1a:00.0"))] | None = None
    """The PCI address of the port."""
    netdev: Annotated[str, Kind(hardware.read_netdev, _pattern("ens1f0np0"))] | None = None
    """The network device of the port."""
    guid: Annotated[str, Kind(hardware.read_guid, _pattern("248a:0703:0012:34ab"))] | None = None
    """The node GUID of the port's RDMA device."""
    device: Annotated[str, Kind(hardware.read_device, _pattern("mlx5_0"))] | None = None
    """The RDMA device; its number may change when hardware does."""
    netdevs: (
        Annotated[
            tuple[str, ...],
            Kind(
                hardware.read_bond,
                {"type": "array", "items": {"type": "string"}, "minItems": 2},
            ),
        ]
        | None
    ) = None
    """The members of a bond."""
    network: Annotated[hardware.Network, Kind(hardware.read_network, _pattern("10.1.0.0/16"))] | (
        None
    ) = None
    """The network of the port's address, by which its GID is chosen."""
    leaf: Text | None = None
    """The leaf switch that the port is cabled to."""
    gpu: Annotated[str, Kind(hardware.read_gpu, _pattern("0000:1b:00.0"))] | None = None
    """The GPU beside the port."""
    profile: Text | None = None
    """The profile of this port, where it is not its node's."""

    @property
    def selector(self) -> Selector:
        """Return the one selector. Raises ConfigError where there is none, or several."""
        given = [kind for kind in SELECTORS if getattr(self, kind) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ConfigError(f"expected exactly one of {', '.join(SELECTORS)}, got {found}")
        value = getattr(self, given[0])
        text = ",".join(value) if isinstance(value, tuple) else value
        return Selector.model_validate({"kind": given[0], "value": text})


class NodeKeys(Strict):
    """One or many nodes: the key is a node set."""

    profile: Text
    """The profile of the nodes' ports."""
    address: Annotated[str, Kind(hardware.read_address, _pattern("{node}.mgmt"))] = "{node}"
    """Where SSH goes: `{node}` is the name; HOST:PORT and [IPV6]:PORT say a port too."""
    oob: Oob = "auto"
    """Where perftest's handshake goes: the SSH address, the rail's address, or what fits."""


class NodeEntry(NodeKeys):
    """One or many nodes, with rails of their own."""

    rails: dict[Name, RailKeys] | None = None
    """The rails of these nodes, instead of the common ones."""


class ProfileEntry(ProfileKeys):
    """A profile; what it does not say comes from the one that it extends."""

    extends: Text | None = None
    """Another profile, or `builtin/NAME`."""
    link: Link | None = None
    """The link that is declared."""
    limits: dict[str, Any] = Field(default_factory=dict)
    """What is expected of each metric: one limit, or a list of which all must hold."""


class PairKeys(PairSettings):
    """Which pairs are measured."""

    list: tuple[Annotated[tuple[str, str], Kind(read_pair, PAIR)], ...] = ()
    """The pairs, client first, as `NODE:RAIL..NODE:RAIL`."""


class Head(Strict):
    """The keys of a cluster file besides nodes, rails and profiles."""

    name: Text = "fabric"
    """The name of the fabric, for reports."""
    transport: Transport = "ssh"
    """How nodes are reached."""
    ssh: Ssh = Ssh()
    """How nodes are logged in to."""
    fabric: Fabric = Fabric()
    """What the network between the leaves does."""
    tools: Tools = Tools()
    """Where the measuring tools are."""
    pairs: PairKeys = PairKeys()
    """Which pairs are measured."""
    confirm: Annotated[int, kinds.whole(1, 10)] = 1
    """How often a miss that other measurements may have caused is measured again, alone."""
    excluded: dict[str, Text] = Field(default_factory=dict)
    """Node sets that are left out, each with the reason."""
    min_coverage: Share | None = None
    """The share of the planned checks that must have a verdict."""
    waivers: tuple[Waiver, ...] = ()
    """Failures that are known and accepted until a day."""
    lab: Lab = Lab()
    """The simulated fabric of `transport: lab`."""
    collectives: Collectives | None = None
    """A collective of all GPUs to run; none otherwise."""
    workload: Workload | None = None
    """What is trained, for the cost of the slowest port; none otherwise."""
    cables: Text | None = None
    """The plan of the cables, a CSV file: node, rail, switch, switch_port, length."""
    switches: dict[str, SwitchKeys] = Field(default_factory=dict)
    """The switches that are asked about their ends of the cables, by name or node set."""


class ClusterFile(Head):
    """A cluster file."""

    nodes: dict[str, NodeEntry]
    """The machines, by name or node set such as `gpu[001-064]`."""
    rails: dict[Name, RailKeys] = Field(default_factory=dict)
    """The rails of every node that has none of its own."""
    profiles: dict[str, ProfileEntry] = Field(default_factory=dict)
    """The kinds of ports."""
