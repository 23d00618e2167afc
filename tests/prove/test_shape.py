"""The lab of a wave: a cluster file that is read, and has what the tests of the wave need."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fabric.config import Cluster, load
from pytest_fabric.prove.catalogue import Fault
from pytest_fabric.prove.plan import GROUPS, Check, waves
from pytest_fabric.prove.shape import Model, cable_plan, cluster_file

LAYERS = ("Ethernet", "InfiniBand")

MODEL = Model(
    layer="Ethernet",
    profile="cx7",
    profiles={"cx7": {"extends": "builtin/cx7-400g-roce"}},
    rest={"fabric": {"oversubscription": 2.0}, "confirm": 2},
    seed=7,
    adapter=None,
    line_bps=400e9,
)


def made(
    folder: Path, group: str, place: str = "port", layers: tuple[str, ...] = LAYERS
) -> Cluster:
    """Return the cluster of a wave with a single fault."""
    fault = Fault("dirt", (place,), "what it does", "why", layers, "leaf")
    wave = next(waves([fault], [Check("t.py::test_dirt", ("dirt",), group, 3)], "Ethernet"))
    (folder / "cables.csv").write_text(cable_plan(wave))
    (folder / "cluster.yaml").write_text(cluster_file(wave, MODEL))
    return load(folder / "cluster.yaml")


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("place", ["port", "node", "leaf"])
def test_every_wave_has_a_cluster_of_its_own_with_what_is_the_users(
    tmp_path: Path, group: str, place: str
) -> None:
    cluster = made(tmp_path, group, place)

    assert set(cluster.cables) == set(cluster.ports())
    assert {cable.switch for cable in cluster.cables.values()} == set(cluster.switches)
    assert {cluster.rail(port).leaf for port in cluster.ports()} == set(cluster.switches)
    assert (cluster.fabric.oversubscription, cluster.confirm, cluster.lab.seed) == (2.0, 2, 7)
    assert cluster.fabric.dedicated
    assert (cluster.collectives is not None) == (group == "collective")


def test_switches_of_infiniband_are_not_asked(tmp_path: Path) -> None:
    cluster = made(tmp_path, "facts", layers=LAYERS[1:])

    assert cluster.rail(cluster.ports()[0]).profile.link.layer == "InfiniBand"
    assert not cluster.switches


@pytest.mark.parametrize(("place", "routing"), [("uplink", "adaptive"), ("leaf", "ecmp")])
def test_the_routing_is_the_users_unless_a_fault_shows_by_another_only(
    tmp_path: Path, place: str, routing: str
) -> None:
    assert made(tmp_path, "bisection", place).fabric.routing == routing


def test_ports_of_a_wave_of_bonds_have_two_network_devices_and_no_cables(tmp_path: Path) -> None:
    fault = Fault("member", ("port",), "what it does", "why", LAYERS[:1], "place", of_bonds=True)
    wave = next(waves([fault], [Check("t.py::test_speed", ("member",), "facts")], "Ethernet"))
    (tmp_path / "cluster.yaml").write_text(cluster_file(wave, MODEL))
    cluster = load(tmp_path / "cluster.yaml")

    assert {len(cluster.rail(port).netdevs) for port in cluster.ports()} == {2}
    assert (cluster.cables, cluster.switches) == ({}, {})


def test_a_collective_has_a_limit_that_fits_its_rails(tmp_path: Path) -> None:
    """Whatever the user's own fabric must reach: that has another number of rails."""
    cluster = made(tmp_path, "collective")
    limits = cluster.rail(cluster.ports()[0]).profile.limits

    assert "80 GB/s" in str(limits["collective.busbw"])
