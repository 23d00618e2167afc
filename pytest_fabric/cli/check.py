"""`pytest-fabric check`: the inventory, then every node at the same time, one line each."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pytest_fabric import config, endpoints
from pytest_fabric.config import Cluster
from pytest_fabric.description import holder
from pytest_fabric.measure import readiness
from pytest_fabric.measure.fabric import AT_ONCE, Fabric
from pytest_fabric.transport import Pool


def run(path: Path, say: Callable[[str], None]) -> bool:
    """Check an inventory and its nodes; return whether all are ready. Raises ConfigError."""
    cluster = config.load(path)
    say(f"{path.name}: nodes: {len(cluster.nodes)}, ports: {len(cluster.ports())}")
    lab = endpoints.Lab(cluster, ()) if cluster.transport == "lab" else None
    pool = Pool(endpoints.of(cluster, lab), holder("check"), lambda node, *commands: None)
    try:
        return _nodes(cluster, pool, say)
    finally:
        pool.close()
        if lab is not None:
            lab.close()


def _nodes(cluster: Cluster, pool: Pool, say: Callable[[str], None]) -> bool:
    fabric = Fabric(cluster, pool, lambda facts: None)
    for name, reason in cluster.excluded.items():
        say(f"{name}: excluded: {reason}")
    nodes = [node for name, node in cluster.nodes.items() if name not in cluster.excluded]
    ready = True
    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = threads.map(lambda node: readiness.problems(fabric, node), nodes)
        for node, problems in zip(nodes, found, strict=True):
            ready = ready and not problems
            for line in problems or [readiness.summary(fabric, node)]:
                say(line)
    say("every node is ready" if ready else "not every node is ready")
    return ready
