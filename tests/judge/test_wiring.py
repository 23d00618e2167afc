"""Cables against their plan: in place, in another's place, moved, missing, and who swapped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric.config import Cable
from pytest_fabric.errors import MeasurementError, MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.wiring import CableResult, WiringResult, circles, find
from pytest_fabric.metrics import NOBODY
from pytest_fabric.results import Fact, Port

PORTS = {name: Port(name, "rail0") for name in "abcde"}


def plan(**places: str) -> dict[Port, Cable]:
    """Return a plan of `node="switch port"`."""
    return {
        PORTS[name]: Cable(
            port=PORTS[name],
            switch=place.partition(" ")[0],
            switch_port=place.partition(" ")[2],
            source=f"cables.csv:{line}",
        )
        for line, (name, place) in enumerate(places.items(), 2)
    }


def sees(place: str, description: str | None = None) -> dict[str, Fact]:
    """Return what a port says that sees a switch and its port."""
    switch, _, port = place.partition(" ")
    return {
        "wiring.switch": Fact(switch),
        "wiring.switch_port": Fact(port),
        "wiring.port_description": Fact(description or port),
    }


NOTHING = dict.fromkeys(
    ("wiring.switch", "wiring.switch_port", "wiring.port_description"),
    Fact(NOBODY, detail=("eth0: no LLDP neighbour",)),
)
UNREAD = dict.fromkeys(NOTHING, Fact(None, "install lldpd"))
PLAN = plan(a="leaf-0 swp1", b="leaf-0 swp2", c="leaf-0 swp3", d="leaf-1.pod.example Ethernet1/1")


@pytest.mark.parametrize(
    ("port", "facts", "kind", "text"),
    [
        ("a", sees("leaf-0 swp1"), "correct", "at leaf-0 swp1, as cables.csv:2 plans it"),
        ("a", sees("LEAF-0.pod.example SWP1"), "correct", "at LEAF-0.pod.example SWP1"),
        ("a", sees("leaf-0 Eth1/1", "swp1"), "correct", "at leaf-0 Eth1/1"),
        ("d", sees("leaf-1 Eth1/1"), "correct", "at leaf-1 Eth1/1"),
        ("d", sees("leaf-1 Et1/1"), "correct", "at leaf-1 Et1/1"),
        ("d", sees("leaf-1 Ethernet1"), "correct", "at leaf-1 Ethernet1"),
        ("d", sees("leaf-1 Ethernet11"), "moved", "moved to leaf-1 Ethernet11"),
        ("d", sees("leaf-1 Ethernet1/2"), "moved", "moved to leaf-1 Ethernet1/2"),
        ("d", sees("leaf-1.other.example Eth1/1"), "moved", "moved to leaf-1.other.example Eth1/1"),
        (
            "a",
            sees("leaf-0 swp2"),
            "taken",
            "at leaf-0 swp2, the place of b:rail0 (cables.csv:3); ",
        ),
        ("a", sees("leaf-0 swp9"), "moved", "where the plan has no cable; planned at leaf-0 swp1"),
        ("a", sees("leaf-1 swp1"), "moved", "moved to leaf-1 swp1"),
        ("a", sees("leaf-0 swp11"), "moved", "moved to leaf-0 swp11"),
        ("a", NOTHING, "missing", "eth0: no LLDP neighbour; planned at leaf-0 swp1 (cables.csv:2)"),
    ],
)
def test_a_cable_is_found(port: str, facts: dict[str, Fact], kind: str, text: str) -> None:
    found = find(PORTS[port], PLAN, facts)

    assert found.kind == kind
    assert text in found.text
    assert found.other == (PORTS["b"] if kind == "taken" else None)


def test_a_port_without_a_plan_is_no_pass() -> None:
    with pytest.raises(MissingValueError, match=r"e:rail0: expected its cable in cables.csv"):
        find(PORTS["e"], PLAN, sees("leaf-0 swp1"))


def test_what_cannot_be_read_is_no_verdict() -> None:
    with pytest.raises(MissingValueError, match=r"a:rail0: wiring.switch: install lldpd"):
        find(PORTS["a"], PLAN, UNREAD)


@pytest.mark.parametrize(("place", "number"), [("leaf-0 swp1", 0), ("leaf-0 swp2", 1)])
def test_a_misplaced_cable_is_one(place: str, number: int) -> None:
    ledger = Ledger()
    value = CableResult("a:rail0", "wiring", sees(place), ledger, plan=PLAN).misplaced

    assert value.number == number
    assert "leaf-0" in value.detail[0]
    assert ledger.reads == ["wiring.misplaced"]


@pytest.mark.parametrize(("place", "is_told"), [("leaf-0 swp9", True), (None, False)])
def test_a_port_that_sees_nobody_is_misplaced_where_others_of_its_node_see(
    place: str | None, is_told: bool
) -> None:
    """Where nobody sees, LLDP itself may be off: that is no fault of a cable."""
    beside = {"a:rail1": sees(place) if place else NOTHING}
    result = CableResult("a:rail0", "wiring", NOTHING, Ledger(), plan=PLAN, beside=beside)

    if is_told:
        assert result.misplaced.number == 1
    else:
        with pytest.raises(MissingValueError, match="no port of its node hears a neighbour"):
            _ = result.misplaced


def test_what_a_port_says_is_read_as_of_any_topic() -> None:
    result = CableResult("a:rail0", "wiring", sees("leaf-0 swp1"), Ledger(), plan=PLAN)

    assert result.switch_port.number == "swp1"


LOST = {"c": MeasurementError("c", "lost", "c: unreachable")}


def wiring(**seen: dict[str, Fact]) -> WiringResult:
    facts = {f"{name}:rail0": said for name, said in seen.items()}
    return WiringResult(facts, PLAN, Ledger())


def test_a_swap_is_named_once_with_both_ports() -> None:
    value = wiring(a=sees("leaf-0 swp2"), b=sees("leaf-0 swp1"), c=sees("leaf-0 swp3")).swapped

    assert value.number == 1
    assert value.detail == (
        "a:rail0 and b:rail0 are swapped: planned at leaf-0 swp1 and leaf-0 swp2 (cables.csv:2, "
        "cables.csv:3)",
    )


def test_three_in_a_circle_are_one_rotation() -> None:
    value = wiring(a=sees("leaf-0 swp2"), b=sees("leaf-0 swp3"), c=sees("leaf-0 swp1")).swapped

    assert value.number == 1
    assert value.detail[0].startswith("3 cables are rotated: a:rail0 in the place of b:rail0")


@pytest.mark.parametrize(
    "seen", [{"a": sees("leaf-0 swp2"), "b": sees("leaf-0 swp9")}, {"a": sees("leaf-0 swp1")}]
)
def test_a_cable_in_the_place_of_one_that_moved_is_no_swap(
    seen: dict[str, dict[str, Fact]],
) -> None:
    assert wiring(**seen).swapped.number == 0


def test_a_swap_is_told_although_others_say_nothing() -> None:
    result = wiring(a=sees("leaf-0 swp2"), b=sees("leaf-0 swp1"), d=UNREAD)

    assert replace(result, unheard=LOST).swapped.number == 1


def test_no_swap_is_told_only_when_all_have_said_where_they_are() -> None:
    with pytest.raises(MeasurementError, match="c: unreachable"):
        _ = replace(wiring(a=sees("leaf-0 swp1")), unheard=LOST).swapped
    with pytest.raises(MissingValueError, match="install lldpd"):
        _ = wiring(a=sees("leaf-0 swp1"), b=UNREAD).swapped
    with pytest.raises(MissingValueError, match="no port says"):
        _ = wiring().swapped


def test_circles_leave_out_what_leads_into_them() -> None:
    a, b, c, d, e = PORTS.values()

    assert circles({c: a, a: b, b: a, d: e}) == [[a, b]]
    assert circles({}) == []


def test_nobody_who_may_be_asked_is_no_absence_of_swaps() -> None:
    facts = {"a:rail0": sees("leaf-0 swp1")}
    result = WiringResult(facts, PLAN, Ledger(), exempt=lambda target, metric: "not here")

    with pytest.raises(MissingValueError, match="no port says"):
        _ = result.swapped
