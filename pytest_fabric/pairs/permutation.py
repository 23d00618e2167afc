"""The bisection: every port sends to the leaf half a turn away, all of them at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_fabric.errors import ConfigError
from pytest_fabric.pairs.group import Group
from pytest_fabric.results import Pair, Port

Free = dict[str, list[Port]]

REMEDY = "say leaf: in the rails of each node set, or choose another strategy"


def permutation(group: Group) -> list[Pair]:
    """Return pairs from leaf i to leaf i + L/2: a port is at most once client and once server.

    The ports that a bigger leaf has more than its counterpart send to free ports of other leaves.
    Where one leaf holds more than half of all ports, some of them have nobody and are left out.
    Raises ConfigError where the ports are not on two known leaves or more.
    """
    if len({port.node for port in group.ports}) < 2:
        return []
    leaves = _known(group)
    half = len(leaves) // 2
    servers: dict[Port, Port] = {}
    for leaf, clients in enumerate(leaves):
        servers.update(_opposite(clients, leaves[(leaf + half) % len(leaves)]))
    taken = set(servers.values())
    free = {group.leaves[leaf[0]]: [port for port in leaf if port not in taken] for leaf in leaves}
    for client in group.ports:
        if client not in servers:
            _place(client, servers, free, group.leaves)
    return [Pair(client, servers[client]) for client in group.ports if client in servers]


def _known(group: Group) -> list[list[Port]]:
    """Return the ports of each leaf. Raises ConfigError for unknown leaves, or a single one."""
    leaves = group.by_leaf()
    if None in leaves:
        raise ConfigError(
            f"strategy permutation: expected the leaf of every port of {group.name}, found none of "
            f"{leaves[None][0]}: {REMEDY}"
        )
    if len(leaves) < 2:
        raise ConfigError(
            f"strategy permutation: expected ports of {group.name} on two leaves or more, got only "
            f"{next(iter(leaves))}: {REMEDY}"
        )
    return list(leaves.values())


def _opposite(clients: Sequence[Port], servers: Sequence[Port]) -> dict[Port, Port]:
    """Return the servers of clients one by one, turned so that few of them are of one node."""
    best: dict[Port, Port] = {}
    for turn in range(len(servers)):
        ends = zip(clients, [*servers[turn:], *servers[:turn]], strict=False)
        found = {client: server for client, server in ends if client.node != server.node}
        best = max(best, found, key=len)
        if len(best) == min(len(clients), len(servers)):
            break
    return best


def _place(client: Port, servers: dict[Port, Port], free: Free, leaves: Mapping[Port, str]) -> None:
    """Give a client a free server, or the server of a client that can take a free one instead."""
    server = _far(client, free, leaves)
    if server is not None:
        servers[client] = server
        free[leaves[server]].remove(server)
        return
    for other, theirs in servers.items():
        if _far(client, {leaves[theirs]: [theirs]}, leaves) is None:
            continue
        instead = _far(other, free, leaves)
        if instead is not None:
            servers[other], servers[client] = instead, theirs
            free[leaves[instead]].remove(instead)
            return


def _far(client: Port, free: Free, leaves: Mapping[Port, str]) -> Port | None:
    """Return the first free port on another leaf and node."""
    others = (ports for leaf, ports in free.items() if leaf != leaves[client])
    return next((port for ports in others for port in ports if port.node != client.node), None)
