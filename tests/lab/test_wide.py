"""Faults of leaves, uplinks and rails: on all of their ports, and what traffic shows of them."""

from __future__ import annotations

import pytest

from pytest_fabric.errors import ConfigError
from pytest_fabric.lab.traffic import Traffic

from .clusters import INFINIBAND, ROCE, nodes, port
from .test_congestion import (
    HEEDED,
    LOST,
    MARKED,
    NOTICES,
    PAUSED,
    PAUSES,
    RESENT,
    counters,
    grown,
    incast,
)
from .test_topology import TWO
from .test_traffic import FULL, Watch, flow, run


def touched(fault: str, text: str = TWO) -> set[str]:
    """Return the ports that a fault changes."""
    before, after = nodes(text), nodes(text, fault)
    return {
        str(port.id)
        for name, node in after.items()
        for port, old in zip(node.ports, before[name].ports, strict=True)
        if port != old
    }


@pytest.mark.parametrize(
    ("fault", "ports"),
    [
        ("pfc_off_leaf@leaf-9", {f"gpu00{number}:rail0" for number in (5, 6, 7, 8)}),
        ("half_uplink@leaf-9/uplink2", {f"gpu00{number}:rail0" for number in (5, 6, 7, 8)}),
        ("congested_leaf@leaf-1", {f"gpu00{number}:rail1" for number in (1, 2, 3, 4)}),
        ("leaf_detour@leaf-9", {f"gpu00{number}:rail0" for number in (5, 6, 7, 8)}),
        ("thin_uplinks@rail1", {f"gpu00{number}:rail1" for number in (1, 2, 3, 4)}),
        ("slow_rail@rail1", {f"gpu00{number}:rail1" for number in (1, 2, 3, 4)}),
    ],
)
def test_a_wide_fault_is_on_all_ports_of_its_place(fault: str, ports: set[str]) -> None:
    assert touched(fault) == ports


def test_one_uplink_of_a_leaf_has_half_of_its_speed() -> None:
    faulty = nodes(TWO, "half_uplink@leaf-9/uplink2")["gpu005"].ports[0]

    assert faulty.edge.uplinks == (400e9, 400e9, 200e9, 400e9)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("pfc_off_leaf@leaf-7", "expected leaf-9, got 'leaf-7'|expected leaf-., got"),
        ("pfc_off_leaf@gpu001", "expected one of leaf-0, leaf-1, leaf-9, got 'gpu001'"),
        ("slow_rail@leaf-9", "expected one of rail0, rail1, got 'leaf-9'"),
        ("half_uplink@leaf-9", "expected half_uplink@LEAF/uplinkN, got 'leaf-9'"),
        ("half_uplink@leaf-9/uplink4", "expected one of the 4 uplinks of leaf-9"),
        ("pfc_off_leaf", "expected NAME@TARGET"),
    ],
)
def test_a_wrong_place_is_told_in_one_line(fault: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        nodes(TWO, fault)

    assert f"fault {fault!r}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_pfc_is_nothing_for_a_leaf_of_infiniband() -> None:
    with pytest.raises(ConfigError, match="expected ports on Ethernet, ib1:rail0 is on Infini"):
        nodes(INFINIBAND, "pfc_off_leaf@leaf-0")


@pytest.mark.parametrize(
    ("fault", "receiver", "sender"),
    [
        ("pfc_off_leaf", {MARKED, NOTICES, LOST}, {HEEDED, RESENT}),
        ("pfc_other_priority_leaf", {MARKED, NOTICES, LOST}, {HEEDED, RESENT}),
        ("incast_loss", {MARKED, NOTICES, LOST}, {HEEDED, RESENT}),
        ("ecn_thresholds_missing", set(), {PAUSES, PAUSED}),
        ("cnp_wrong_queue", {MARKED, NOTICES}, {HEEDED, PAUSES, PAUSED}),
        ("class_lost_leaf", {LOST}, {RESENT}),
    ],
)
def test_an_incast_tells_how_a_leaf_is_set_up(
    fault: str, receiver: set[str], sender: set[str]
) -> None:
    watch = Watch()
    traffic = Traffic(watch)
    ports = [node.ports[0] for node in nodes(ROCE, f"{fault}@leaf-0").values()]

    incast(traffic, watch, *ports[:3])

    assert set(grown(traffic, ports[0])) == receiver
    assert set(grown(traffic, ports[1])) == sender


def test_a_class_that_is_lost_at_a_leaf_arrives_as_best_effort() -> None:
    faulty = nodes(ROCE, "class_lost_leaf@leaf-0")
    one, other = (faulty[name].ports[0] for name in ("gpu001", "gpu002"))

    assert (one.priority_of(26), other.arrival(one, 26)) == (3, 0)
    assert faulty["gpu001"].ports[1].arrival(faulty["gpu002"].ports[1], 26) == 3


def test_a_leaf_that_others_use_leaves_less_for_what_crosses_it() -> None:
    watch = Watch()
    ports = {node.name: node.ports[0] for node in nodes(TWO, "congested_leaf@leaf-9").values()}
    across = flow(ports["gpu001"], ports["gpu005"], bps=FULL)
    local = flow(ports["gpu006"], ports["gpu007"], bps=FULL)

    run(Traffic(watch), watch, across, local)

    assert across.average_bps() == pytest.approx(0.3 * FULL, rel=0.03)
    assert local.average_bps() == FULL


def test_a_slow_receiver_pauses_its_senders_and_not_those_it_sends_to() -> None:
    watch = Watch()
    traffic = Traffic(watch)
    slow, other = (port(ROCE, f"gpu00{n}:rail0", "slow_receiver@gpu001:rail0") for n in (1, 2))

    run(traffic, watch, flow(slow, other, bps=FULL))
    assert grown(traffic, other) == grown(traffic, slow) == {}
    into = flow(other, slow, bps=FULL)
    run(traffic, watch, into)

    assert into.average_bps() == pytest.approx(0.7 * FULL, rel=0.01)
    assert set(grown(traffic, other)) == {PAUSES, PAUSED}
    asked = counters(traffic, slow)["tx_prio3_pause_duration"]
    assert asked == pytest.approx(3e6, rel=0.02)


@pytest.mark.parametrize(("fault", "damaged"), [("damaged_in", True), ("damaged_out", False)])
def test_a_dirty_fibre_damages_one_direction(fault: str, damaged: bool) -> None:
    watch = Watch()
    traffic = Traffic(watch)
    dirty, other = (port(ROCE, f"gpu00{n}:rail0", f"{fault}@gpu001:rail0") for n in (1, 2))
    ends = (other, dirty) if damaged else (dirty, other)

    run(traffic, watch, flow(*ends[::-1], bps=FULL))
    assert grown(traffic, dirty) == grown(traffic, other) == {}
    run(traffic, watch, flow(*ends, bps=FULL))

    assert set(grown(traffic, ends[0])) == {RESENT}
    assert set(grown(traffic, ends[1])) == {LOST}
    assert (counters(traffic, dirty)["rx_crc_errors_phy"] > 100) is damaged
    assert counters(traffic, other)["rx_crc_errors_phy"] == 0
