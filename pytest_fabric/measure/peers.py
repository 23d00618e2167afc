"""Who is whose peer: pairs measured in one way, of the same profiles and the same hop class."""

from __future__ import annotations

from pytest_fabric.config import Cluster
from pytest_fabric.measure.plan import Job
from pytest_fabric.results import Pair

#: Hop classes: a path over one switch takes less than one over three.
SAME_LEAF, ACROSS, UNKNOWN = "same leaf", "across leaves", "unknown leaves"


def hops(pair: Pair, cluster: Cluster) -> str:
    """Return the hop class of a pair; ports of which no leaf is declared are a class of their own.

    Raises KeyError for a port that is not in the inventory.
    """
    leaves = {cluster.rail(end).leaf for end in (pair.client, pair.server)}
    if None in leaves:
        return UNKNOWN
    return SAME_LEAF if len(leaves) == 1 else ACROSS


def kind_of(pair: Pair, cluster: Cluster) -> str:
    """Return in words what a pair has in common with its peers."""
    ends = (pair.client, pair.server)
    profiles = dict.fromkeys(cluster.rail(end).profile.name for end in ends)
    return f"{hops(pair, cluster)}, profile {' to '.join(profiles)}"


def group_of(job: Job, cluster: Cluster) -> tuple[str, str]:
    """Return what a job has in common with its peers: its settings, and the kind of its pair."""
    return job.settings.key, kind_of(job.pair, cluster)
