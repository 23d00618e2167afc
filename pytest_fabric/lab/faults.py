"""The faults that the lab can have: what each changes, where it applies, and what causes it.

A fault turns a healthy node into a faulty one; everything else follows from the model.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from pytest_fabric.errors import ConfigError
from pytest_fabric.lab import growth
from pytest_fabric.lab.model import ETHERNET, INFINIBAND, Node, Port
from pytest_fabric.lab.traffic import Tally
from pytest_fabric.results import Port as PortId

#: Every perftest program; they come in one package.
PERFTEST = frozenset(
    f"ib_{verb}_{kind}" for verb in ("write", "read", "send") for kind in ("lat", "bw")
)


@dataclass(frozen=True)
class Fault:
    """A fault of the catalogue; `places` says whether a node, a port or both can have it.

    `on_port` is applied to the port, or to every port of the node; `on_node` to the node.
    """

    name: str
    places: tuple[str, ...]
    text: str
    cause: str
    on_port: Callable[[Port], Port] | None = None
    on_node: Callable[[Node], Node] | None = None
    layers: tuple[str, ...] = (ETHERNET, INFINIBAND)


def _half_speed(port: Port) -> Port:
    return replace(port, speed_bps=port.speed_bps / 2)


def _half_width(port: Port) -> Port:
    return replace(port, pcie_width=max(1, port.pcie_max_width // 2))


def _low_mtu(port: Port) -> Port:
    return replace(port, mtu=1024 if port.mtu > 1024 else 256)


def _down(port: Port) -> Port:
    return replace(port, state="DOWN")


def _without_routed_gids(port: Port) -> Port:
    return replace(port, gids=tuple(gid for gid in port.gids if gid.address.is_link_local))


def _without_counter(port: Port) -> Port:
    if not port.is_ethernet:
        return replace(port, hidden_counters=frozenset({"symbol_error"}))
    return replace(port, hidden_counters=frozenset(growth.pauses(port, Tally())))


def _tool(behaviour: str) -> Callable[[Port], Port]:
    return lambda port: replace(port, tool=behaviour)


def _ssh(behaviour: str) -> Callable[[Node], Node]:
    return lambda node: replace(node, ssh=behaviour)


CATALOGUE = {
    fault.name: fault
    for fault in (
        Fault(
            "latency_tail",
            ("port",),
            "the slowest messages of every pair that uses the port take 18 us; the median stays",
            "power saving, interrupts on the polling core, or a marginal cable that retries",
            on_port=lambda port: replace(port, tail=35.0),
        ),
        Fault(
            "link_speed",
            ("port",),
            "the port trains at half of the declared speed",
            "a worn or wrong cable, or a module that both ends agree on only at a lower rate",
            on_port=_half_speed,
        ),
        Fault(
            "pause_rx",
            ("port",),
            "the port is told to pause on its lossless priority while traffic runs",
            "a congested switch, or a slow receiver behind it",
            on_port=lambda port: replace(port, paused=True),
            layers=(ETHERNET,),
        ),
        Fault(
            "pcie_width",
            ("port",),
            "the card's PCIe link has half of its lanes, and bandwidth is limited by it",
            "a card not fully seated, a dirty connector, or a slot wired with fewer lanes",
            on_port=_half_width,
        ),
        Fault(
            "default_class",
            ("port",),
            "what the port sends travels on priority 0, whatever class the tool asked for",
            "trust left at PCP, or a traffic class override that lost its setting at reboot",
            on_port=lambda port: replace(port, best_effort=True),
            layers=(ETHERNET,),
        ),
        Fault(
            "server_dies",
            ("port",),
            "a perftest server on the port is killed in the middle of its run",
            "the out-of-memory killer, a job's epilogue, or a person",
            on_port=lambda port: replace(port, server_dies=True),
        ),
        Fault(
            "port_down",
            ("port",),
            "the link is down",
            "a cable pulled, a switch port shut, or no subnet manager",
            on_port=_down,
        ),
        Fault(
            "gid_missing",
            ("port",),
            "the port has no GID with an IP address",
            "the network device lost its address",
            on_port=_without_routed_gids,
            layers=(ETHERNET,),
        ),
        Fault(
            "mtu_low",
            ("port",),
            "the active RDMA MTU is 1024",
            "an interface left at an MTU of 1500",
            on_port=_low_mtu,
        ),
        Fault(
            "counter_missing",
            ("port",),
            "the counters of pause are not there; on InfiniBand that of symbol errors",
            "flow control switched off (the driver hides what is off), or another driver",
            on_port=_without_counter,
        ),
        Fault(
            "tool_missing",
            ("node",),
            "no perftest program is installed",
            "a node imaged without the package",
            on_node=lambda node: replace(node, missing_tools=PERFTEST),
        ),
        Fault(
            "tool_garbage",
            ("node", "port"),
            "perftest prints nonsense and ends well",
            "a wrapper script in the path, or a broken build",
            on_port=_tool("garbage"),
        ),
        Fault(
            "tool_silent",
            ("node", "port"),
            "perftest prints nothing and ends well",
            "a full disk behind a wrapper, or a stub",
            on_port=_tool("silent"),
        ),
        Fault(
            "tool_hangs",
            ("node", "port"),
            "perftest neither listens nor connects nor ends",
            "a driver stuck in the kernel",
            on_port=_tool("hangs"),
        ),
        Fault(
            "row_then_error",
            ("node", "port"),
            "a perftest client prints its row, then an error, and exits with 1",
            "the server lost after the measurement",
            on_port=_tool("row then error"),
        ),
        Fault(
            "rdma_context",
            ("node", "port"),
            "a process of somebody else holds an RDMA context and a queue pair",
            "a job that was not drained, or one that did not end",
            on_port=lambda port: replace(port, is_held=True),
        ),
        Fault(
            "gpu_job",
            ("node",),
            "a process of somebody else computes on the GPUs",
            "a job that was not drained, or one that did not end",
            on_node=lambda node: replace(node, gpu_job=True),
        ),
        Fault(
            "foreign_traffic",
            ("port",),
            "a quarter of the line is filled with somebody else's traffic, both ways",
            "a job, storage or a backup that shares the port",
            on_port=lambda port: replace(port, foreign=0.25),
        ),
        Fault(
            "pause_storm",
            ("port",),
            "the port makes its senders wait for half of the time in which it receives",
            "a host that cannot take in what it is sent: a hung process, a slow PCIe path",
            on_port=lambda port: replace(port, storms=True),
            layers=(ETHERNET,),
        ),
        Fault(
            "shared_slot",
            ("node",),
            "the node's network cards share one PCIe link, which carries one of them at full rate",
            "cards behind one switch port, or a bifurcated slot: only load on both shows it",
            on_port=lambda port: replace(port, shares_slot=True),
        ),
        Fault(
            "ssh_down",
            ("node",),
            "nothing listens on the node's SSH port",
            "sshd stopped, or the machine is off",
            on_node=_ssh("down"),
        ),
        Fault(
            "ssh_dropped",
            ("node",),
            "the node's connections end a minute after they were made",
            "a machine that crashes under load",
            on_node=_ssh("dropped"),
        ),
        Fault(
            "ssh_silent",
            ("node",),
            "the node accepts connections and says nothing",
            "a frozen machine behind a load balancer",
            on_node=_ssh("silent"),
        ),
    )
}


def inject(nodes: Sequence[Node], faults: Iterable[str]) -> tuple[Node, ...]:
    """Return the nodes with every fault `NAME@TARGET` applied.

    TARGET is a node or a port `NODE:RAIL`. Raises ConfigError on an unknown name or target.
    """
    by_name = {node.name: node for node in nodes}
    for text in faults:
        fault, target = _parse(text, by_name)
        by_name[target.node] = _apply(fault, by_name[target.node], target.rail)
    return tuple(by_name.values())


def _parse(text: str, nodes: dict[str, Node]) -> tuple[Fault, PortId]:
    name, at, target = text.partition("@")
    if not at:
        raise ConfigError(f"fault {text!r}: expected NAME@TARGET, such as link_speed@node:rail")
    if name not in CATALOGUE:
        raise ConfigError(f"fault {text!r}: expected {_choice(name, CATALOGUE)}, got {name!r}")
    fault = CATALOGUE[name]
    node, colon, rail = target.partition(":")
    if node not in nodes:
        raise ConfigError(f"fault {text!r}: expected {_choice(node, nodes)}, got {node!r}")
    place = "port" if colon else "node"
    if place not in fault.places:
        example = node if place == "port" else f"{node}:{nodes[node].ports[0].id.rail}"
        wanted = f"a {fault.places[0]}, such as {name}@{example}"
        raise ConfigError(f"fault {text!r}: expected {wanted}, got {target!r}")
    ports = {port.id.rail: port for port in nodes[node].ports if rail in ("", port.id.rail)}
    if not ports:
        rails = [port.id.rail for port in nodes[node].ports]
        raise ConfigError(f"fault {text!r}: expected {_choice(rail, rails)}, got {rail!r}")
    wrong = next((port for port in ports.values() if port.layer not in fault.layers), None)
    if wrong is not None:
        raise ConfigError(
            f"fault {text!r}: expected a port on {fault.layers[0]}, {wrong.id} is on {wrong.layer}"
        )
    return fault, PortId(node, rail)


def _choice(got: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(got, names, n=1)
    return near[0] if near else f"one of {', '.join(names)}"


def _apply(fault: Fault, node: Node, rail: str) -> Node:
    if fault.on_node is not None:
        node = fault.on_node(node)
    if fault.on_port is None:
        return node
    change = fault.on_port
    ports = (change(port) if rail in ("", port.id.rail) else port for port in node.ports)
    return replace(node, ports=tuple(ports))
