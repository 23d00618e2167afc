"""Whether a measurement is outside its limits, so that it is to be made again alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pytest_fabric import group_answers
from pytest_fabric.config import Cluster
from pytest_fabric.judge.misses import misses
from pytest_fabric.judge.peers import Group
from pytest_fabric.measure.earlier import Past
from pytest_fabric.measure.peer_groups import Complete
from pytest_fabric.profiles import profiles_of
from pytest_fabric.results import Measurement, Pair


def is_missed(
    cluster: Cluster, record: Measurement, past: Sequence[Past], peers: Complete | None = None
) -> bool:
    """Return whether a limit is missed; `peers` is the measurement's group, once it is made."""
    if record.members:
        return group_answers.misses(cluster, record)
    profiles = profiles_of(cluster, Pair.parse(record.target))
    group = None if peers is None else _group(peers)
    baseline = (lambda: past) if past else None
    return misses(record, profiles, cluster.fabric.routing, baseline, group)


@lru_cache(maxsize=1)  # a group is asked about for each of its members, and reads each once
def _group(peers: Complete) -> Group:
    return Group(peers.records, peers.kind)
