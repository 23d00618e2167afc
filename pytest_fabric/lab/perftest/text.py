"""What perftest prints, from its own format strings; versions differ in a few lines."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_fabric.lab.model import Gid, Port
from pytest_fabric.lab.perftest.options import Options
from pytest_fabric.lab.physics import Latencies

LINE = "-" * 87 + "\n"
BANNER = "\n{0}\n* Waiting for client to connect... *\n{0}\n".format("*" * 36)

#: First versions that warn about the peak, print two more facts, name the unit rightly, tell how
#: they poll, call the second of those facts otherwise, tell their NUMA node, and say in words what
#: a completion ended with.
WARNS = (6, 20)
NAMES_MIB = (6, 22)
NAMES_LOCKS = (6, 23)
NAMES_POLLS = (6, 25)
NAMES_ORDER = (6, 27)
NAMES_NUMA = (6, 29)
SAYS_STATUS = (6, 28)

#: The first version that newer ones run with; it also tells two facts that older ones have not.
OLDEST_PEER = (5, 70)
OLD_PEER = "Current implementation is not compatible with versions older than 5.70\n"

TITLES = {"write": "RDMA_Write", "read": "RDMA_Read", "send": "Send"}
INLINE = {"write": 220, "send": 236}

LATENCY_HEADER = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
    "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n"
)
DURATION_HEADER = " #bytes        #iterations       t_avg[usec]    tps average\n"

#: What peers print when the other end has gone.
PEER_GONE = (
    "ethernet_read_keys: Couldn't read remote address\n"
    " Unable to read from socket/rdma_cm\n"
    " Failed to exchange data between server and clients\n"
)
GID_TYPES = (
    "\n Found Incompatibility issue with GID types.\n Please Try to use a different IP version.\n\n"
)
#: What a device says that has no such connections.
NO_CONNECTION = "Unable to create QP.\n Couldn't create IB resources\n"

NO_DEVICE = " Unable to find the Infiniband/RoCE device\n"
GARBAGE = "%PDF-1.4 \udcff\udcfe segmentation fault at 0x7f\n0.00 0.00 nan\nOK\n"


@dataclass(frozen=True)
class Address:
    """One queue pair as both ends tell each other."""

    qpn: int
    psn: int
    rkey: int
    vaddr: int


def retries_exceeded(options: Options, version: tuple[int, ...]) -> str:
    """Return the error of a client whose messages nobody acknowledges."""
    status = "-transport retry counter exceeded (12)" if version >= SAYS_STATUS else " 12"
    return (
        " Completion with error at client\n"
        f" Failed status{status}: wr_id 0 syndrom 0x81\n"
        " scnt=128, ccnt=0\n"
        f" Failed to complete run_iter_{'lat' if options.is_latency else 'bw'} function "
        "successfully\n"
    )


def no_rtr(qpn: int) -> str:
    """Return the error of a queue pair that cannot reach its peer."""
    return f"Failed to modify QP {qpn} to RTR\n Unable to Connect the HCA's through the link\n"


def port_down(port: int, state: str) -> str:
    """Return the error of a port that is not active."""
    return (
        f" Port number {port} state is {state}\n Couldn't set the link layer\n"
        " Couldn't get context for the device\n"
    )


def no_socket(first: str, version: tuple[int, ...]) -> str:
    """Return the error of a control connection; older versions forgot a newline."""
    newline = "\n" if version >= WARNS else ""
    return (
        f"{first}\nUnable to open file descriptor for socket connection{newline}"
        " Unable to init the socket connection\n"
    )


def has_peak(options: Options) -> bool:
    """Return whether the run measures the peak."""
    if options.duration is not None or options.iterations > 20000:
        return False
    return not (options.verb == "send" and options.address is None)


def banner(options: Options, version: tuple[int, ...]) -> str:
    """Return what comes before the connection is made."""
    first = LINE if options.verb == "read" else ""
    if not options.is_latency and not has_peak(options) and version >= WARNS:
        first += " WARNING: BW peak won't be measured in this run.\n"
    return first if options.address is not None else first + BANNER


def header(
    options: Options, port: Port, version: tuple[int, ...], mtu: int, gid: Gid | None
) -> str:
    """Return the facts of the run, between two lines."""
    relaxed = "OFF" if options.verb == "write" and options.is_latency else "ON"
    named = version >= NAMES_LOCKS
    second = "Using Enhanced Reorder     " if version >= NAMES_ORDER else "Using DDP     "
    kind = "Latency" if options.is_latency else "Bidirectional BW" if options.is_both else "BW"
    is_srd = options.connection == "SRD"
    wr_api = "ON" if is_srd or port.adapter.driver == "mlx5_core" else "OFF"
    lines = [
        f"                    {TITLES[options.verb]} {kind} Test",
        f" Dual-port       : OFF\t\tDevice         : {port.device}",
        f" Number of qps   : {options.qps}\t\tTransport type : {'Unknown' if is_srd else 'IB'}",
        f" Connection type : {options.connection}\t\tUsing SRQ      : OFF",
    ]
    if version >= OLDEST_PEER:
        lines += [
            f" PCIe relax order: {relaxed}" + ("\t\tLock-free      : OFF" if named else ""),
            f" ibv_wr* API     : {wr_api}" + (f"\t\t{second} : OFF" if named else ""),
        ]
    if options.address is not None:
        lines.append(f" TX depth        : {1 if options.is_latency else 128}")
    elif options.verb == "send":
        depth = 512 if options.duration is not None else min(512, options.iterations)
        lines.append(f" RX depth        : {depth}")
    if not options.is_latency:
        lines.append(f" CQ Moderation   : {1 if is_srd or options.size > 8192 else 100}")
        if version >= NAMES_POLLS:
            lines.append(" CQE Poll Batch  : Dynamic")
    lines += [
        f" Mtu             : {mtu}[B]",
        f" Link type       : {'Ethernet' if port.is_ethernet else 'IB'}",
    ]
    if gid is not None:
        lines.append(f" GID index       : {gid.index}")
    if options.verb == "read":
        lines.append(" Outstand reads  : 16")
    else:
        inline = port.adapter.inline or INLINE[options.verb]
        lines.append(f" Max inline data : {inline if options.is_latency else 0}[B]")
    lines += [" rdma_cm QPs\t : OFF", " Data ex. method : Ethernet"]
    if version >= NAMES_NUMA and options.binds_itself:
        lines.append(f" NUMA node       : {port.numa}")
    return LINE + "\n".join(lines) + "\n" + LINE


def addresses(
    side: str, options: Options, port: Port, gid: Gid | None, pairs: list[Address]
) -> str:
    """Return the `local address` or `remote address` lines, one or two per queue pair."""
    lid = f"{port.lid:#04x}" if port.lid else "0000"
    text = ""
    if gid is not None:
        octets = ":".join(f"{octet:02d}" for octet in gid.address.packed)
    for pair in pairs:
        text += f" {side} address: LID {lid} QPN {pair.qpn:#06x} PSN {pair.psn:#06x}"
        if options.verb == "read":
            text += " OUT 0x10"
        if options.verb != "send":
            text += f" RKey {pair.rkey:#08x} VAddr {pair.vaddr:#016x}"
        text += "\n"
        if gid is not None:
            text += f" GID: {octets}\n"
    return text


def latency_table(options: Options, values: Latencies) -> str:
    """Return the table of a run with iterations."""
    minimum, maximum, median, mean, deviation, p99, p999 = (
        f"{seconds * 1e6:<7.2f}"
        for seconds in (
            values.minimum,
            values.maximum,
            values.median,
            values.mean,
            values.deviation,
            values.p99,
            values.p999,
        )
    )
    row = (
        f" {options.size:<7} {options.iterations}          {minimum}        {maximum}      "
        f"{median}  \t       {mean}     \t{deviation}\t\t{p99} \t\t{p999}\n"
    )
    return LATENCY_HEADER + row + LINE


def latency_duration_table(options: Options, trips: int, mean_s: float, trip_s: float) -> str:
    """Return the table of a run with a duration: no percentiles."""
    figures = f"{mean_s * 1e6:<7.2f}        {1 / trip_s:<7.2f}"
    row = f" {options.size:<7}       {trips}            {figures}\n"
    return DURATION_HEADER + row + LINE


def bandwidth_header(options: Options, version: tuple[int, ...]) -> str:
    """Return the line above a bandwidth row; older versions call MiB/s MB/sec."""
    unit = "Gb/sec" if options.gigabits else "MiB/sec" if version >= NAMES_MIB else "MB/sec"
    return f" #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]\n"


def bandwidth_table(
    options: Options, version: tuple[int, ...], messages: int, peak_bps: float, average_bps: float
) -> str:
    """Return the table of a bandwidth run; small rates in Gb/s get more digits."""
    scale = 1e9 if options.gigabits else 8 * 2**20
    peak, average = peak_bps / scale, average_bps / scale
    rate = average_bps / 8 / options.size / 1e6
    if options.gigabits and 0 < average < 0.1:
        row = f" {options.size:<7}    {messages}           {peak:<7.6f}            {average:<7.6f}"
        row += f"            {rate:<7.6f}\n"
    else:
        gap = "     " if version >= NAMES_MIB else "   "
        row = f" {options.size:<7}    {messages:<10}       {peak:<7.2f}            {average:<7.2f}"
        row += f"\t\t{gap}{rate:<7.6f}\n"
    return bandwidth_header(options, version) + row + LINE
