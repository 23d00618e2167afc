"""What the lab's switches print is what our parsers read, and what the model holds."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from pytest_fabric.config import Cluster, load
from pytest_fabric.lab import build, faults
from pytest_fabric.lab.commands import start
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.lab.process import Result
from pytest_fabric.tools import (
    sonic_config,
    sonic_counters,
    sonic_lldp,
    sonic_pfc,
    sonic_queues,
    sonic_status,
    sonic_version,
    sonic_watermark,
    sonic_wred,
)

ROOT = Path(__file__).parents[2]


@cache
def site() -> Cluster:
    return load(ROOT / "cluster.yaml")


def run(line: str, *fault: str, leaf: str = "leaf-0") -> Result:
    """Return what a command of one line comes to on a switch of the repository's lab."""
    nodes = faults.inject(build.nodes(site()), fault)
    fabric = Fabric((*nodes, *build.switches(site())), 1, 0.001)
    switch = fabric.nodes[leaf]
    result = start(Call(fabric, switch, tuple(line.split()), fabric.view(switch))).result
    assert result is not None
    return result


def test_switches_stay_where_faults_come_and_go() -> None:
    """Whoever logs in to one while a lab is broken by hand must find it."""
    healthy = build.nodes(site())
    fabric = Fabric((*healthy, *build.switches(site())), 1, 0.001)
    known = set(fabric.nodes)
    fabric.change(faults.inject(healthy, ["dirty_optic@gpu002:rail0"]))

    assert set(fabric.nodes) == known
    assert fabric.network.resolve("leaf-0") == "leaf-0"
    assert fabric.nodes["gpu002"] != healthy[1]


def text(line: str, *fault: str) -> str:
    result = run(line, *fault)
    assert (result.status, result.stderr) == (0, "")
    return result.stdout


STATUS = "show interfaces status"


def test_the_release_is_told() -> None:
    found = sonic_version.parse(text("show version"))

    assert found.version.startswith("SONiC.")
    assert found.serial == "LABLEAF-0"


def test_ports_are_those_of_the_plan() -> None:
    rows = sonic_status.parse(text(STATUS))

    assert [row.alias for row in rows] == ["swp1", "swp2", "swp3", "swp4"]
    assert [row.port for row in rows] == ["Ethernet0", "Ethernet8", "Ethernet16", "Ethernet24"]
    assert {(row.oper, row.speed_mbps, row.mtu_bytes, row.fec) for row in rows} == {
        ("up", 400_000, 9100, "rs")
    }


@pytest.mark.parametrize(
    ("fault", "port", "says"),
    [
        ("port_down@gpu001:rail0", "swp1", ("down", 400_000, 9100, "rs")),
        ("link_layer@gpu002:rail0", "swp2", ("down", 400_000, 9100, "rs")),
        ("link_speed@gpu001:rail0", "swp1", ("up", 200_000, 9100, "rs")),
        ("path_mtu@gpu001:rail0", "swp1", ("up", 400_000, 1500, "rs")),
        ("switch_fec@gpu001:rail0", "swp1", ("up", 400_000, 9100, "none")),
        ("cable_wrong_port@gpu001:rail0", "swp1", ("down", 400_000, 9100, "rs")),
        ("cable_wrong_port@gpu001:rail0", "swp101", ("up", 400_000, 9100, "rs")),
    ],
)
def test_a_port_follows_what_is_plugged_in(fault: str, port: str, says: tuple[object, ...]) -> None:
    row = next(row for row in sonic_status.parse(text(STATUS, fault)) if row.alias == port)

    assert (row.oper, row.speed_mbps, row.mtu_bytes, row.fec) == says


def test_neighbours_are_the_hosts_and_a_swap_shows() -> None:
    def heard(*fault: str) -> dict[str, str | None]:
        rows = sonic_lldp.parse(text("show lldp neighbors", *fault))
        assert {row.remote_port_description for row in rows} == {"enp26s0np0"}
        return {row.local_port: row.remote_device for row in rows}

    right = {"Ethernet0": "gpu001", "Ethernet8": "gpu002"}
    assert heard().items() >= right.items()
    swapped = heard("cable_swapped@gpu001:rail0")
    assert (swapped["Ethernet0"], swapped["Ethernet8"]) == ("gpu002", "gpu001")
    assert "Ethernet0" not in heard("port_down@gpu001:rail0")


def tables(name: str, *fault: str) -> dict[tuple[str, ...], dict[str, str]]:
    rows = sonic_config.parse(text(f"sonic-cfggen -d --var-json {name}", *fault))
    return {row.key: dict(row.fields) for row in rows}


def test_the_configuration_has_the_declared_class() -> None:
    off = "switch_pfc_off@gpu001:rail0", "switch_ecn_off@gpu001:rail0"

    assert tables("PORT_QOS_MAP")["Ethernet0",]["pfc_enable"] == "3"
    assert "pfc_enable" not in tables("PORT_QOS_MAP", *off)["Ethernet0",]
    assert tables("QUEUE")["Ethernet0", "3"]["wred_profile"] == "AZURE_LOSSLESS"
    assert "wred_profile" not in tables("QUEUE")["Ethernet0", "0"]
    assert "wred_profile" not in tables("QUEUE", *off)["Ethernet0", "3"]
    assert tables("WRED_PROFILE")["AZURE_LOSSLESS",]["ecn"] == "ecn_all"
    assert run("sonic-cfggen -d --var-json NOTHING").stdout == ""


def test_every_counter_is_there_for_every_port() -> None:
    """And what has not moved since the lab began has not grown, whatever it stood at."""
    ports = [row.port for row in sonic_status.parse(text(STATUS))]
    counted = sonic_counters.parse(text("portstat -j"))
    queues = sonic_queues.parse(text("queuestat -j"))
    marked = sonic_wred.parse(text("wredstat -j"))
    frames = sonic_pfc.parse(text("show pfc counters"))

    assert sorted(row.port for row in counted) == sorted(ports)
    assert all(row.values["rx_ok"] and row.values["rx_errors"] == 0 for row in counted)
    assert {(row.port, row.number) for row in queues if row.kind == "unicast"} == {
        (port, number) for port in ports for number in range(8)
    }
    assert {row.dropped_packets for row in queues} == {0}
    assert {(row.port, row.number) for row in marked if row.marked_packets} == {
        (port, 3) for port in ports
    }
    assert len(frames) == 2 * len(ports)
    assert [row.port for row in sonic_counters.parse(text(FEC))] == ports
    marks = sonic_watermark.parse(text("show queue watermark unicast"))
    assert [mark.port for mark in marks] == ports


FEC = "show interfaces counters fec-stats"


@pytest.mark.parametrize(
    "line", ["show clock", "portstat", "queuestat -c", "wredstat -c", "sonic-cfggen -w"]
)
def test_other_words_are_refused(line: str) -> None:
    assert run(line).status == 2


@pytest.mark.parametrize("line", ["ibv_devinfo", "lldpcli show neighbors -f json0", "sudo ls"])
def test_a_switch_is_no_node(line: str) -> None:
    assert run(line).status == 127


def test_nodes_know_no_commands_of_a_switch() -> None:
    assert run("portstat -j", leaf="gpu001").status == 127
