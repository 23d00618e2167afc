"""The sections of a cluster file that are read as they are written: one model for both."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pytest_fabric.config import kinds
from pytest_fabric.config.kinds import Kind
from pytest_fabric.units import Quantity

Text = Annotated[str, kinds.text("a text")]
Name = Annotated[str, kinds.text("a name of letters, digits, - and _", r"[A-Za-z0-9_-]+")]
Flag = Annotated[bool, Kind(kinds.read_flag, {"type": "boolean"})]
Share = Annotated[float, Kind(kinds.read_share, {"type": "string", "examples": ["98%"]})]
Priority = Annotated[int, kinds.whole(0, 7)]
Dscp = Annotated[int, kinds.whole(0, 63)]
TcpPort = Annotated[int, kinds.whole(1, 65535)]
Time = Annotated[Quantity, kinds.quantity("s", "5 s")]
Layer = Annotated[Literal["Ethernet", "InfiniBand"], kinds.choice("Ethernet", "InfiniBand")]


class Strict(BaseModel):
    """A mapping without any key that is not in the model."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Ssh(Strict):
    """How nodes are logged in to; keys and agent only."""

    user: Text | None = None
    """Who logs in; ssh_config and the current user otherwise."""
    config: Annotated[Path, Kind(kinds.read_path, {"type": "string"})] | None = None
    """An ssh_config file; `~` is the home directory, other paths start at the cluster file."""
    jump: Text | None = None
    """The host through which nodes are reached (ProxyJump)."""
    connect_timeout: Time = Quantity(5, "s")
    """How long a log-in may take."""
    port: TcpPort | None = None
    """The TCP port of sshd, where a node's address and ssh_config say none."""


class Fabric(Strict):
    """What the network between the leaves does."""

    routing: Annotated[
        Literal["ecmp", "adaptive", "spray"], kinds.choice("ecmp", "adaptive", "spray")
    ] = "ecmp"
    """How flows choose among equal paths."""
    oversubscription: Annotated[float, kinds.decimal(1, 100)] = 1.0
    """Host bandwidth of a leaf over its uplink bandwidth."""
    dedicated: Flag = False
    """Whether nobody else uses the fabric, so that disruptive load may be offered."""
    pairs_per_leaf: Annotated[int, kinds.whole(1, 4096)] | None = None
    """How many pairs may load a leaf at full rate at the same time; all of them otherwise."""


class Tools(Strict):
    """Where the measuring tools are, and what they may use."""

    path: Annotated[str, kinds.text("an absolute directory", r"/[^:]*", "/opt/perftest/bin")] | (
        None
    ) = None
    """A directory that is searched before PATH."""
    prefix: Annotated[tuple[str, ...], Kind(kinds.read_command, {"type": ["string", "null"]})] = ()
    """Words before each tool, such as `podman exec perf`."""
    ports: Annotated[
        tuple[int, int], Kind(kinds.read_ports, {"type": "string", "examples": ["18515-18999"]})
    ] = (18515, 18999)
    """The TCP ports that perftest's handshake may use."""


class Collectives(Strict):
    """One run of all_reduce_perf (nccl-tests) over the GPUs of nodes, started by mpirun or srun."""

    launcher: Text
    """The node on which mpirun or srun is started; the others have the same names there."""
    launch_with: Annotated[Literal["mpirun", "srun"], kinds.choice("mpirun", "srun")] = "mpirun"
    """What starts the ranks: Open MPI's mpirun, or Slurm's srun."""
    job: Annotated[int, kinds.whole(1, 2**31 - 1)] | None = None
    """With srun, the allocation of which the run is a step (SLURM_JOB_ID); else it gets its own."""
    nodes: Text | None = None
    """The nodes that take part, a node set; all that are not excluded otherwise."""
    gpus_per_node: Annotated[int, kinds.whole(1, 64)] = 8
    """The GPUs of each node, one rank each."""
    path: Annotated[str, kinds.text("an absolute directory", r"/[\w./-]*", "/opt/nccl-tests")] | (
        None
    ) = None
    """Where all_reduce_perf is, if not in PATH; the same on all nodes."""
    smallest: Annotated[Quantity, kinds.quantity("B", "256 MiB")] = Quantity(2**28, "B")
    """The smallest message of the sweep, which doubles."""
    largest: Annotated[Quantity, kinds.quantity("B", "8 GiB")] = Quantity(2**33, "B")
    """The largest message, whose bandwidth is judged."""
    iterations: Annotated[int, kinds.whole(1, 10_000)] = 20
    """Repetitions of each message."""
    env: dict[
        Annotated[str, kinds.text("a name such as NCCL_DEBUG", r"[A-Z][A-Z0-9_]*")],
        Annotated[str, kinds.text("a value without blanks", r"[\w.,:=^/+-]+")],
    ] = Field(default_factory=dict)
    """Variables of the ranks; devices, GID index and class come from the profile otherwise."""


