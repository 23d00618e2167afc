"""Asks every node of a cluster file the same, side by side."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from pytest_fabric import config, endpoints
from pytest_fabric.config import Node
from pytest_fabric.description import holder
from pytest_fabric.errors import FabricError
from pytest_fabric.measure.fabric import AT_ONCE, Fabric
from pytest_fabric.measure.record import slip
from pytest_fabric.transport import Pool

T = TypeVar("T")


def each(
    path: Path, purpose: str, ask: Callable[[Fabric, Node], list[T]]
) -> dict[str, list[T] | FabricError]:
    """Return what each node that is not excluded answers, or why it does not.

    Raises ConfigError for a wrong file.
    """
    cluster = config.load(path)
    lab = endpoints.Lab(cluster, ()) if cluster.transport == "lab" else None
    pool = Pool(endpoints.of(cluster, lab), holder(purpose), lambda node, *commands: None)
    fabric = Fabric(cluster, pool, lambda facts: None)
    nodes = [node for name, node in cluster.nodes.items() if name not in cluster.excluded]

    def tried(node: Node) -> list[T] | FabricError:
        try:
            return ask(fabric, node)
        except FabricError as error:
            return error
        except Exception as error:
            return slip(node.name, purpose, error)

    try:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            return dict(zip([n.name for n in nodes], threads.map(tried, nodes), strict=True))
    finally:
        pool.close()
        if lab is not None:
            lab.close()


def good(answer: list[T] | FabricError) -> list[T]:
    """Return what a node answered, nothing where it did not."""
    return [] if isinstance(answer, FabricError) else answer
