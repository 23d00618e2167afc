"""What a run says of itself from its first moment on: the fabric, the options, and the tests."""

from __future__ import annotations

import getpass
import hashlib
import os
import platform
import re
from collections.abc import Iterable
from datetime import datetime, timezone
from importlib import metadata

import pytest

from pytest_fabric.config import Cluster, Node, Profile, Rail, why_missing
from pytest_fabric.inventory import Inventory
from pytest_fabric.judge.training import Work
from pytest_fabric.measure.plan import Policy
from pytest_fabric.metrics import COLLECTIVES, GROUP_METRICS, SOAK_METRICS, TOGETHER_METRICS
from pytest_fabric.parametrize import retest_key
from pytest_fabric.prove.digests import digests
from pytest_fabric.report.about import SCHEMA, About, Cabled, Options, Waived
from pytest_fabric.results import Port
from pytest_fabric.soaking import asked_of

#: What groups of pairs show, all pairs together, and a soak: no run must have judged a port by it.
OF_FABRIC = frozenset((*GROUP_METRICS, *TOGETHER_METRICS, *SOAK_METRICS))

#: Topics whose metrics begin with another word than their name.
TOPIC_OF = {"switch": "switch", "tcp": "iperf3"}


def about_of(
    config: pytest.Config, inventory: Inventory, policy: Policy, nodeids: Iterable[str]
) -> About:
    """Return what a run is at its begin; `nodeids` are its checks."""
    cluster, asked = inventory.cluster, asked_of(config)
    declared = [Port(node.name, rail) for node in cluster.nodes.values() for rail in node.rails]
    rails = {str(port): cluster.rail(port) for port in declared}
    profiles = {rail.profile.name: rail.profile for rail in rails.values()}
    return About(
        schema=SCHEMA,
        version=version(),
        cluster=cluster.name,
        inventory=str(cluster.source),
        inventory_sha256=hashlib.sha256(cluster.source.read_bytes()).hexdigest(),
        transport=cluster.transport,
        strategy=inventory.strategy,
        options=Options(
            nodes=config.getoption("--fabric-nodes"),
            load=policy.load,
            faults=tuple(config.getoption("--fabric-fault")),
            seed=cluster.lab.seed if cluster.transport == "lab" else None,
            soak_s=asked.seconds if asked else None,
            soak_window_s=asked.window_s if asked else None,
        ),
        started=now(),
        user=user_name(),
        host=platform.node(),
        ports={
            str(port): _identity(cluster.nodes[port.node], cluster.rail(port))
            for port in cluster.ports()
        },
        routing=cluster.fabric.routing,
        workload=None if cluster.workload is None else Work.of(cluster.workload),
        leaves={name: rail.leaf for name, rail in rails.items() if rail.leaf is not None},
        declared=tuple(rails),
        excluded=dict(cluster.excluded),
        waivers=_waivers(cluster),
        min_coverage=cluster.min_coverage,
        cables={
            str(port): Cabled(cable.switch, cable.switch_port, cable.length_m)
            for port, cable in cluster.cables.items()
        },
        switches={name: one.os for name, one in cluster.switches.items()},
        profiles={name: rail.profile.name for name, rail in rails.items()},
        limits={name: limited(cluster, profile) for name, profile in profiles.items()},
        suites=digests(config.rootpath, nodeids),
        retest=config.stash.get(retest_key, None),
    )


def _waivers(cluster: Cluster) -> tuple[Waived, ...]:
    return tuple(
        Waived(one.check, one.target, one.until.isoformat(), one.owner, one.reason, one.metric)
        for one in cluster.waivers
    )


def limited(cluster: Cluster, profile: Profile) -> tuple[str, ...]:
    """Return the metrics with a limit that ports and pairs must have been judged by.

    What is a matter of the fabric is left out; firmware is limited by board.
    """
    found: dict[str, None] = {}
    for metric in profile.limits:
        first = metric.partition(".")[0]
        if metric in OF_FABRIC or first in COLLECTIVES:
            continue
        if why_missing(TOPIC_OF.get(first, first), cluster) is not None:
            continue
        if profile.why_not_available(metric) is not None:
            continue
        found[re.sub(r"^firmware\.(?![a-z_]+$).*", "firmware.running", metric)] = None
    return tuple(found)


def _identity(node: Node, rail: Rail) -> str:
    """Return what a port id stands for, as far as an inventory says."""
    where = f"{node.address}:{node.port}" if node.port else node.address
    return " ".join([where, str(rail.selector), str(rail.network or ""), rail.leaf or ""]).strip()


def user_name() -> str:
    """Return who runs this."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container without a passwd entry
        return f"uid{os.getuid()}"


def holder(run: str) -> str:
    """Return who holds a lease, for people who find a port in use: run, user and host."""
    return f"run={run} user={user_name()} host={platform.node()} pid={os.getpid()}"


def version() -> str:
    """Return the version of this product."""
    try:
        return metadata.version("pytest-rdma-fabric")
    except metadata.PackageNotFoundError:
        return "unknown"


def now() -> str:
    """Return the time as records have it: UTC, ISO 8601."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
