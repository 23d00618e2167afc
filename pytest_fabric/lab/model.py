"""What a lab is made of: nodes and ports, frozen, healthy unless a fault has changed them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from pytest_fabric import results
from pytest_fabric.lab import machine
from pytest_fabric.lab.aging import Aging
from pytest_fabric.lab.leaf import ALONE, Leaf
from pytest_fabric.lab.parts import GOOD_MODULE, GOOD_SIGNAL, GOOD_SLOT
from pytest_fabric.lab.parts import Module as Module
from pytest_fabric.lab.parts import Signal as Signal
from pytest_fabric.lab.parts import Slot as Slot
from pytest_fabric.lab.quirks import NONE, Quirks

ETHERNET = "Ethernet"
INFINIBAND = "InfiniBand"

#: What sysfs calls the link layer of a port that is neither.
UNKNOWN = "Unknown"


@dataclass(frozen=True)
class Adapter:
    """A kind of network card: what sysfs calls it, the firmware that runs on it, and its drivers.

    `psid` is empty where the RDMA driver shows no board id. `pci_id` is vendor and device in
    hexadecimal, `vendor_id` and `part_id` are what libibverbs calls them. `device` starts the
    names of RDMA devices, `oui` MAC addresses. `gid_kinds` are the versions of RoCE in the GID
    table. Its statistics are written to memory every `refresh_s` seconds; 0 where each read asks
    the card. `inline` is what perftest sends inline, if not its usual number of bytes. One that
    `is_srd` has no network device and no reliable connections. The `owner` of its settings of QoS
    is the host, or the system of a DPU: `dpu` lets the host see other ones, `locked` none.
    """

    hca_type: str
    psid: str
    firmware: str
    driver: str = "mlx5_core"
    pci_id: str = "15B3:1021"
    vendor_id: int = 0x02C9
    part_id: int = 4129
    device: str = "mlx5_"
    is_named_by_slot: bool = False
    oui: int = 0x0C42A1
    gid_kinds: tuple[str, ...] = ("IB/RoCE v1", "RoCE v2")
    refresh_s: float = 0.0
    inline: int | None = None
    is_srd: bool = False
    owner: str = "host"


@dataclass(frozen=True)
class Gid:
    """An entry of a port's GID table; `kind` and `netdev` as in `gid_attrs`."""

    index: int
    address: IPv6Address
    kind: str
    netdev: str | None


@dataclass(frozen=True)
class Port:
    """A port: its names, its trained link, its slot, and how it deviates from a healthy one.

    `speed_bps` and `pcie_width` are what was negotiated. `priorities` maps DSCP to priority where
    the rule `dscp >> 3` does not hold. The fields after `state` are healthy by default. A port that
    trusts PCP knows the class of RDMA only where its frames are tagged; `ecn` holds the points of
    congestion control that are on, `cnp` DSCP and priority of its notifications.

    `switch` and `switch_port` are where its cable ends, `leaf` is whose load it shares, `edge` how
    that one treats it, `place` which of its ports it is; of its
    switch on InfiniBand, `uplink` is fast, slow (half of its width) or down (never made active).
    `loss` is the share of the kernel's packets that are lost, `path_mtu` the largest IP packet that
    the switch passes on, `late_s` how late its kernel takes in a packet.
    The leaf `passes` on a part of the line, and the host `takes` in a part before it sends pause;
    `damaged` is the share of frames that come in with a wrong checksum, `damages` that of frames
    which the leaf gets so. The GPU beside it is one of `gpu_api`, and
    their way to each other `gpu_passes` a part of what the card's slot carries. Its subnet manager
    has `sm_lid`, where the port has a LID itself.
    The stored firmware is the running one where it is empty, interrupts are `spread`, on `one core`
    or `remote`, and `numa` is -1 where the machine does not say it. `stack` is how fast its cores
    are at TCP, of the usual; with a `bad_path` one of the paths of its streams is nearly full.
    `physical` is the PCI address of the card, for a virtual function of it. `members` are those of
    a bond that do not carry: down, or apart from the aggregate of LACP; `speed_bps` is that of the
    others.
    """

    id: results.Port
    device: str
    netdevs: tuple[str, ...]
    pci: str
    guid: int
    adapter: Adapter
    layer: str
    speed_bps: float
    width: int
    mtu: int
    pcie_tps: float
    pcie_width: int
    pcie_max_width: int
    numa: int
    leaf: str
    lid: int
    address: IPv4Address | IPv6Address
    gids: tuple[Gid, ...]
    lossless: tuple[int, ...] = ()
    priorities: Mapping[int, int] = field(default_factory=dict)
    state: str = "ACTIVE"
    tail: float = 1.0
    paused: bool = False
    best_effort: bool = False
    server_dies: bool = False
    tool: str = "works"
    hidden_counters: frozenset[str] = frozenset()
    is_held: bool = False
    foreign: float = 0.0
    shares_slot: bool = False
    storms: bool = False
    module: Module = GOOD_MODULE
    signal: Signal = GOOD_SIGNAL
    slot: Slot = GOOD_SLOT
    switch: str = ""
    switch_port: str = ""
    has_neighbour: bool = True
    pkeys: tuple[int, ...] = (0xFFFF,)
    uplink: str = "fast"
    trust: str = "dscp"
    is_tagged: bool = False
    ecn: frozenset[str] = frozenset({"np", "rp"})
    cnp: tuple[int, int] = (48, 6)
    global_pause: bool = False
    class_override: int | None = None
    network: IPv4Network | IPv6Network | None = None
    loss: float = 0.0
    filters_ping: bool = False
    path_mtu: int | None = None
    late_s: float = 0.0
    drops_rdma: bool = False
    stored_firmware: str = ""
    driver: str = machine.DRIVER
    irqs: str = "spread"
    gpu: str = ""
    loses: float = 0.0
    edge: Leaf = ALONE
    stack: float = 1.0
    bad_path: bool = False
    place: int = 0
    passes: float = 1.0
    takes: float = 1.0
    damaged: float = 0.0
    damages: float = 0.0
    gpu_api: str = "cuda"
    gpu_passes: float = 1.0
    sm_lid: int = 1
    physical: str = ""
    members: Mapping[str, str] = field(default_factory=dict)
    aging: Aging = field(default_factory=Aging)
    quirks: Quirks = NONE

    @property
    def is_infiniband(self) -> bool:
        """Whether the link layer is InfiniBand; EFA's is neither."""
        return self.layer == INFINIBAND

    @property
    def is_bond(self) -> bool:
        """Whether several network devices are one port, with LACP."""
        return len(self.netdevs) > 1

    @property
    def carrying(self) -> tuple[str, ...]:
        """The network devices that carry traffic: all, or the members of a bond that are up."""
        return tuple(name for name in self.netdevs if self.members.get(name, "up") == "up")

    @property
    def member_bps(self) -> float:
        """The speed of one network device; a queue pair stays on the one it was given."""
        return self.speed_bps / max(1, len(self.carrying))

    @property
    def is_ethernet(self) -> bool:
        """Whether the link layer is Ethernet (RoCE) and not InfiniBand."""
        return self.layer == ETHERNET

    def priority_of(self, dscp: int) -> int:
        """Return the priority on which the port sends RDMA that is asked for with a DSCP."""
        is_known = self.trust != "pcp" or self.is_tagged
        if self.best_effort or not self.is_ethernet or not is_known:
            return 0
        return self.mapped(self.marked(dscp))

    def marked(self, dscp: int) -> int:
        """Return the DSCP that is on the wire when a tool asks for one."""
        return dscp if self.class_override is None else self.class_override >> 2

    def arrival(self, sender: Port, dscp: int) -> int:
        """Return the priority on which the port counts what another one sends with a DSCP."""
        sent = sender.priority_of(dscp)
        if self.is_ethernet and not (sender.edge.keeps_class and self.edge.keeps_class):
            return self.mapped(0)
        if sender.best_effort or not self.is_ethernet:
            return sent
        if self.trust == "pcp":
            return sent if sender.is_tagged else 0
        return self.mapped(sender.marked(dscp))

    def mapped(self, dscp: int) -> int:
        """Return the priority that the port's table gives a DSCP."""
        return self.priorities.get(dscp, dscp >> 3)

    @property
    def state_file(self) -> str:
        """The sysfs file that a lease locks."""
        return f"/sys/class/infiniband/{self.device}/ports/1/state"


