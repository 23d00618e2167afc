"""What test items are about: their targets, what they want measured, the checks they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from pytest_fabric.declare import FABRIC, Declaration, layer_of
from pytest_fabric.inventory import Inventory
from pytest_fabric.markers import declared
from pytest_fabric.measure.plan import Want
from pytest_fabric.metrics import TOOLS, TOPICS
from pytest_fabric.parametrize import TARGET, NoTarget, loaded
from pytest_fabric.report.planned import Planned
from pytest_fabric.results import Pair, PairGroup, Port

Target = Pair | PairGroup | Port | str


def target_of(item: pytest.Item) -> Target | NoTarget | None:
    """Return what an item of ours is run over, or None for an item that is not ours."""
    callspec = getattr(item, "callspec", None)
    return callspec.params.get(TARGET) if callspec is not None else None


def wants_of(items: Sequence[pytest.Item]) -> tuple[list[Want], list[Target]]:
    """Return what the items want measured or read, each once, and their other targets."""
    wants: dict[Want, None] = {}
    others: dict[Target, None] = {}
    for item in items:
        target = target_of(item)
        declaration = declared(item)
        if not isinstance(target, Pair | PairGroup | Port | str):
            continue
        if declaration is not None and declaration.over == FABRIC and declaration.tool in TOOLS:
            wants.update(dict.fromkeys(each_pair(declaration, loaded(item.config))))
            continue
        all_nodes = loaded(item.config).nodes if target == FABRIC else ()
        is_measured = isinstance(target, Pair | PairGroup)
        if declaration is not None and (is_measured or declaration.tool in TOPICS):
            wants.update(dict.fromkeys(Want(declaration, one) for one in all_nodes or (target,)))
        if not is_measured or declaration is None:
            others.update(dict.fromkeys(all_nodes or (target,)))
    return list(wants), list(others)


def each_pair(declaration: Declaration, inventory: Inventory) -> list[Want]:
    """Return what a declaration over the fabric wants of each pair."""
    single = replace(declaration, over="pair")
    return [Want(single, pair) for pair in inventory.pairs]


def planned(item: pytest.Item) -> Planned:
    """Return the check that an item stands for; the client's node owns a pair."""
    target = str(target_of(item))
    module = item.nodeid.partition("::")[0]
    return Planned(
        nodeid=item.nodeid,
        check=getattr(item, "originalname", None) or item.name,
        target=target,
        layer=layer_of(module),
        node=target.partition("..")[0].partition(":")[0],
    )
