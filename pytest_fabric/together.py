"""All pairs at once, as the fixtures of a test are given them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_fabric.declare import Declaration
from pytest_fabric.errors import FabricError, MissingValueError
from pytest_fabric.inventory import Inventory
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.misses import misses
from pytest_fabric.judge.together import Path, TogetherResult
from pytest_fabric.measure.peers import kind_of
from pytest_fabric.measure.plan import Want
from pytest_fabric.profiles import profiles_of
from pytest_fabric.results import Measured, Measurement, Pair
from pytest_fabric.wants import each_pair

#: Asks for a measurement of a pair, or for its repetitions alone, and waits for it.
Ask = Callable[[Want], Measured]
Alone = Callable[[Want], tuple[Measurement, ...]]

#: Failures that end a run: what they left undone is no finding about the fabric.
OVER = ("stopped", "timeout")


def result(
    declaration: Declaration,
    inventory: Inventory,
    ask: Ask,
    alone: Alone,
    refusal: Callable[[Want], str | None],
    told: tuple[Ledger, Callable[[str], None]],
) -> TogetherResult:
    """Return the result of all pairs. Raises MissingValueError where there is none.

    A measurement that missed beside others was made again alone, or is so now.
    """
    wanted = each_pair(declaration, inventory)
    refusals = {want: refusal(want) for want in wanted}
    left = [want for want in wanted if refusals[want] is None]
    if not wanted:
        raise MissingValueError(f"{declaration.tool}: expected pairs to measure, found none")
    if not left:
        pytest.skip(str(refusals[wanted[0]]))
    measured: dict[str, Measured] = {}
    lost: dict[str, str] = {}
    missed = set()
    for want in left:
        name = str(want.target)
        try:
            found = ask(want)
        except FabricError as error:
            lost[name] = str(error)
            continue
        failure = found.record.error
        if failure is not None:
            if failure.kind in OVER:
                raise MissingValueError(f"{declaration.tool}: {failure.message}")
            lost[name] = failure.message
            continue
        if found.record.company and _misses(found.record, inventory):
            found = replace(found, alone=alone(want))
            if _held(found, inventory):
                missed.add(name)
        measured[name] = found
    ledger, require = told
    return TogetherResult(
        declaration.tool,
        measured,
        lost,
        {str(want.target): path for want in left if (path := _path(want, inventory)) is not None},
        frozenset(missed),
        ledger,
        require,
        pytest.skip,
    )


def _misses(record: Measurement, inventory: Inventory) -> bool:
    profiles = profiles_of(inventory.cluster, Pair.parse(record.target))
    return misses(record, profiles, inventory.cluster.fabric.routing)


def _held(found: Measured, inventory: Inventory) -> bool:
    """Return whether a measurement held, each time that it was made alone."""
    return bool(found.alone) and not any(
        one.error is not None or _misses(one, inventory) for one in found.alone
    )


def _path(want: Want, inventory: Inventory) -> Path | None:
    """Return the path of a pair, None where a leaf of it is not declared."""
    pair = want.target
    assert isinstance(pair, Pair)
    ends, cluster = (pair.client, pair.server), inventory.cluster
    leaves = [inventory.leaves.get(end) for end in ends]
    if leaves[0] is None or leaves[1] is None:
        return None
    parts = cluster.rail(pair.client).profile.latency
    step = None if parts is None else 2 * (parts.switch.number + parts.fec.number)
    return Path((leaves[0], leaves[1]), kind_of(pair, cluster).partition(", ")[2], step)
