"""What a cluster cannot be asked at all: its tests are skipped, each once, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_fabric.config.models import Cluster


def has_infiniband(cluster: Cluster, node: str) -> bool:
    """Return whether a node has an InfiniBand port."""
    rails = cluster.nodes[node].rails.values()
    return any(rail.profile.link.layer == "InfiniBand" for rail in rails)


def _without_infiniband(cluster: Cluster) -> str | None:
    if any(has_infiniband(cluster, node) for node in cluster.nodes):
        return None
    return f"no port of {cluster.source.name} is InfiniBand: nothing has a subnet manager"


def _without_plan(cluster: Cluster) -> str | None:
    if cluster.cables:
        return None
    return (
        f"{cluster.source.name} has no plan of the cables: add `cables: cables.csv`, a file with "
        "the columns node,rail,switch,switch_port"
    )


def _without_tcp(cluster: Cluster) -> str | None:
    rails = (rail for node in cluster.nodes.values() for rail in node.rails.values())
    if any(rail.profile.has_limits_of("tcp") for rail in rails):
        return None
    return (
        f"no limit of tcp is declared in {cluster.source.name}: add `tcp.throughput`, or another, "
        "to the limits of a profile"
    )


def _without_collective(cluster: Cluster) -> str | None:
    if cluster.collectives is not None:
        return None
    return (
        f"{cluster.source.name} declares no `collectives`: where nccl-tests are, and on which GPUs"
    )


#: By topic or tool: returns why a cluster has nothing for it, or None when it has.
MISSING: Mapping[str, Callable[[Cluster], str | None]] = {
    "iperf3": _without_tcp,
    "collective": _without_collective,
    "wiring": _without_plan,
    "infiniband": _without_infiniband,
    "subnet": _without_infiniband,
}


def why_missing(topic: str, cluster: Cluster) -> str | None:
    """Return why a cluster cannot be asked about a topic or with a tool, or None when it can."""
    missing = MISSING.get(topic)
    return missing(cluster) if missing is not None else None
