"""The waves of a proof: every fault has a place of its own, with healthy partners."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.prove.catalogue import Fault
from pytest_fabric.prove.plan import GROUPS, INCASTS, TOGETHER, Check, Wave, waves

LAYERS = ("Ethernet", "InfiniBand")


def fault(
    name: str,
    place: str = "port",
    spread: str = "place",
    layers: tuple[str, ...] = LAYERS,
) -> Fault:
    return Fault(name, (place,), "what it does", "why", layers, spread)


#: Groups that judge ports, or all pairs together, and not each pair.
PORTS_ALONE = ("facts", "across", "soak", *TOGETHER)


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Fault], list[Check]]:
    """Draw a catalogue and tests that declare some of it."""
    found = [
        fault(
            f"fault{number}",
            draw(st.sampled_from(["port", "node"])),
            draw(st.sampled_from(["place", "node", "next", "leaf", "fabric"])),
            draw(st.sampled_from([LAYERS, LAYERS[:1], LAYERS[1:]])),
        )
        for number in range(draw(st.integers(1, 12)))
    ]
    names = st.lists(st.sampled_from([one.name for one in found]), unique=True, max_size=5)
    checks = [
        Check(f"t.py::test_{number}", tuple(draw(names)), draw(st.sampled_from(GROUPS)))
        for number in range(draw(st.integers(0, 8)))
    ]
    return found, checks


def made(faults: list[Fault], checks: list[Check]) -> list[Wave]:
    return list(waves(faults, checks, "Ethernet"))


@given(problems())
def test_every_declared_fault_meets_every_test_that_declares_it(
    problem: tuple[list[Fault], list[Check]],
) -> None:
    faults, checks = problem
    met = {
        (injection.fault, check)
        for wave in made(faults, checks)
        for injection in wave.injections
        for check in wave.checks
    }

    assert {(name, check.id) for check in checks for name in check.faults} <= met


@given(problems())
def test_no_two_faults_of_a_wave_share_a_place(problem: tuple[list[Fault], list[Check]]) -> None:
    """Nor does the effect of one reach the place of another."""
    for wave in made(*problem):
        ports = list(chain.from_iterable(injection.ports for injection in wave.injections))
        assert len(ports) == len(set(ports))
        assert len({injection.place for injection in wave.injections}) == len(wave.injections)


@given(problems())
def test_a_fault_is_injected_where_it_can_be(problem: tuple[list[Fault], list[Check]]) -> None:
    by_name = {one.name: one for one in problem[0]}
    for wave in made(*problem):
        nodes = {node for node, _ in wave.nodes}
        for injection in wave.injections:
            found = by_name[injection.fault]
            assert wave.layer in found.layers
            assert (":" in injection.place) == (found.places == ("port",))
            assert injection.place.partition(":")[0] in nodes


#: Groups whose pairs are no rings.
OTHERS = ("facts", "across", *TOGETHER)


@given(problems())
def test_a_faulty_port_has_a_healthy_partner_in_both_directions(
    problem: tuple[list[Fault], list[Check]],
) -> None:
    """A ring of three in which one pair is sound tells which end of the others is at fault."""
    for wave in made(*problem):
        for injection in wave.injections if wave.group not in PORTS_ALONE else ():
            mine = [pair for pair in wave.pairs if not injection.ports.isdisjoint(pair)]
            for port in injection.ports:
                assert {pair.index(port) for pair in mine if port in pair} == {0, 1}
            if len(injection.ports) == 1:
                cell = {end for pair in mine for end in pair} - injection.ports
                assert any(set(pair) == cell for pair in wave.pairs)


@pytest.mark.parametrize(("group", "senders"), [("incast", 2), ("wide incast", 8)])
def test_a_faulty_port_is_a_receiver_and_a_sender_to_a_healthy_one(
    group: str, senders: int
) -> None:
    """The senders of a port are those behind it, each on a leaf of its own."""
    faults = [fault(f"fault{number}") for number in range(4)]
    names = tuple(one.name for one in faults)
    wave = made(faults, [Check("t.py::test_incast", names, group, senders + 1)])[0]
    nodes = [node for node, _ in wave.nodes]
    leaves = {wave.leaf(node, cell, "rail0") for node, cell in wave.nodes}
    places = [injection.place for injection in wave.injections]
    met = []
    for target in wave.targets:
        first = nodes.index(target.partition(":")[0]) + 1
        behind = [f"{node}:rail0" for node in [*nodes, *nodes][first : first + senders]]
        met.append([port for port in (target, *behind) if port in places])

    assert len(leaves) == len(nodes)
    assert wave.rails == ("rail0",)
    assert sorted(met) == sorted([[place] for place in (*places, *places)] + [[]])


@pytest.mark.parametrize(("place", "routing"), [("leaf", None), ("uplink", "adaptive")])
def test_a_bisection_meets_one_fault_of_a_side(place: str, routing: str | None) -> None:
    """It is on one of four sides, of which two talk to one another and not to it."""
    faults = [fault("full", place, "leaf"), fault("dirt")]
    one, other = made(faults, [Check("t.py::test_middle", ("full", "dirt"), "bisection")])
    sides = {one.leaf(node, cell, "rail0") for node, cell in one.nodes}

    assert (len(one.injections), len(other.injections)) == (1, 1)
    assert (one.routing, other.routing) == (routing, None)
    assert len(sides) == 4
    assert one.injections[0].place.partition("/")[0] in sides


def test_leaves_of_incasts_are_on_rails_of_their_own_and_one_is_sound() -> None:
    faults = [fault("full", "leaf", "leaf"), fault("odd", "leaf", "leaf"), fault("dirt")]
    check = Check("t.py::test_incast", ("full", "odd", "dirt"), "incast", 3)
    leaves, ports = made(faults, [check])

    assert [one.place for one in leaves.injections] == ["leaf-1-rail0", "leaf-1-rail1"]
    assert {leaves.leaf(node, cell, "rail1") for node, cell in leaves.nodes} == {"leaf-1-rail1"}
    assert leaves.rails == ("rail0", "rail1", "rail2")
    assert (len(leaves.nodes), leaves.targets) == (3, ())
    assert [one.fault for one in ports.injections] == ["dirt"]


def test_only_incasts_are_restricted_to_targets() -> None:
    for group in GROUPS:
        wave = made([fault("dirt")], [Check("t.py::test_dirt", ("dirt",), group, 3)])[0]
        assert bool(wave.targets) == (group in INCASTS)


def test_what_spreads_over_the_fabric_is_alone() -> None:
    faults = [fault("storm", spread="fabric"), fault("dirt")]
    checks = [
        Check("t.py::test_storm", ("storm",), "facts"),
        Check("t.py::test_dirt", ("dirt",), "facts"),
    ]
    together, alone = made(faults, checks)

    assert [one.fault for one in together.injections] == ["dirt"]
    assert together.checks == ("t.py::test_storm", "t.py::test_dirt")
    assert [one.fault for one in alone.injections] == ["storm"]
    assert alone.checks == ("t.py::test_storm",)


def test_a_fault_of_the_other_layer_has_a_wave_of_that_layer() -> None:
    faults = [fault("lid", layers=("InfiniBand",)), fault("dirt")]
    checks = [Check("t.py::test_lid", ("lid", "dirt"), "facts")]

    assert [wave.layer for wave in made(faults, checks)] == ["Ethernet", "InfiniBand"]


def test_faults_of_bonds_have_a_wave_whose_ports_are_bonds() -> None:
    faults = [replace(fault("member", layers=("Ethernet",)), of_bonds=True), fault("dirt")]
    checks = [Check("t.py::test_speed", ("member", "dirt"), "facts")]

    bonds, others = made(faults, checks)

    assert (bonds.bonds, [one.fault for one in bonds.injections]) == (True, ["member"])
    assert (others.bonds, [one.fault for one in others.injections]) == (False, ["dirt"])


def test_a_wave_has_healthy_nodes_beside_the_faulty_ones() -> None:
    """What is red there is a false alarm, also where no pair tells."""
    wave = made([fault("dirt")], [Check("t.py::test_dirt", ("dirt",), "facts")])[0]
    faulty = {one.place.partition(":")[0] for one in wave.injections}

    assert len({node for node, _ in wave.nodes} - faulty) == 2
