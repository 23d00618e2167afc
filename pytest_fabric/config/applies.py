"""What a cluster cannot be asked at all: its tests are skipped, each once, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from pytest_fabric.config.models import Cluster
from pytest_fabric.results import Port

#: The topics that switches are asked about, and not nodes.
SWITCHES = frozenset({"switch", "switch_window"})


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


def _without_gpu_memory(cluster: Cluster) -> str | None:
    rails = [rail for node in cluster.nodes.values() for rail in node.rails.values()]
    if any(rail.gpu_memory for rail in rails):
        return None
    if any(rail.gpu for rail in rails):
        return (
            f"no profile of {cluster.source.name} says how the memory of GPUs is reached: add "
            "`gpu_memory: cuda` (or cuda_dmabuf, rocm, rocm_dmabuf)"
        )
    return (
        f"no rail of {cluster.source.name} declares the GPU beside its port: add "
        '`gpu: "0000:1b:00.0"` to rails, and `gpu_memory: cuda` to their profile'
    )


def _without_collective(cluster: Cluster) -> str | None:
    if cluster.collectives is not None:
        return None
    return (
        f"{cluster.source.name} declares no `collectives`: where nccl-tests are, and on which GPUs"
    )


def _without_switches(cluster: Cluster) -> str | None:
    if cluster.switches:
        return None
    return (
        f"{cluster.source.name} declares no switches: add `switches: {{leaf-0: {{os: sonic}}}}`, "
        "names of the plan of the cables, and their ends of the cables are judged too"
    )


def unasked(cluster: Cluster, ports: Iterable[Port]) -> list[str]:
    """Return the switches at which ports are cabled, and which nobody asks, in their order."""
    left = (port for port in ports if port in cluster.cables and cluster.switch(port) is None)
    return list(dict.fromkeys(cluster.cables[port].switch for port in left))


#: By topic or tool: returns why a cluster has nothing for it, or None when it has.
MISSING: Mapping[str, Callable[[Cluster], str | None]] = {
    "iperf3": _without_tcp,
    "collective": _without_collective,
    "gpu_bandwidth": _without_gpu_memory,
    "wiring": _without_plan,
    "infiniband": _without_infiniband,
    "subnet": _without_infiniband,
    **dict.fromkeys(SWITCHES, _without_switches),
}


def why_missing(topic: str, cluster: Cluster) -> str | None:
    """Return why a cluster cannot be asked about a topic or with a tool, or None when it can."""
    missing = MISSING.get(topic)
    return missing(cluster) if missing is not None else None
