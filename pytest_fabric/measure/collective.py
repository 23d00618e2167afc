"""When a collective may run: before anything else of a run is measured, and on idle nodes only."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fabric.measure import plan
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.plan import Policy, Want
from pytest_fabric.measure.preconditions import Preconditions
from pytest_fabric.metrics import COLLECTIVES
from pytest_fabric.results import Port


def permitted(
    fabric: Fabric, preconditions: Preconditions, policy: Policy, wants: Sequence[Want]
) -> list[Want]:
    """Return the wants without a collective that must not run; a node in use is its error.

    It loads every port at once: a run of a lower load, or of a part of its nodes, leaves it out.
    """
    cluster = fabric.cluster
    asking = [want for want in wants if want.declaration.tool in COLLECTIVES]
    rest = [want for want in wants if want.declaration.tool not in COLLECTIVES]
    nodes = cluster.collective_nodes()
    selected = {str(want.target) for want in asking}
    is_refused = any(plan.refusal(want, cluster, policy) is not None for want in asking)
    if not asking or is_refused or cluster.collectives is None or not selected >= set(nodes):
        return rest
    ports = [Port(name, rail) for name in nodes for rail in cluster.nodes[name].rails]
    busy = preconditions.in_use(ports)
    if busy is not None:
        for tool in COLLECTIVES:
            fabric.refuse(tool, cluster.collectives.launcher, busy)
    return [*rest, *asking]
