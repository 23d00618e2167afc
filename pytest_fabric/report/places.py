"""Places in the fabric as text: targets taken apart, and many of them folded into few words."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

from ClusterShell.NodeSet import (  # type: ignore[import-untyped]
    RESOLVER_NOGROUP,
    NodeSet,
    NodeSetParseError,
)

#: Pairs are written out in at most so many expressions, or else counted.
PAIR_GROUPS = 4


@lru_cache(maxsize=65_536)  # a run asks for each of its targets again and again
def ports_of(target: str) -> tuple[str, ...]:
    """Return the ports of a target: two of a pair, one of a port, none of a node."""
    return tuple(end for end in target.split("..") if ":" in end)


@lru_cache(maxsize=65_536)
def nodes_of(target: str) -> tuple[str, ...]:
    """Return the nodes of a target, the client's first."""
    return tuple(dict.fromkeys(end.partition(":")[0] for end in target.split("..")))


def is_pair(target: str) -> bool:
    """Return whether a target is a pair of ports."""
    return len(ports_of(target)) == 2


def fold(targets: Iterable[str]) -> str:
    """Return nodes, ports and pairs as node sets: `gpu[003-009]:rail0`."""
    unique = dict.fromkeys(targets)
    pairs = [target for target in unique if is_pair(target)]
    ports = [target for target in unique if ":" in target and not is_pair(target)]
    nodes = [target for target in unique if ":" not in target and not is_pair(target)]
    found = (_fold_names(nodes), _fold_ports(ports), _fold_pairs(pairs))
    return ", ".join(_expressions(",".join(filter(None, found))))


def _fold_names(names: Sequence[str]) -> str:
    plain = ",".join(names)
    if len(names) < 2:
        return plain
    try:
        # Groups are off: a folded name must not depend on files of the controller.
        nodes = NodeSet.fromlist(names, resolver=RESOLVER_NOGROUP)
    except NodeSetParseError:
        return plain
    return str(nodes) if set(nodes) == set(names) else plain


def _fold_ports(ports: Sequence[str]) -> str:
    # By rail first: node sets of two dimensions fold slowly once there are thousands.
    nodes_by_rail: dict[str, list[str]] = defaultdict(list)
    for port in ports:
        node, _, rail = port.partition(":")
        nodes_by_rail[rail].append(node)
    rails_by_nodes: dict[str, list[str]] = defaultdict(list)
    for rail, nodes in nodes_by_rail.items():
        rails_by_nodes[_fold_names(nodes)].append(rail)
    return ",".join(
        f"{nodes}:{rails}"
        for folded, members in rails_by_nodes.items()
        for nodes in _expressions(folded)
        for rails in _expressions(_fold_names(members))
    )


def _fold_pairs(pairs: Sequence[str]) -> str:
    clients: dict[str, list[str]] = defaultdict(list)
    servers: dict[str, list[str]] = defaultdict(list)
    for pair in pairs:
        client, _, server = pair.partition("..")
        clients[server].append(client)
        servers[client].append(server)
    if min(len(clients), len(servers)) > PAIR_GROUPS:
        ports = dict.fromkeys(port for pair in pairs for port in pair.split(".."))
        return f"{len(pairs)} pairs among {_fold_ports(list(ports))}"
    if len(clients) <= len(servers):
        folded = [(ends, server) for server, found in clients.items() for ends in _ends(found)]
    else:
        folded = [(client, ends) for client, found in servers.items() for ends in _ends(found)]
    return ",".join(f"{client}..{server}" for client, server in folded)


def _ends(ports: Sequence[str]) -> list[str]:
    return _expressions(_fold_ports(ports))


def _expressions(folded: str) -> list[str]:
    return re.split(r",(?![^\[]*\])", folded)  # commas outside of brackets


def mentioned(names: Iterable[str], message: str) -> list[str]:
    """Return the names of nodes or ports that a message mentions other than inside a longer one.

    A pair's id mentions neither of its ports, a port's id not its node.
    """
    words = {word.strip(".:-") for word in re.findall(r"[\w.:-]+", message)}
    return [name for name in names if name in words]
