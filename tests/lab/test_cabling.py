"""Where the lab's cables end, and what its tools print of them, read by the real parsers."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fabric.config import load
from pytest_fabric.lab import build, subnet
from pytest_fabric.lab.process import Result
from pytest_fabric.tools import iblinkinfo, lldp, sminfo

from . import clusters
from .clusters import INFINIBAND, ROCE, port

TWO_LEAVES = INFINIBAND.replace(
    "rails:\n", "  ib3: {profile: ndr, rails: {rail0: {device: mlx5_3, leaf: leaf-1}}}\nrails:\n"
)


def run(line: str, text: str = INFINIBAND, node: str = "ib1", *fault: str) -> Result:
    return clusters.run(line, text, node, *fault)


def swept(*fault: str) -> list[iblinkinfo.FabricLink]:
    return iblinkinfo.parse(run("iblinkinfo --line", TWO_LEAVES, "ib1", *fault).stdout)


def test_without_a_plan_ports_are_cabled_in_order() -> None:
    """The order of the inventory, leaf by leaf."""
    assert [port(ROCE, f"gpu00{n}:rail1").switch_port for n in (1, 2, 3)] == [
        "swp1",
        "swp2",
        "swp3",
    ]
    assert port(ROCE, "gpu002:rail1").switch == "leaf-1"
    assert port(INFINIBAND, "ib2:rail0").switch_port == "2"


def test_with_a_plan_cables_are_where_it_says(tmp_path: Path) -> None:
    """A port that is not in it gets a switch port that nobody has."""
    (tmp_path / "cluster.yaml").write_text(f"{ROCE}cables: c.csv\n")
    (tmp_path / "c.csv").write_text("node,rail,switch,switch_port\ngpu002,rail0,leaf-0,swp1\n")
    nodes = {node.name: node for node in build.nodes(load(tmp_path / "cluster.yaml"))}

    assert nodes["gpu002"].ports[0].switch_port == "swp1"
    assert nodes["gpu001"].ports[0].switch_port == "swp2"


def test_lldpcli_names_the_switch_of_each_port() -> None:
    found = lldp.parse(run("lldpcli show neighbors -f json0", ROCE, "gpu002").stdout)

    assert [(one.interface, one.system_name, one.port_id) for one in found] == [
        ("eno1", "oob-1", "swp1"),
        ("enp26s0np0", "leaf-0", "swp2"),
        ("enp58s0np0", "leaf-1", "swp2"),
    ]


@pytest.mark.parametrize("fault", ["cable_missing_lldp", "port_down"])
def test_a_port_without_a_neighbour_is_not_listed(fault: str) -> None:
    text = run("lldpcli show neighbors -f json0", ROCE, "gpu002", f"{fault}@gpu002:rail0").stdout

    assert "enp26s0np0" not in {one.interface for one in lldp.parse(text)}


def test_a_sweep_shows_every_link_from_both_ends() -> None:
    links = swept()
    up = [link for link in links if link.state == "ACTIVE"]

    assert {(link.node_name, link.port, link.peer_name, link.peer_port) for link in up} == {
        ("ib1 mlx5_3", 1, "leaf-0", 1),
        ("leaf-0", 1, "ib1 mlx5_3", 1),
        ("ib2 mlx5_3", 1, "leaf-0", 2),
        ("leaf-0", 2, "ib2 mlx5_3", 1),
        ("ib3 mlx5_3", 1, "leaf-1", 1),
        ("leaf-1", 1, "ib3 mlx5_3", 1),
        ("leaf-0", 5, subnet.SPINE, 1),
        (subnet.SPINE, 1, "leaf-0", 5),
        ("leaf-1", 4, subnet.SPINE, 2),
        (subnet.SPINE, 2, "leaf-1", 4),
    }
    assert {(link.width, link.speed) for link in up} == {(4, "NDR")}
    assert {link.could_be_width for link in links} == {None}
    assert len({link.lid for link in links}) == 3 + 3
    assert {link.physical_state for link in links if link not in up} == {"Polling"}


@pytest.mark.parametrize(
    ("fault", "state", "width", "could_be"),
    [("slow_ib_link", "ACTIVE", 1, 4), ("ib_link_down", "INIT", 4, None)],
)
def test_a_bad_uplink_is_seen_at_both_its_ends(
    fault: str, state: str, width: int, could_be: int | None
) -> None:
    before, after = swept(), swept(f"{fault}@ib3:rail0")
    changed = [link for link in after if link not in before]

    assert {link.node_name for link in changed} == {"leaf-1", subnet.SPINE}
    assert {(x.state, x.width, x.could_be_width) for x in changed} == {(state, width, could_be)}


def test_a_scan_of_one_hop_shows_the_own_port_alone() -> None:
    (link,) = iblinkinfo.parse(run("iblinkinfo --line -C mlx5_3 -P 1 -D 0", node="ib2").stdout)

    assert (link.port, link.peer_name, link.peer_port) == (1, "leaf-0", 2)


def test_a_port_that_is_down_is_alone() -> None:
    down = ("ib2", "port_down@ib2:rail0")
    (link,) = iblinkinfo.parse(run("iblinkinfo --line -D 0", INFINIBAND, *down).stdout)

    assert (link.state, link.peer_name) == ("DOWN", None)
    assert run("iblinkinfo --line", INFINIBAND, *down).status == 1
    others = iblinkinfo.parse(run("iblinkinfo --line", INFINIBAND, "ib1", down[1]).stdout)
    assert "ib2 mlx5_3" not in {one.node_name for one in others}


def test_the_manager_is_on_the_first_leaf() -> None:
    manager = sminfo.parse(run("sminfo -C mlx5_3 -P 1").stdout)

    assert (manager.state, manager.lid) == ("master", subnet.MANAGER_LID)
    assert manager.guid == next(link.guid for link in swept() if link.node_name == "leaf-0")


@pytest.mark.parametrize(
    ("line", "text", "node", "fault", "status", "stderr"),
    [
        ("sminfo", INFINIBAND, "ib1", ("no_subnet_manager@ib2",), 255, "failed: query"),
        ("sminfo", ROCE, "gpu001", (), 1, "can't open UMAD port"),
        ("iblinkinfo --line", ROCE, "gpu001", (), 1, "can't open UMAD port"),
        ("sminfo -s 2", INFINIBAND, "ib1", (), 255, "the lab answers only"),
        ("iblinkinfo -K", INFINIBAND, "ib1", (), 255, "the lab answers only"),
        ("lldpcli configure", ROCE, "gpu001", (), 1, "the lab answers only"),
    ],
)
def test_what_is_not_answered(
    line: str, text: str, node: str, fault: tuple[str, ...], status: int, stderr: str
) -> None:
    result = run(line, text, node, *fault)

    assert (result.status, result.stdout) == (status, "")
    assert stderr in result.stderr


@pytest.mark.parametrize(
    ("fault", "keys"),
    [((), ["0xffff", "0x0000"]), (("wrong_partition@ib1:rail0",), ["0x7fff", "0x0000"])],
)
def test_partition_keys_are_files(fault: tuple[str, ...], keys: list[str]) -> None:
    table = "/sys/class/infiniband/mlx5_3/ports/1/pkeys"

    assert run(f"cat {table}/0 {table}/1", INFINIBAND, "ib1", *fault).stdout.split() == keys
