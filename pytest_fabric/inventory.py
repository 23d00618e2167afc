"""The inventory of a run: found, loaded once, and narrowed by options."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from pytest_fabric import config as configuration
from pytest_fabric import pairs as strategies
from pytest_fabric.config import Cluster
from pytest_fabric.config.nodesets import expand, fold
from pytest_fabric.declare import FABRIC as FABRIC
from pytest_fabric.errors import ConfigError
from pytest_fabric.results import Pair, Port


@dataclass(frozen=True)
class Inventory:
    """What a run is about: the cluster, and what options left of it; pairs come round by round."""

    cluster: Cluster
    ports: tuple[Port, ...]
    pairs: tuple[Pair, ...]
    strategy: str

    @property
    def nodes(self) -> tuple[str, ...]:
        """Return the names of the nodes, in the order of the inventory."""
        return tuple(dict.fromkeys(port.node for port in self.ports))

    @property
    def leaves(self) -> dict[Port, str]:
        """Return the leaf of each port of which it is declared."""
        return _leaves(self.cluster, self.ports)

    def targets(self, over: str) -> tuple[Pair | Port | str, ...]:
        """Return what a test is run over: `pair`, `port`, `node` or `fabric`."""
        choices: dict[str, tuple[Pair | Port | str, ...]] = {
            "pair": self.pairs,
            "port": self.ports,
            "node": self.nodes,
            "fabric": (FABRIC,) if self.nodes else (),
        }
        return choices.get(over, ())


def user_path(config: pytest.Config, text: str) -> Path:
    """Return a path that a user gave, seen from where pytest was started. Raises ConfigError."""
    try:
        return config.invocation_params.dir / Path(text).expanduser()
    except RuntimeError:  # ~nobody
        raise ConfigError(f"{text}: expected a path, found no home of that user") from None


def path_of(config: pytest.Config) -> tuple[Path, bool]:
    """Return where the inventory is, and whether the user named it."""
    named = config.getoption("--fabric-cluster")
    if named:
        return user_path(config, named), True
    from_ini = config.getini("fabric_cluster")
    if from_ini:
        return config.rootpath / from_ini, True
    here = config.invocation_params.dir / "cluster.yaml"
    return (here if here.exists() else config.rootpath / "cluster.yaml"), False


def load(config: pytest.Config) -> Inventory:
    """Return the inventory that the options of a run select. Raises ConfigError."""
    path, _ = path_of(config)
    cluster = configuration.load(path)
    if config.getoption("--fabric-fault") and cluster.transport != "lab":
        raise ConfigError(
            f"--fabric-fault: expected transport lab in {path.name}, got {cluster.transport}: "
            "only the lab can be broken"
        )
    if config.getoption("--fabric-prove") and cluster.transport != "lab":
        raise ConfigError(
            f"--fabric-prove: expected transport lab in {path.name}, got {cluster.transport}: "
            "only the lab can be broken"
        )
    ports = _selected(cluster, config.getoption("--fabric-nodes"))
    strategy = config.getoption("--fabric-pairs") or cluster.pairs.strategy
    return Inventory(cluster, ports, _pairs(cluster, ports, strategy), strategy)


def _pairs(cluster: Cluster, ports: tuple[Port, ...], strategy: str) -> tuple[Pair, ...]:
    """Return the pairs of a strategy, round by round. Raises ConfigError."""
    keys = cluster.pairs
    listed = [(Port.parse(client), Port.parse(server)) for client, server in keys.list]
    if strategy == "list" and not listed:
        raise ConfigError(
            f"--fabric-pairs list: expected pairs.list in {cluster.source.name}, found none: write "
            "down the pairs, or choose another strategy"
        )
    # Ports of two link layers cannot talk to each other, whatever their rails are called.
    by_layer: dict[str, list[Port]] = {}
    for port in ports:
        layer = "" if strategy == "list" else cluster.rail(port).profile.link.layer
        by_layer.setdefault(layer, []).append(port)
    choose = partial(
        strategies.select,
        strategy,
        leaves=_leaves(cluster, ports),
        seed=keys.seed,
        peers=keys.peers,
        cross_rail=keys.cross_rail,
        listed=listed,
    )
    try:
        chosen = [pair for group in by_layer.values() for pair in choose(group)]
    except ConfigError as error:
        raise ConfigError(f"{cluster.source.name}: {error}") from None
    return tuple(strategies.order(chosen, keys.seed))


def _leaves(cluster: Cluster, ports: Iterable[Port]) -> dict[Port, str]:
    """Return the leaf of each port of which it is declared."""
    found = ((port, cluster.rail(port).leaf) for port in ports)
    return {port: leaf for port, leaf in found if leaf is not None}


def _selected(cluster: Cluster, wanted: str | None) -> tuple[Port, ...]:
    if wanted is None:
        return cluster.ports()
    names = expand(wanted)
    unknown = [name for name in names if name not in cluster.nodes]
    if unknown:
        more = f" and {len(unknown) - 3} more" if len(unknown) > 3 else ""
        raise ConfigError(
            f"--fabric-nodes: expected nodes of {cluster.source.name} ({fold(cluster.nodes)}), got "
            f"{', '.join(unknown[:3])}{more}"
        )
    return tuple(port for port in cluster.ports() if port.node in set(names))
