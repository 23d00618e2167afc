"""What perftest says when it fails, with cause and remedy: the table of error kinds.

The first line that matches decides, among lines of the best rank only: a line that names its own
cause beats one that follows from another, and both beat one that only says that the peer is gone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pytest_fabric.errors import ToolError

#: A line with its own cause; one that follows from an earlier line; one that blames the other end.
CAUSE, FOLLOWS, PEER = 0, 1, 2


@dataclass(frozen=True)
class Kind:
    """A way to fail: its stable word, the text that shows it, why it happens and what to do."""

    word: str
    pattern: re.Pattern[str]
    cause: str
    remedy: str
    rank: int = CAUSE


def _kind(word: str, pattern: str, cause: str, remedy: str, rank: int = CAUSE) -> Kind:
    return Kind(word, re.compile(pattern, re.ASCII), cause, remedy, rank)


KINDS = (
    _kind(
        "connect_refused",
        r"Couldn't connect to \S+:[0-9]+",
        "the server is not up, or a firewall or a wrong port is in the way",
        "start the server first, and allow the control ports between the nodes",
    ),
    _kind(
        "resolve",
        r"Problem in resolving basic address and port|Name or service not known"
        r"|Address family for hostname not supported"
        r"|Temporary failure in name resolution|No address associated with hostname",
        "the name of the server does not resolve on the client",
        "use an address (oob in cluster.yaml), or repair the name service",
    ),
    _kind(
        "port_in_use",
        r"Couldn't listen to port [0-9]+",
        "something else listens on this control port",
        "choose another control port",
    ),
    _kind(
        "no_devices",
        r"Did not detect devices|No IB devices found|Failed to get IB devices list",
        "no RDMA device, no provider library, or a container without /dev/infiniband",
        "load the driver, install ibverbs-providers, or pass the devices into the container",
    ),
    _kind(
        "device_not_found",
        r"IB device \S+ not found|Unable to find the Infiniband/RoCE device",
        "the node has no RDMA device of this name",
        "compare with ibv_devices",
    ),
    _kind(
        "port_down",
        r"Port number [0-9]+ state is\b(?: [A-Z][a-z]+(?: Defer)?)?",
        "the link is down, or no subnet manager has brought the port up",
        "check the cable and the switch port, on InfiniBand the subnet manager",
    ),
    _kind(
        "mr_alloc",
        r"Couldn't allocate MR(?: with error=[0-9]+)?|[Ff]ailed to create (?:mr|MR)\b",
        "memory could not be registered: locked memory is limited, or no peer-memory module",
        "raise memlock for the user who runs it (ulimit -l); for GPUs load the peer-memory module",
    ),
    _kind(
        "cq_alloc",
        r"Couldn't create CQ|[Ff]ailed to create CQ",
        "the completion queue could not be made: limits, mostly of locked memory",
        "raise memlock for the user who runs it (ulimit -l), or reduce the depth",
    ),
    _kind(
        "qp_create",
        r"Unable to create QP|[Ff]ailed to create QP|Requested QP size might be too big",
        "the queue pair could not be made: too deep, too much inline data, or locked memory",
        "reduce transmit depth or inline size, or raise memlock (ulimit -l)",
    ),
    _kind(
        "gid_incompatible",
        r"Found Incompatibility issue with GID types",
        "one end uses an IPv4-mapped GID and the other an IPv6 one",
        "choose the GID index of each end by type and address family",
    ),
    _kind(
        "qp_init",
        r"Failed to modify QP(?: [0-9]+)? to INIT",
        "the queue pair could not be initialised: partition, port or rights",
        "check the partition key and the state of the port",
    ),
    _kind(
        "qp_rtr",
        r"[Ff]ailed to modify QP(?: [0-9]+)? to RTR(?:: [A-Z][\w ]+)?",
        "the peer's address does not resolve from this GID: wrong GID index, no neighbour, "
        "no route, or another subnet",
        "compare the GIDs of both ends, and ping between their addresses",
    ),
    _kind(
        "qp_rts",
        r"[Ff]ailed to modify QP(?: [0-9]+)? to RTS",
        "the queue pair could not start to send",
        "check the state of the port, and the kernel log",
    ),
    _kind(
        "version_mismatch",
        r"not compatible with versions older than [0-9.]+|Couldn't parse line",
        "the two ends run releases that do not understand each other",
        "install the same perftest on both ends",
    ),
    _kind(
        "rdma_cm",
        r"Received [0-9]+ times ADDR_ERROR|[Uu]nexpected CM event|rdma_resolve_addr failed"
        r"|Unable to connect \(retries|Unable to create (?:the rdma_resources|RDMA_CM resources)"
        r"|Unable to perform rdma_client function",
        "the RDMA connection manager found no way to the peer's address",
        "use the address of the peer's RDMA interface, and check the route to it",
    ),
    _kind(
        "message_lost",
        r"Did not get Message for [0-9]+ Seconds",
        "messages were lost on the way: nothing sends them again for UD and UC",
        "look at the discards on the way; what is printed afterwards is no result",
    ),
    _kind(
        "below_limit",
        r"Error: BW result is below bw limit|Error: Msg rate  ?is below msg_rate limit",
        "the result is below the limit given with -w or -y",
        "compare with the limit of the profile",
    ),
    _kind(
        "margin",
        r"margin is not long enough|DURATION > 2\*MARGIN",
        "the duration leaves nothing between its margins",
        "use a longer -D, or a smaller -f",
    ),
    _kind(
        "data_validation",
        r"[Dd]ata validation (?:failed|error)",
        "the data that arrived are not the data that were sent",
        "suspect memory, PCIe and the NIC: this must never happen",
    ),
    _kind(
        "no_frequency",
        r"Can't produce a report",
        "the CPU's frequency is unknown, so that cycles are no time",
        "give -F",
    ),
    _kind(
        "clock",
        r"Correlation coefficient r\^2: [0-9.]+ < 0\.9",
        "the CPU's clock could not be calibrated on this busy or emulated machine",
        "measure again, when the node is idle",
    ),
    _kind(
        "duplicate_argument",
        r"Duplicated argument: \S+",
        "an option is given twice",
        "remove the one of the wrapper or your own",
    ),
    _kind(
        "tool_missing",
        r"\bib_\w+: (?:command )?not found|\bib_\w+'?: No such file or directory"
        r"|command not found: \S*\bib_\w+",
        "perftest is not installed, or not in the path of this shell",
        "install the package perftest, or set tools.path",
    ),
    _kind(
        "permission",
        r"sudo: (?:a password is required|a terminal is required)|\bib_\w+: Permission denied",
        "the user may not run it",
        "add the sudo line that the check command prints",
    ),
    _kind(
        "usage",
        r"(?:invalid|unrecognized) option|requires an argument|should be between \S+ and \S+"
        r"|Message size cannot be changed|only available on bw tests|Invalid Command line"
        r"|start a server and wait for connection|Parser function exited with Error",
        "perftest does not accept these options",
        "compare with its --help: options come and go by release",
    ),
    _kind(
        "resources",
        r"Couldn't create IB resources|Couldn't get context for the device"
        r"|Couldn't set the link layer",
        "the device could not be set up",
        "read the lines before it, and the kernel log",
        FOLLOWS,
    ),
    _kind(
        "socket",
        r"Unable to open file descriptor for socket connection|Unable to init the socket connection"
        r"|Unable to set up socket connection",
        "the control connection could not be made",
        "read the lines before it",
        FOLLOWS,
    ),
    _kind(
        "qp_connect",
        r"Unable to Connect the HCA's through the link",
        "the queue pairs could not be connected",
        "read the lines before it",
        FOLLOWS,
    ),
    _kind(
        "completion",
        r"Completion with error at (?:client|server)|Failed to complete run_\w+ function",
        "a message was not completed",
        "read the status in the lines before it",
        FOLLOWS,
    ),
    _kind(
        "crashed",
        r"Segmentation fault|core dumped",
        "perftest crashed",
        "read the lines before it; most often memory could not be registered",
        FOLLOWS,
    ),
    _kind(
        "peer_lost",
        r"ethernet_(?:read|write)_(?:keys|data): Couldn't \w+ [\w ]+"
        r"|(?:client|server) (?:read|write): (?:Broken pipe|Connection reset by peer)"
        r"|Unable to (?:read|write) (?:to|from) socket/rdma_cm"
        r"|Failed to exchange data between server and clients"
        r"|Failed to sync between server and client|Failed to close connection between server",
        "the other end has gone, or something connected to the control port",
        "look at the other end: the cause is there",
        PEER,
    ),
)

COMPLETION = re.compile(
    r"Failed status(?: ([0-9]{1,3})|-[^()]{0,60}\(([0-9]{1,3})\)):"
    r"(?: wr_id [0-9]+ syndrom (0x[0-9a-fA-F]+)(?![0-9a-fA-F]))?"
)

#: `enum ibv_wc_status` and `ibv_wc_status_str` of libibverbs.
STATUSES = {
    1: "local length error",
    2: "local queue pair operation error",
    3: "local EE context operation error",
    4: "local protection error: the memory cannot be reached, typically that of a GPU",
    5: "work request flushed: the queue pair failed before, by the peer or the link",
    6: "memory management operation error",
    7: "bad response",
    8: "local access error",
    9: "remote invalid request",
    10: "remote access error: the two ends were given different sizes or tests",
    11: "remote operation error",
    12: "transport retry counter exceeded: the path is broken, or the peer has gone",
    13: "RNR retry counter exceeded: the receiver was not ready",
    14: "local RDD violation",
    15: "remote invalid RD request",
    16: "aborted",
    17: "invalid EE context number",
    18: "invalid EE context state",
    19: "fatal error",
    20: "response timeout",
    21: "general error",
}


def check(lines: Sequence[str]) -> None:
    """Raise ToolError when the lines say that perftest failed, whatever else they hold."""
    found = [error for line in dict.fromkeys(lines) if (error := _recognise(line)) is not None]
    if found:
        best = min(rank for rank, _, _ in found)
        raise next(ToolError(word, text) for rank, word, text in found if rank == best)


@lru_cache(maxsize=512)  # nearly all lines of nearly all runs are the same
def _recognise(line: str) -> tuple[int, str, str] | None:
    """Return rank, word and text of the error that a line tells, or None."""
    match = COMPLETION.search(line)
    if match is not None:
        return CAUSE, "completion", _completion(match)
    for kind in KINDS:
        match = kind.pattern.search(line)
        if match is not None:
            said = re.sub(r"[^ -~]+", " ", match.group()).strip()[:200]
            return kind.rank, kind.word, f"{said}: {kind.cause}; {kind.remedy}"
    return None


def _completion(match: re.Match[str]) -> str:
    status = int(match.group(1) or match.group(2))
    vendor = f", vendor error {match.group(3)}" if match.group(3) else ""
    return f"completion with status {status}{vendor}: {STATUSES.get(status, 'unknown status')}"
