"""What a port reached by the verdicts on its pairs, and what the model then says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric.judge.training import Link, Work
from pytest_fabric.report import training
from pytest_fabric.report.sections import training as section
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.report.summary import Run
from pytest_fabric.results import Verdict

from .examples import HOSTILE, verdict

WORK = Work(64, 8, 8, 500e6, 0.1, 0.0)
PORTS = [f"gpu{n:03}:rail0" for n in range(1, 9)]


def rate(pair: str, value: float, outcome: str = "passed") -> Verdict:
    made = verdict(pair, outcome, value=value, unit="b/s")
    return replace(made, metric="ib_write_bw.1048576.average")


def fabric(slow: str, *, sending: float = 1.0, receiving: float = 1.0) -> list[Verdict]:
    """Return verdicts of each port with three others, one port slower in its directions."""
    pairs = [(one, PORTS[(n + far) % 8]) for n, one in enumerate(PORTS) for far in (1, 2, 3)]
    return [
        rate(
            f"{client}..{server}",
            392e9 * (sending if client == slow else receiving if server == slow else 1),
        )
        for client, server in pairs
    ]


def test_a_slow_port_drags_no_partner_along() -> None:
    """Each of its pairs is slow, and each partner has others."""
    found = training.links(fabric("gpu003:rail0", sending=0.5, receiving=0.5))

    assert {name for name, link in found.items() if link.bandwidth_bps < 300e9} == {"gpu003:rail0"}


@pytest.mark.parametrize("way", ["sending", "receiving"])
def test_one_slow_direction_is_enough(way: str) -> None:
    """A ring sends and receives at once."""
    found = training.links(fabric("gpu003:rail0", **{way: 0.5}))

    assert found["gpu003:rail0"].bandwidth_bps == 196e9
    assert found["gpu004:rail0"].bandwidth_bps == 392e9


def test_in_a_ring_of_pairs_the_port_with_two_slow_pairs_is_the_slow_one() -> None:
    """One pair each way: a partner is known by its other pair."""
    ring = [rate(f"{a}..{b}", 392e9) for a, b in zip(PORTS, PORTS[1:] + PORTS[:1], strict=True)]
    ring = [replace(one, value=100e9) if "gpu003" in one.target else one for one in ring]
    found = training.links(ring)

    assert [name for name, link in found.items() if link.bandwidth_bps < 300e9] == ["gpu003:rail0"]


def test_latency_of_small_messages_counts_and_others_have_the_usual() -> None:
    small = replace(verdict(f"{PORTS[0]}..{PORTS[1]}", value=2e-6), metric="ib_write_lat.4.median")
    page = replace(small, metric="ib_write_lat.4096.median", value=1e-6)
    found = training.links([rate(f"{PORTS[0]}..{PORTS[2]}", 1e9), small, page])

    assert found == {PORTS[0]: Link(1e9, 2e-6), PORTS[2]: Link(1e9, 2e-6)}


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf"), None, "fast"])
def test_what_is_no_bandwidth_is_none(value: float | str | None) -> None:
    """And then the model says that it has nothing to go by."""
    broken = replace(rate(f"{PORTS[0]}..{PORTS[1]}", 1.0), value=value)

    assert training.links([broken]) == {}
    assert training.line(WORK, [broken]) == training.NOTHING


def test_a_uniform_fabric_is_told_so() -> None:
    assert training.line(WORK, fabric("none")) == (
        "training (a model): no single port holds a step up: all-reduce 2.511 ms, step 102.5 ms; "
        "latency was not measured"
    )


def test_one_node_has_no_network() -> None:
    alone = replace(WORK, gpus=8)

    told = "training (a model): one node, whose gradients use no network"
    assert training.line(alone, []) == told
    assert section.section(RunRecord(Run([], [], [], {}, workload=alone)))[1] == f"<p>{told}</p>"


def test_without_a_workload_nothing_is_shown_and_names_stay_text() -> None:
    bad = [replace(one, target=one.target.replace("gpu003", HOSTILE)) for one in fabric("none")]
    bad += [rate(f"{HOSTILE}:rail0..{PORTS[0]}", 1e9), rate(f"{HOSTILE}:rail0..{PORTS[1]}", 1e9)]

    assert section.section(RunRecord(Run([], fabric("x"), [], {}))) == []
    shown = "".join(section.section(RunRecord(Run([], bad, [], {}, workload=WORK))))
    assert "<script>" not in shown
    assert "\x1b" not in shown
