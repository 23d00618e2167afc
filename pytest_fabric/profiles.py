"""Which profiles say what is expected of a target."""

from __future__ import annotations

from pytest_fabric.config import Cluster, Profile
from pytest_fabric.declare import FABRIC
from pytest_fabric.results import Pair, PairGroup, Port
from pytest_fabric.wants import Target


def profiles_of(cluster: Cluster, target: Target) -> tuple[Profile, ...]:
    """Return the profiles that say what is expected of a target: those of all ends of pairs."""
    if target == FABRIC:
        used = {
            rail.profile.name: rail.profile
            for n in cluster.nodes.values()
            for rail in n.rails.values()
        }
        return tuple(used.values())
    pairs = target.pairs if isinstance(target, PairGroup) else (target,)
    ends = [
        end
        for one in pairs
        for end in ((one.client, one.server) if isinstance(one, Pair) else (one,))
    ]
    profiles = [
        cluster.rail(end).profile if isinstance(end, Port) else cluster.nodes[end].profile
        for end in ends
    ]
    return tuple({profile.name: profile for profile in profiles}.values())