class Workload(Strict):
    """What the fabric trains: the cost of its slowest port is shown for it, by a model."""

    gpus: Annotated[int, kinds.whole(1, 1_000_000)]
    """All GPUs that share the gradients."""
    gpus_per_node: Annotated[int, kinds.whole(1, 64)] = 8
    """The GPUs of each node."""
    nics_per_node: Annotated[int, kinds.whole(1, 64)] = 8
    """The ports of each node that carry gradients."""
    gradients: Annotated[Quantity, kinds.quantity("B", "500 MB")]
    """What each GPU adds up with all others in a step."""
    compute: Annotated[Quantity, kinds.quantity("s", "300 ms")]
    """How long a step computes."""
    overlap: Share = 0.0
    """The share of computing beside which gradients travel."""


class Lab(Strict):
    """The simulated fabric of `transport: lab`."""

    seed: Annotated[int, kinds.whole(0, 2**32 - 1)] = 1
    """The seed of everything that is random."""
    time: Annotated[float, kinds.decimal(0, 10)] = 0.02
    """Seconds of the wall clock for one simulated second."""
    start: Annotated[float, kinds.decimal(0, 10)] = 0.3
    """Simulated seconds that a measuring tool takes to start."""
    perftest: dict[Text, Text] = Field(default_factory=dict)
    """The perftest version of a node or node set, other than the lab's usual one."""
    iperf3: dict[Text, Text] = Field(default_factory=dict)
    """The iperf3 version of a node or node set, other than the lab's usual one."""
    adapters: dict[Text, Text] = Field(default_factory=dict)
    """The network cards of a node or node set: thor2, e810, efa, bluefield3 (or
    bluefield3-locked, whose DPU shows its host no QoS); usually a ConnectX for the speed."""
    vfs: dict[Text, Annotated[int, kinds.whole(0, 8)]] = Field(default_factory=dict)
    """The virtual functions (SR-IOV) of each network card of a node or node set; usually none."""
    path: dict[Text, Text] = Field(default_factory=dict)
    """The PATH of a log-in at a node or node set, such as /usr/bin:/bin; usually with /usr/sbin."""


class Link(Strict):
    """The link that is declared: what a port must have negotiated."""

    layer: Layer
    """Ethernet (RoCE) or InfiniBand."""
    speed: Annotated[Quantity, kinds.quantity("b/s", "400 Gb/s")] | None = None
    """The line rate; shares of a rate refer to it."""
    width: Annotated[int, kinds.whole(1, 16, among=(1, 2, 4, 8, 12, 16))] | None = None
    """The number of lanes."""
    mtu: (
        Annotated[
            int,
            kinds.whole(
                256,
                4096,
                among=(256, 512, 1024, 2048, 4096),
                why="it is the RDMA MTU, not the netdev's",
            ),
        ]
        | None
    ) = None
    """The RDMA MTU in bytes: the payload of a full packet."""


class Pcie(Strict):
    """The PCIe link of the NIC that is declared."""

    speed: Annotated[Quantity, kinds.quantity("T/s", "32 GT/s", low=1e9)] | None = None
    """Transfers per second and lane: 16 GT/s is generation 4, 32 GT/s generation 5."""
    width: Annotated[int, kinds.whole(1, 32, among=(1, 2, 4, 8, 16, 32))] | None = None
    """The number of lanes."""


class Cnp(Strict):
    """How congestion notification packets travel."""

    dscp: Dscp
    """Their DSCP."""
    priority: Priority | None = None
    """Their priority."""


