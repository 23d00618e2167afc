"""Placement: GIDs by type and address, cores near the NIC, handshakes where nodes meet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure import placement
from pytest_fabric.results import Gid, NodeFacts, RdmaPort
from tests.clusters import TEXT, cluster
from tests.judge.test_views import PORT

RAIL = cluster().nodes["gpu001"].rails["rail0"]

GIDS = (
    Gid(0, "fe80::1", "IB/RoCE v1", "ens1"),
    Gid(1, "fe80::1", "RoCE v2", "ens1"),
    Gid(2, "::ffff:10.1.0.1", "IB/RoCE v1", "ens1"),
    Gid(5, "::ffff:10.1.0.1", "RoCE v2", "ens1"),
    Gid(7, "::ffff:192.0.2.9", "RoCE v2", "ens1.100"),
)


def port(*gids: Gid) -> RdmaPort:
    return replace(PORT, gids=gids or GIDS)


def node(cpus: range, siblings: dict[int, tuple[int, ...]] | None = None) -> NodeFacts:
    return NodeFacts("a", "6.1", "6.24", {}, None, tuple(cpus), siblings or {}, {}, ())


def test_the_gid_is_chosen_by_type_and_network_never_by_index() -> None:
    """Index 3 is a habit of some hosts; here the right one is 5."""
    chosen = placement.choose_gid("a:rail0", RAIL, port())

    assert chosen is not None
    assert chosen.index == 5


def test_no_gid_in_the_network_is_an_error_that_shows_what_is_there() -> None:
    """An address that is missing on one end is found before anything runs."""
    with pytest.raises(MeasurementError, match=r"RoCE v2 GID in 10\.1\.0\.0/16.*fe80::1") as caught:
        placement.choose_gid("a:rail0", RAIL, port(*GIDS[:2]))

    assert caught.value.kind == "gid"


def test_several_gids_without_a_network_are_not_guessed_from() -> None:
    """Two routable addresses: the inventory must say which one is meant."""
    rail = cluster(TEXT.replace(", network: 10.1.0.0/16", "")).nodes["gpu001"].rails["rail0"]

    with pytest.raises(MeasurementError, match="declare the rail's network"):
        placement.choose_gid("a:rail0", rail, port())
    only = placement.choose_gid("a:rail0", rail, port(*GIDS[:4]))
    assert only is not None
    assert only.index == 5


def test_a_rail_of_ipv6_declares_its_network() -> None:
    """Its headers are larger: what the payload rate leaves them is told by the inventory."""
    six = (*GIDS[:2], Gid(3, "fd00:1::1", "RoCE v2", "ens1"))
    without = cluster(TEXT.replace(", network: 10.1.0.0/16", ""))
    told = cluster(TEXT.replace("10.1.0.0/16", '"fd00:1::/64"'))

    with pytest.raises(MeasurementError, match=r"network of a rail of IPv6 to be declared.*fd00"):
        placement.choose_gid("a:rail0", without.nodes["gpu001"].rails["rail0"], port(*six))
    found = placement.choose_gid("a:rail0", told.nodes["gpu001"].rails["rail0"], port(*six))
    assert found is not None
    assert found.index == 3


def test_infiniband_gets_no_gid() -> None:
    """-x would turn on global routing there."""
    infiniband = replace(port(), link_layer="InfiniBand")

    assert placement.choose_gid("a:rail0", RAIL, infiniband) is None


@pytest.mark.parametrize(
    ("oob", "management", "expected"),
    [
        ("mgmt", "a.mgmt", "a.mgmt"),
        ("rail", "a.mgmt", "10.1.0.1"),
        ("auto", "a.mgmt", "a.mgmt"),
        ("auto", "127.0.0.1", "10.1.0.1"),
        ("auto", "localhost", "10.1.0.1"),
        ("mgmt", "127.0.0.1", "127.0.0.1"),
    ],
)
def test_the_handshake_goes_where_both_nodes_are(oob: str, management: str, expected: str) -> None:
    """A loopback address is a port forward of ours, and no other node can reach it."""
    assert placement.control_address("a:rail0", oob, management, GIDS[3]) == expected


def test_cores_are_local_quiet_and_distinct() -> None:
    """Not core 0, not its sibling, not the cores of the NIC's interrupts; one per rail."""
    siblings: dict[int, tuple[int, ...]] = {c: (c % 8, c % 8 + 8) for c in range(16)}
    near = replace(PORT, local_cpus="0-7", irq_cpus=(1, 2))
    chosen = [placement.choose_core(node(range(16), siblings), near, turn) for turn in range(3)]

    assert chosen == [3, 4, 5]


def test_wishes_that_cannot_be_met_are_given_up_but_never_the_cpuset() -> None:
    """Inside a cpuset of a job only its cores exist; taskset refuses any other."""
    near = replace(PORT, local_cpus="0-7", irq_cpus=(8, 9))

    assert placement.choose_core(node(range(8, 10)), near, 0) in (8, 9)


def test_a_single_core_needs_no_pin() -> None:
    """There is nothing to choose."""
    assert placement.choose_core(node(range(1)), PORT, 0) is None


def test_a_rail_without_an_address_cannot_take_the_handshake() -> None:
    """InfiniBand ports have no address of their own: `oob: rail` must not be ignored."""
    assert placement.control_address("a:rail0", "auto", "a.mgmt", None) == "a.mgmt"
    with pytest.raises(MeasurementError, match="oob: mgmt"):
        placement.control_address("a:rail0", "rail", "a.mgmt", None)


def test_efa_is_measured_with_its_only_gid_and_has_no_address() -> None:
    """perftest sends nothing over SRD without `-x 0` (linux-rdma/perftest#113)."""
    only = Gid(0, "fe80:0000:0000:0000:0c1a:2bff:fe00:0001", "IB/RoCE v1", None)
    efa = replace(port(only), link_layer="Unknown", netdevs=())

    assert placement.choose_gid("a:rail0", RAIL, efa) == only
    assert placement.control_address("a:rail0", "auto", "127.0.0.1", only) == "127.0.0.1"
    with pytest.raises(MeasurementError, match="InfiniBand or EFA"):
        placement.control_address("a:rail0", "rail", "a.mgmt", only)