@dataclass(frozen=True)
class Node:
    """A machine: its ports in PCI order, and what its SSH server and its tools do.

    `ssh` is up, down (nothing listens), silent (accepts and says nothing) or dropped (ends a while
    after a log-in); `sudo` holds the tools that its user may run as root. `gpu_job` says that a job
    computes on its GPUs; `files` are texts of its file system that are not as on a healthy node.
    `needs_root` says that its user cannot read what only root may; without `has_manager` the whole
    subnet has no manager.
    `guards_arp` says that each interface answers for its own address only. With `ports_taken`
    somebody listens on every TCP port that a user may listen on. `path` is that of a log-in.
    A switch has no ports of its own but `sockets`, by the names of the plan, and `os` sonic.
    `iommu` is off, pt or translated, `redirects` whether PCIe bridges have ACS on; `log` holds what
    the kernel told lately, and `log_readers` who may see it: all, group (of the journal) or root.
    A node that `spoils` data adds wrong values to a collective; without `peer_memory` its cards
    cannot register the memory of GPUs, unless that is exported as a dmabuf.
    `virtual` are the virtual functions of its cards, which stand in all lists of devices.
    `missing` are ports whose card is not there: only switches have an end of their cables.
    """

    name: str
    address: str
    ports: tuple[Port, ...]
    perftest: str
    sudo: tuple[str, ...] = ()
    ssh: str = "up"
    missing_tools: frozenset[str] = frozenset()
    gpu_job: bool = False
    files: Mapping[str, str] = field(default_factory=dict)
    needs_root: bool = False
    has_manager: bool = True
    guards_arp: bool = False
    kernel: str = machine.KERNEL
    iommu: str = "pt"
    redirects: bool = False
    log: tuple[str, ...] = ()
    log_readers: str = "all"
    iperf3: str = machine.IPERF3
    spoils: bool = False
    os: str = "linux"
    sockets: tuple[str, ...] = ()
    peer_memory: bool = True
    virtual: tuple[Port, ...] = ()
    missing: tuple[Port, ...] = ()
    ports_taken: bool = False
    path: str = machine.PATH

    @property
    def functions(self) -> tuple[Port, ...]:
        """The ports, and the virtual functions of their cards, as PCI and RDMA list them."""
        return tuple(sorted((*self.ports, *self.virtual), key=lambda port: port.pci))

    @property
    def has_job(self) -> bool:
        """Whether somebody's job runs on the node."""
        return self.gpu_job or any(port.is_held for port in self.ports)

    @property
    def perftest_version(self) -> tuple[int, ...]:
        """The version of perftest as numbers."""
        return tuple(int(part) for part in self.perftest.split("."))

    def device(self, name: str) -> Port | None:
        """Return the port with this RDMA device name."""
        return next((port for port in self.functions if port.device == name), None)

    def netdev(self, name: str) -> Port | None:
        """Return the port that this network device belongs to."""
        return next((port for port in self.functions if name in port.netdevs), None)
