"""Facts of a node: everything readable in one job, matched with the ports of the inventory."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence

from pytest_fabric.config import Rail
from pytest_fabric.errors import PORT_NOT_FOUND, FabricError, MeasurementError
from pytest_fabric.metrics import BANDWIDTH_TOOLS, LATENCY_TOOLS
from pytest_fabric.results import NodeFacts, RdmaPort
from pytest_fabric.tools import ibv_devinfo, kfd, perftest, sysfs
from pytest_fabric.transport import Collect, Glob, Outcome

#: Programs that measuring needs, and the Debian package of each; other distributions differ little.
PROGRAMS = {
    **dict.fromkeys((*LATENCY_TOOLS, *BANDWIDTH_TOOLS), "perftest"),
    "ethtool": "ethtool",
    "ping": "iputils-ping",
    "iperf3": "iperf3",
    "taskset": "util-linux",
    "flock": "util-linux",
    "timeout": "coreutils",
    "ibv_devinfo": "ibverbs-utils",
}

#: Programs that are asked where they are there.
OPTIONAL = ("mlxlink", "mstlink", "ss")

#: What a node may take to answer; the slowest part is perftest's start on a busy machine.
DEADLINE_S = 30.0


def job(prefix: tuple[str, ...] = ()) -> Collect:
    """Return the one job that collects all facts of a node."""
    read = {
        name: ("grep", "-sH", ".", *(Glob(path) for path in paths))
        for name, paths in sysfs.paths().items()
    }
    cpus = "/sys/devices/system/cpu"
    return Collect(
        {
            **read,
            "gids": (*sysfs.gid_command(), Glob(f"{sysfs.RDMA}/*/ports/*/gids/*")),
            "cpu": ("grep", "-sH", ".", Glob(f"{cpus}/cpu*/topology/thread_siblings_list")),
            "limits": (
                "grep",
                "-E",
                "Max locked memory|Cpus_allowed_list",
                "/proc/self/limits",
                "/proc/self/status",
            ),
            "kernel": ("uname", "-r"),
            "mtu": ("ibv_devinfo",),
            "rocm": ("grep", "-sH", kfd.LINES, Glob(kfd.PATHS)),
            "perftest": (*prefix, "ib_write_lat", "-V"),
            "tools": ("have", *PROGRAMS, *OPTIONAL),
            "uverbs": ("usable", Glob("/dev/infiniband/uverbs*")),
        },
        deadline_s=DEADLINE_S,
    )


def require(
    node: str, tools: Container[str], programs: Sequence[str], prefix: Sequence[str]
) -> None:
    """Raise MeasurementError, which names the package, when `tools` of a node lack a program.

    What is behind the site's prefix (`podman exec perf`) was not looked for.
    """
    missing = next((name for name in programs if name not in tools), None)
    if missing is not None and not prefix:
        raise MeasurementError(
            node,
            "tool_missing",
            f"expected {missing} on the node, found none: install package {PROGRAMS[missing]}, or "
            "set tools.path",
        )


def parse(node: str, outcomes: Mapping[str, Outcome]) -> NodeFacts:
    """Return the facts that the sections say. Raises MeasurementError when none came back."""
    late = [name for name, outcome in outcomes.items() if outcome.end != "exit"]
    if late:
        raise MeasurementError(
            node, "facts", f"expected facts within {DEADLINE_S:g} s, {late[0]} did not come back"
        )
    text = {name: outcome.stdout for name, outcome in outcomes.items()}
    tree = {}
    for name in (*sysfs.paths(), "gids"):
        tree.update(sysfs.parse(text[name]))
    siblings = {
        int(match.group(1)): sysfs.cpu_list(value)
        for path, value in sysfs.parse(text["cpu"]).items()
        if (match := re.search(r"/cpu(\d+)/topology", path))
    }
    return NodeFacts(
        node=node,
        kernel=text["kernel"].strip(),
        perftest=_version(text["perftest"]),
        tools=_tools(text["tools"]),
        memlock_bytes=_memlock(text["limits"]),
        allowed_cpus=_allowed(text["limits"]) or tuple(sorted(siblings)),
        siblings=siblings,
        uverbs=_usable(text["uverbs"]),
        ports=_with_mtu(sysfs.ports(tree), outcomes["mtu"]),
        rocm=kfd.gpus(text["rocm"]),
    )


def _version(text: str) -> str | None:
    try:
        return perftest.parse_version(text)
    except FabricError:
        return None  # a missing perftest is told where it is needed


def _tools(text: str) -> dict[str, str]:
    paths = [line.strip() for line in text.splitlines() if line.strip()]
    return {path.rpartition("/")[2]: path for path in paths}


def _memlock(text: str) -> int | None:
    """Return the soft limit of locked memory; 0 when the node does not say it."""
    match = re.search(r"Max locked memory\s+(\d+|unlimited)", text)
    if match is None:
        return 0
    return None if match.group(1) == "unlimited" else int(match.group(1))


def _allowed(text: str) -> tuple[int, ...]:
    match = re.search(r"Cpus_allowed_list:\s*(\S+)", text)
    return sysfs.cpu_list(match.group(1)) if match else ()


def _usable(text: str) -> dict[str, str]:
    rows = [line.split(None, 1) for line in text.splitlines()]
    return {row[1].strip(): row[0] for row in rows if len(row) == 2}


def _with_mtu(ports: list[RdmaPort], outcome: Outcome) -> tuple[RdmaPort, ...]:
    """Return the ports with the active MTU that ibv_devinfo says, which the kernel knows best."""
    try:
        rows = ibv_devinfo.parse(outcome.stdout)
    except FabricError:
        return tuple(ports)  # not installed: the netdev's MTU tells it on Ethernet
    known = {(row.device, row.port): row.active_mtu for row in rows}
    return tuple(
        _replace_mtu(port, known.get((port.device, port.number), port.active_mtu)) for port in ports
    )


def _replace_mtu(port: RdmaPort, mtu: int | None) -> RdmaPort:
    return RdmaPort(**{**vars(port), "active_mtu": mtu})


def find(target: str, rail: Rail, facts: NodeFacts) -> RdmaPort:
    """Return the RDMA port that a rail's selector names.

    Raises MeasurementError (`port_not_found`) that names what is there instead, for the selector's
    own kind: a NIC that is missing lets the names of the others shift, so nothing is guessed. So do
    virtual functions, which share the link of their card: none of them is the port of a rail.
    """
    selector = rail.selector
    matches = [port for port in facts.ports if _matches(selector.kind, rail, port)]
    own = [port for port in matches if port.physical is None]
    if len(own) == 1:
        return own[0]
    shown = (port for port in facts.ports if port.physical is None)
    seen = ", ".join(f"{port.device} at {port.pci or '-'}" for port in shown)
    virtual = f": {_virtual(matches)}" if matches and not own else ""
    raise MeasurementError(
        target,
        PORT_NOT_FOUND,
        f"expected one RDMA port with {selector.kind} {selector.value}, found {len(own)}{virtual}; "
        f"the node has {seen or 'no RDMA device'}",
    )


def _virtual(matches: Sequence[RdmaPort]) -> str:
    """Return what stands where a port was looked for."""
    first = matches[0]
    return (
        f"{first.device} at {first.pci or '-'} is a virtual function (SR-IOV) of the card at "
        f"{first.physical}, and these shift device names: select by the PCI address of the card"
    )


def _matches(kind: str, rail: Rail, port: RdmaPort) -> bool:
    value = rail.selector.value
    if kind == "netdevs":
        return bool(rail.netdevs) and set(rail.netdevs) <= set(port.netdevs)
    if kind == "netdev":
        return value in port.netdevs
    if kind == "device":
        return value in (port.device, f"{port.device}/{port.number}")
    if kind == "guid":
        return _hex(value) == _hex(port.guid)
    return value == port.pci


def _hex(guid: str) -> str:
    return re.sub(r"[^0-9a-f]", "", guid.lower().removeprefix("0x"))
