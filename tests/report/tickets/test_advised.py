"""Each suspect has something to do next, and it is what its ticket says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric import metrics
from pytest_fabric.report import summary
from pytest_fabric.report.ran import Run
from pytest_fabric.report.tickets import make
from pytest_fabric.report.tickets.advised import _look_at, with_advice
from pytest_fabric.results import Verdict

from ..fabric import PAIRS, PORTS, judged, record, with_these

BAD = PORTS[1]

#: Metrics of ports and nodes that a check of their own can fail.
OWN = [
    *(("link.presence", "link.state", "link.physical_state")),
    *(m for m in metrics.LINK_METRICS if m != "class.share"),
    *(m for topic in ("link", "wiring", "qos", "switch", "switch_window", "firmware")
      for m in metrics.TOPICS[topic]),
]  # fmt: skip
OF_NODES = list(metrics.TOPICS["host"])


def run(*changed: Verdict) -> Run:
    """Return a run on the leaf with some verdicts changed."""
    return record(with_these(*changed)).run


@pytest.mark.parametrize("metric", OWN)
def test_a_port_that_fails_has_a_next_action(metric: str) -> None:
    found = with_advice(run(judged(BAD, metric, "failed")))

    assert [one.place for one in found] == [BAD]
    assert all(one.advice for one in found)


@pytest.mark.parametrize("metric", OF_NODES)
def test_a_node_that_fails_has_a_next_action(metric: str) -> None:
    found = with_advice(run(judged("gpu002", metric, "failed")))

    assert found
    assert all(one.advice for one in found)


def errors(node: str) -> list[Verdict]:
    """Return a run in which a node is silent."""
    found = with_these()
    return [
        replace(v, outcome="error", metric=None, value=None, message=f"{node}: refused")
        if node in v.target
        else v
        for v in found
    ]


@pytest.mark.parametrize(
    "verdicts",
    [
        with_these(*(judged(p, "ib_write_lat.4.p99", "failed") for p in PAIRS if BAD in p)),
        with_these(*(judged(p, "ib_write_bw.1048576.average", "failed") for p in PAIRS)),
        with_these(judged(PAIRS[0], "ib_write_bw.1048576.average", "failed")),
        with_these(*(judged(p, "crc_errors.growth", "failed") for p in PAIRS if BAD in p)),
        errors("gpu003"),
        [replace(v, outcome="error", message="gpu001: no") for v in with_these()],
    ],
    ids=["tails of a port", "all pairs", "one pair", "damage", "a silent node", "all are silent"],
)
def test_every_kind_of_suspect_has_a_next_action(verdicts: list[Verdict]) -> None:
    found = with_advice(record(verdicts).run)

    assert found
    assert all(one.advice for one in found)


def test_limits_are_told_of_nodes_and_ports_only() -> None:
    """`explain` knows no fabric and no leaf: nobody is sent there."""
    declared = {"gpu001", "gpu002"}

    for place in ("gpu001", "gpu001:rail0", "gpu001:rail0..gpu002:rail0"):
        assert f"explain {place} tells" in _look_at(place, declared)
    assert "explain" not in _look_at("fabric", declared)


def test_a_tail_sends_people_to_the_host_and_not_to_the_cable() -> None:
    """The failure says so too: cables make messages late by damaging some, which is counted."""
    pairs = [p for p in PAIRS if BAD in p]
    made = record(with_these(*(judged(p, "ib_write_lat.4.p99", "failed") for p in pairs)))
    (found,) = made.suspects
    (ticket,) = make.tickets_of(made).tickets

    assert found.advice.startswith("look at gpu002: power saving")
    assert (ticket.action.step, ticket.action.words) == ("investigate", found.advice)
    assert not [line for line in summary.lines(made.run) if "swap cables" in line]


def test_bandwidth_sends_people_to_the_cable() -> None:
    pairs = [p for p in PAIRS if BAD in p]
    checks = [judged(p, "ib_write_bw.1048576.average", "failed") for p in pairs]
    (found,) = record(with_these(*checks)).suspects

    assert found.advice.startswith(f"swap cables of {BAD} and ")
