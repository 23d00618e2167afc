"""The records that all layers exchange: plain, frozen, and the same in memory and on disk.

Fields carry their unit as a suffix: `_s` seconds, `_bps` bits per second, `_bytes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from pytest_fabric.rows import Bandwidth as Bandwidth
from pytest_fabric.rows import Health as Health
from pytest_fabric.rows import Latency as Latency
from pytest_fabric.rows import Member as Member
from pytest_fabric.rows import Reach as Reach
from pytest_fabric.rows import Tcp as Tcp
from pytest_fabric.said import Exposure as Exposure
from pytest_fabric.said import Fact as Fact
from pytest_fabric.said import Reading as Reading


@dataclass(frozen=True, order=True)
class Port:
    """A port of the inventory: a node and the name of a rail in it."""

    node: str
    rail: str

    def __str__(self) -> str:
        return f"{self.node}:{self.rail}"

    @classmethod
    def parse(cls, text: str) -> Port:
        """Return the port of an id `NODE:RAIL`."""
        node, _, rail = text.rpartition(":")
        return cls(node, rail)


@dataclass(frozen=True, order=True)
class Pair:
    """An ordered pair of ports: the client sends the first message to the server."""

    client: Port
    server: Port

    def __str__(self) -> str:
        return f"{self.client}..{self.server}"

    @classmethod
    def parse(cls, text: str) -> Pair:
        """Return the pair of an id `NODE:RAIL..NODE:RAIL`."""
        client, _, server = text.partition("..")
        return cls(Port.parse(client), Port.parse(server))


@dataclass(frozen=True)
class PairGroup:
    """Pairs that are measured at the same time: `target` is the node, port or fabric they load.

    `again` takes the place of the pairs when a miss is measured once more: with other partners, so
    that a target is not blamed for one of theirs. Empty where there are none.
    """

    target: str
    pairs: tuple[Pair, ...]
    again: tuple[Pair, ...] = ()

    def __str__(self) -> str:
        return self.target


@dataclass(frozen=True)
class Gid:
    """One entry of a port's GID table; `type` is the kernel's word, such as `RoCE v2`."""

    index: int
    address: str
    type: str
    netdev: str | None


@dataclass(frozen=True)
class PciHop:
    """One PCIe link on the way from a NIC to the root; None is what the kernel does not say."""

    address: str
    speed_tps: float | None
    width: int | None
    max_speed_tps: float | None
    max_width: int | None


@dataclass(frozen=True)
class RdmaPort:
    """What a node says about one RDMA port, before it is matched with the inventory.

    `pcie` starts at the NIC's own link and goes towards the root. `speed_bps` is the netdev's speed
    on Ethernet and the port's rate on InfiniBand; None while the link is down or unknown.
    `netdev_mtu` is the largest IP packet that its netdevs send whole. `physical` is the PCI address
    of the card, for a virtual function (SR-IOV) of it. `idle_netdevs` are members of its bond that
    carry nothing: down, a backup, or not in the aggregate of LACP.
    """

    device: str
    number: int
    pci: str | None
    driver: str
    guid: str
    firmware: str | None
    psid: str | None
    netdevs: tuple[str, ...]
    link_layer: str
    state: str
    physical_state: str
    speed_bps: float | None
    width: int | None
    active_mtu: int | None
    gids: tuple[Gid, ...]
    numa_node: int | None
    local_cpus: str | None
    irq_cpus: tuple[int, ...]
    traffic_class: int | None
    pcie: tuple[PciHop, ...]
    netdev_mtu: int | None = None
    physical: str | None = None
    idle_netdevs: tuple[str, ...] = ()


@dataclass(frozen=True)
class NodeFacts:
    """What a node says about itself; `memlock_bytes` is None for unlimited.

    `rocm` are the PCI addresses of its AMD GPUs, in the order in which ROCm counts them.
    """

    node: str
    kernel: str
    perftest: str | None
    tools: Mapping[str, str]
    memlock_bytes: int | None
    allowed_cpus: tuple[int, ...]
    siblings: Mapping[int, tuple[int, ...]]
    uverbs: Mapping[str, str]
    ports: tuple[RdmaPort, ...]
    rocm: tuple[str, ...] = ()


@dataclass(frozen=True)
class Snapshot:
    """The counters of one port at one moment, by the names that the driver gives them.

    `values` holds what was read, `unreadable` the reason for each counter that exists and could
    not be read. Names of `ethtool -S`, of `counters/` and of `hw_counters/` share one table.
    """

    port: str
    driver: str
    values: Mapping[str, int]
    unreadable: Mapping[str, str] = field(default_factory=dict)
    link_layer: str = ""

    @cached_property
    def names(self) -> frozenset[str]:
        """Return every counter that exists."""
        return frozenset((*self.values, *self.unreadable))


@dataclass(frozen=True)
class Growth:
    """By how much one counter grew in a window, at which end, and what the counter means."""

    port: str
    name: str
    meaning: str
    delta: int
    direction: str | None = None
    priority: int | None = None

    def __str__(self) -> str:
        return f"{self.port} {self.name} +{self.delta:,}"


@dataclass(frozen=True)
class Failure:
    """Why something could not be measured: a stable word, and one line for people."""

    kind: str
    message: str


@dataclass(frozen=True)
class Attempt:
    """One try of a measurement; more than one is always shown. A ping has no port: it is 0."""

    control_port: int
    outcome: str


@dataclass(frozen=True)
class Traffic:
    """What the ports' own byte counters say about a run, against what the tool says it sent.

    `class_share` is the share of the growth that moved on the declared priority, `class_port` the
    end where the least of it did; None when the driver has no counter per priority.
    """

    expected_bytes: int
    sent_bytes: int | None
    received_bytes: int | None
    class_share: float | None
    class_port: str | None


@dataclass(frozen=True)
class Measurement:
    """One measurement on one target: what was run, what came out, and the evidence.

    `counter_errors` says, by meaning, why growth cannot be told. `error` is set when there is no
    value; `doubts` says why values that are there must not be judged (traffic on another class,
    foreign traffic). `beside` names what ran at the same time, those nearest first where there were
    many, and `company` counts all of it; `alone` says that nothing was let run beside it. `raw`
    maps `client.stdout` and the like to the text. `reach` tells of a ping, for each end that sent,
    `tcp` of streams of TCP, `members` of all pairs of a group, `health` of
    the links of a window of a soak.
    """

    key: str
    tool: str
    target: str
    commands: Mapping[str, str]
    versions: Mapping[str, str]
    attempts: tuple[Attempt, ...]
    settings: Mapping[str, str | int | float | None]
    latency: Latency | None
    bandwidth: Bandwidth | None
    mtu: int | None
    growth: tuple[Growth, ...]
    counter_errors: Mapping[str, str]
    traffic: Traffic | None
    doubts: tuple[str, ...]
    beside: tuple[str, ...]
    company: int
    alone: bool
    raw: Mapping[str, str]
    error: Failure | None
    started: float
    duration: float
    reach: tuple[Reach, ...] = ()
    tcp: Tcp | None = None
    members: tuple[Member, ...] = ()
    health: tuple[Health, ...] = ()

    @property
    def is_repetition(self) -> bool:
        """Return whether it was made again alone; what is isolated is alone in the first place."""
        return self.alone and self.settings.get("isolate") not in ("leaf", "fabric")


@dataclass(frozen=True)
class Measured:
    """What a run knows of a measurement: as it was made, and its repetitions alone, if any."""

    record: Measurement
    alone: tuple[Measurement, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """The terminal state of one check on one target.

    `outcome` is passed, failed, waived (failed, and somebody answers for it), error, skipped or
    `not run`; `limit_source` is `file:line`.
    `contention` tells the values of a pass that missed under load and held alone.
    """

    nodeid: str
    check: str
    target: str
    layer: str
    outcome: str
    metric: str | None
    value: float | str | None
    unit: str | None
    limit: str | None
    limit_source: str | None
    message: str | None
    started: float
    duration: float
    contention: str | None = None
