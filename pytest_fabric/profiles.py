"""Which profiles say what is expected of a target."""

from __future__ import annotations

from pytest_fabric.config import Cluster, Profile
from pytest_fabric.declare import FABRIC
from pytest_fabric.results import Pair, Port
from pytest_fabric.wants import Target


def profiles_of(cluster: Cluster, target: Target) -> tuple[Profile, ...]:
    """Return the profiles that say what is expected of a target: those of both ends of a pair."""
    if target == FABRIC:
        used = {
            rail.profile.name: rail.profile
            for n in cluster.nodes.values()
            for rail in n.rails.values()
        }
        return tuple(used.values())
    ends = [target.client, target.server] if isinstance(target, Pair) else [target]
    profiles = [
        cluster.rail(end).profile if isinstance(end, Port) else cluster.nodes[end].profile
        for end in ends
    ]
    return tuple({profile.name: profile for profile in profiles}.values())