class Roce(Strict):
    """How RDMA travels over Ethernet, which is where the jobs' traffic goes."""

    version: Annotated[int, kinds.whole(1, 2)] = 2
    """RoCE version; a GID of this version is chosen."""
    lossless: tuple[Priority, ...] = ()
    """The priorities for which pause frames are on."""
    trust: Annotated[Literal["dscp", "pcp"], kinds.choice("dscp", "pcp")] | None = None
    """What the NIC and the switch derive the priority from."""
    dscp: Dscp | None = None
    """The DSCP of RDMA traffic."""
    priority: Priority | None = None
    """The priority of RDMA traffic, where it is not the only lossless one."""
    ecn: Flag | None = None
    """Whether switches mark and NICs slow down (DCQCN)."""
    cnp: Cnp | None = None
    """How congestion notification packets travel."""

    @property
    def traffic_class(self) -> int | None:
        """Return the traffic class byte: DSCP, and ECN-capable transport (RFC 3168: binary 10)."""
        return None if self.dscp is None else self.dscp << 2 | 2

    @property
    def class_priority(self) -> int | None:
        """Return the priority on which RDMA traffic must move, or None when nothing says it.

        The usual map of a DSCP to a priority is its three upper bits (IEEE 802.1Q DSCP APP table
        as drivers set it up); one lossless priority, or a declared one, says more.
        """
        if self.priority is not None:
            return self.priority
        if len(self.lossless) == 1:
            return self.lossless[0]
        return None if self.dscp is None else self.dscp >> 3


class Infiniband(Strict):
    """How RDMA travels over InfiniBand."""

    service_level: Annotated[int, kinds.whole(0, 15)] = 0
    """The service level of RDMA traffic."""
    partition: Annotated[str, kinds.text("a partition key", r"0x[0-9a-fA-F]{1,4}", "0x8001")] | (
        None
    ) = None
    """The partition key."""


class LatencyParts(Strict):
    """What the parts of a path take: the budget that the median of a small message is held to."""

    software: Annotated[Quantity, kinds.quantity("s", "1.35 us")]
    """Posting, both network cards, and the poll that sees the message."""
    switch: Annotated[Quantity, kinds.quantity("s", "0.3 us")]
    """One switch."""
    fec: Annotated[Quantity, kinds.quantity("s", "0.1 us")]
    """Forward error correction of one link."""


#: Kinds of GPU memory by perftest's options; `dmabuf` is registered without a peer-memory module.
GPU_MEMORIES = ("cuda", "cuda_dmabuf", "rocm", "rocm_dmabuf")
GpuMemory = Annotated[
    Literal["cuda", "cuda_dmabuf", "rocm", "rocm_dmabuf"], kinds.choice(*GPU_MEMORIES)
]


class TrafficSettings(Strict):
    """How much traffic a measurement makes."""

    iterations: Annotated[int, kinds.whole(5, 10_000_000)] = 20_000
    """Messages of a latency measurement; percentiles need many."""
    duration: Annotated[Quantity, kinds.quantity("s", "5 s", low=0.999)] = Quantity(5, "s")
    """How long a bandwidth measurement runs."""
    qps: Annotated[int, kinds.whole(1, 16384)] = 4
    """Queue pairs of a bandwidth measurement."""
    size: Annotated[Quantity, kinds.quantity("B", "1 MiB")] = Quantity(2**20, "B")
    """Message size of a bandwidth measurement."""
    connection: Annotated[Literal["RC", "SRD"], kinds.choice("RC", "SRD")] = "RC"
    """How queue pairs are connected: reliably (RC), or by the datagrams of EFA (SRD)."""


class Waiver(Strict):
    """A failure that is known, owned, and accepted until a day."""

    check: Text
    """The name of the test."""
    target: Text
    """A node set, with `:RAIL` for ports, or a pair `NODE:RAIL..NODE:RAIL`."""
    metric: Text | None = None
    """The metric that missed its limit, such as `ib_write_bw.average`; any otherwise."""
    until: Annotated[datetime.date, Kind(kinds.read_date, {"type": "string", "format": "date"})]
    """The last day on which it holds."""
    owner: Text
    """Who answers for it."""
    reason: Text
    """Why, with a ticket."""
