"""What stands beside a failure of a pair: its budget, its tail, and the odd facts of its ends."""

from __future__ import annotations

from contextlib import suppress

import pytest

from pytest_fabric.config import Cluster
from pytest_fabric.errors import FabricError
from pytest_fabric.fixtures import answers_key
from pytest_fabric.judge import budget
from pytest_fabric.judge.oddities import oddities
from pytest_fabric.parametrize import loaded
from pytest_fabric.results import Measurement, Pair

#: A pair of one leaf crosses it, any other one a spine and two leaves.
NEAR, FAR = 1, 3


def details(item: pytest.Item, record: Measurement) -> list[tuple[str, str]]:
    """Return labels and texts; a text is empty where nothing is known."""
    if ".." not in record.target:
        return []  # many pairs at once have no path of their own
    cluster, pair = loaded(item.config).cluster, Pair.parse(record.target)
    return [
        ("budget", _budget(cluster, pair, record)),
        ("tail", budget.tail(record)),
        ("facts", "\n".join(_facts(item, cluster, pair))),
    ]


def _budget(cluster: Cluster, pair: Pair, record: Measurement) -> str:
    given = cluster.rail(pair.client).profile.latency
    way = way_of(cluster, pair)
    return budget.told(record, way, given) if given is not None and way is not None else ""


def way_of(cluster: Cluster, pair: Pair) -> budget.Way | None:
    """Return the way between two ports, or None where leaves or speed are not declared."""
    one, other = (cluster.rail(end) for end in (pair.client, pair.server))
    rates = [rail.profile.line_rate_bps for rail in (one, other)]
    known = [rate for rate in rates if rate is not None]
    if one.leaf is None or other.leaf is None or len(known) < 2:
        return None
    cables = [cluster.cable(end) for end in (pair.client, pair.server)]
    metres = sum(cable.length_m or 0.0 for cable in cables if cable is not None)
    switches = NEAR if one.leaf == other.leaf else FAR
    mtu = one.profile.link.mtu or 4096
    return budget.Way(switches, metres, min(known), mtu, one.profile.header_bytes)


def _facts(item: pytest.Item, cluster: Cluster, pair: Pair) -> list[str]:
    answers = item.config.stash[answers_key]
    found: list[str] = []
    for end in (pair.client, pair.server):
        with suppress(FabricError):  # what cannot be read is told by its own check
            odd = oddities(answers.record(end), cluster.rail(end).profile)
            found += [f"{end} {line}" for line in odd]
    return found
