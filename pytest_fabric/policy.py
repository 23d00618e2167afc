"""How a run may use the fabric: from its options and its inventory."""

from __future__ import annotations

import pytest

from pytest_fabric.errors import ConfigError
from pytest_fabric.inventory import Inventory
from pytest_fabric.measure.plan import Policy
from pytest_fabric.spans import span

#: From this many nodes on a full mesh has to be confirmed: it takes most of a day.
MESH_NODES = 64


def policy_of(config: pytest.Config, inventory: Inventory) -> Policy:
    """Return what the options of a run allow. Raises ConfigError."""
    dedicated = inventory.cluster.fabric.dedicated
    load = config.getoption("--fabric-load") or ("disruptive" if dedicated else "full")
    if config.getoption("--fabric-replay"):
        load = "disruptive"  # nothing is loaded, so nothing is left out
    if inventory.strategy == "permutation" and load != "disruptive":
        raise ConfigError(
            "pairs: expected fabric.dedicated: true or --fabric-load disruptive for strategy "
            f"permutation, found load {load}: it loads every port of the fabric at the same time"
        )
    defaults = Policy()
    jobs = config.getoption("--fabric-jobs")
    if jobs is not None and jobs < 1:
        raise ConfigError(f"--fabric-jobs: expected a number of at least 1, got {jobs}")
    lease = config.getoption("--fabric-lease-wait")
    timeout = config.getoption("--fabric-timeout")
    return Policy(
        load=load,
        strategy=inventory.strategy,
        at_once=jobs or defaults.at_once,
        lease_wait_s=defaults.lease_wait_s if lease is None else span("--fabric-lease-wait", lease),
        timeout_s=None if timeout is None else span("--fabric-timeout", timeout),
        confirm=inventory.cluster.confirm,
        allow_busy=config.getoption("--fabric-allow-busy"),
    )


def require_confirmed(config: pytest.Config, inventory: Inventory) -> None:
    """Raise ConfigError for a full mesh of many nodes that nobody has confirmed."""
    nodes = len(inventory.nodes)
    is_given = config.getoption("--yes") or config.getoption("--fabric-replay")
    if inventory.strategy == "all" and nodes > MESH_NODES and not is_given:
        raise ConfigError(
            f"pairs: expected --yes for strategy all on {nodes} nodes: it has "
            f"{len(inventory.pairs):,} pairs; see --fabric-plan, or choose cover"
        )
