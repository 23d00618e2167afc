"""From declarations to test items: ids come from the inventory alone, in its order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from pytest_fabric import grouping, inventory, soaking
from pytest_fabric.config import SWITCHES, why_missing
from pytest_fabric.declare import SOAK, Declaration
from pytest_fabric.errors import ConfigError
from pytest_fabric.markers import declared
from pytest_fabric.report.about import Retest
from pytest_fabric.results import Pair, PairGroup, Port

#: The hidden fixture that every fixture of ours rests on: it tells our tests from others'.
TARGET = "_fabric_target"

#: What a free-form test is run over, by the fixture that it asks for.
OVER = {"pair": "pair", "rdma_device": "port", "node": "node", "ssh": "node", "facts": "node"}

inventory_key = pytest.StashKey[inventory.Inventory]()
problem_key = pytest.StashKey[list[str]]()
retest_key = pytest.StashKey[Retest]()


@dataclass(frozen=True)
class NoTarget:
    """Stands where an inventory gives nothing to test: an empty list must not pass.

    What does not apply to a cluster is skipped once, and not for each of its ports.
    """

    over: str
    reason: str
    is_skipped: bool = False
    name: str = ""

    def __str__(self) -> str:
        return self.name or f"no-{self.over}"


def generate(metafunc: pytest.Metafunc) -> None:
    """Parametrise a test of ours over the targets of what it declares.

    Wrong use is kept and told after collection: here it would be a traceback.
    """
    config = metafunc.config
    try:
        over = _over(metafunc)
        chosen = loaded(config)
        targets = _targets(metafunc, chosen, over)
    except pytest.UsageError as error:
        config.stash.setdefault(problem_key, []).append(str(error))
        return
    except ConfigError as error:
        config.stash.setdefault(problem_key, list(error.lines))
        return
    metafunc.parametrize(TARGET, targets, ids=[str(target) for target in targets], indirect=True)


def tell_problems(config: pytest.Config, more: Sequence[str]) -> None:
    """Raise UsageError for what went wrong at collection; the controller does it for workers."""
    problems = [*more, *config.stash.get(problem_key, [])]
    if hasattr(config, "workerinput"):
        config.stash[problem_key] = problems
    elif problems:
        raise pytest.UsageError("\n".join(dict.fromkeys(problems)))


def _targets(
    metafunc: pytest.Metafunc, chosen: inventory.Inventory, over: str
) -> tuple[Pair | Port | PairGroup | str | NoTarget, ...]:
    declaration = declared(metafunc.definition)
    reason = why_missing(declaration.tool, chosen.cluster) if declaration is not None else None
    if reason is not None:
        return (NoTarget(over, reason, is_skipped=True),)
    if declaration is not None and declaration.tool == SOAK:
        unasked = soaking.why_not(metafunc.config)
        if unasked is not None:
            return (NoTarget(over, unasked, is_skipped=True),)
    if declaration is not None and declaration.is_group and chosen.ports:
        return _groups(chosen, declaration)
    if declaration is not None and declaration.tool in SWITCHES:
        ports = tuple(port for port in chosen.ports if chosen.cluster.switch(port) is not None)
        asked = ", ".join(chosen.cluster.switches)
        why = f"no port that was selected is cabled to a switch that is asked: {asked}"
        return ports or (NoTarget(over, why, is_skipped=True),)
    return chosen.targets(over) or (NoTarget(over, _why_none(chosen, over)),)


def _groups(
    chosen: inventory.Inventory, declaration: Declaration
) -> tuple[PairGroup | NoTarget, ...]:
    """Return the groups of a declaration; what a cluster cannot have is skipped by name."""
    return tuple(
        one
        if isinstance(one, PairGroup)
        else NoTarget(declaration.over, one.reason, is_skipped=True, name=one.name)
        for one in grouping.choose(chosen, declaration)
    )


def loaded(config: pytest.Config) -> inventory.Inventory:
    """Return the inventory, loaded once. Raises ConfigError."""
    if inventory_key not in config.stash:
        config.stash[inventory_key] = inventory.load(config)
    return config.stash[inventory_key]


def _over(metafunc: pytest.Metafunc) -> str:
    declaration = declared(metafunc.definition)
    wanted = {OVER[name] for name in metafunc.fixturenames if name in OVER}
    if declaration is not None:
        wanted.add(declaration.over)
    if "port" in wanted:
        wanted.discard("node")  # the node of the port
    if len(wanted) > 1:
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid}: expected one kind of target, found "
            f"{' and '.join(sorted(wanted))}: that would be a cross product"
        )
    if not wanted:
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid}: expected a measure marker or one of the fixtures "
            f"{', '.join(sorted(OVER))} beside the ones it asks for"
        )
    return wanted.pop()


def _why_none(chosen: inventory.Inventory, over: str) -> str:
    if not chosen.ports:
        return "no node is left: see excluded and --fabric-nodes"
    return (
        f"strategy {chosen.strategy} found no {over} among {len(chosen.ports)} ports on their rails"
    )
