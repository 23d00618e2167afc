"""What a person types at a node of the lab: the usual forms are answered from the model."""

from __future__ import annotations

import re
import time

import pytest

from pytest_fabric.lab import script, shell
from pytest_fabric.lab.clock import UPTIME_S
from pytest_fabric.lab.commands import COMMANDS, start
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result
from pytest_fabric.tools import (
    ibdev2netdev,
    ibnetdiscover,
    ibstat,
    ibv_devices,
    perfquery,
)

from .clusters import INFINIBAND, ROCE, fabric
from .controller import Controller

NARROW = ROCE.replace("lab: {", 'lab: {path: {gpu001: "/usr/local/bin:/usr/bin:/bin"}, ')


def typed(line: str, text: str = ROCE, node: str = "gpu001", *fault: str) -> Result:
    """Return what a line comes to at a node, as a log-in runs it."""
    world = fabric(text, *fault)
    here = world.nodes[node]

    def run(words: list[shell.Word], stdin: str | None) -> Result:
        view = world.view(here)
        argv = shell.expand(words, view)
        call = Call(world, here, argv, view, stdin=stdin, path=here.path, known=COMMANDS)
        result = start(call).result
        assert result is not None
        return result

    return script.carry_out(line, run)


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("ls /sys/class/infiniband", "mlx5_0\nmlx5_1\n"),
        ("ls /sys/class/infiniband/ | wc -l", "2\n"),
        ("ls -d /sys/class/infiniband", "/sys/class/infiniband\n"),
        ("cat /sys/class/infiniband/*/ports/1/state | sort | uniq -c", "      2 4: ACTIVE\n"),
        ("cat /sys/class/infiniband/mlx5_0/ports/1/rate | grep -c Gb", "1\n"),
        ("uname -a | grep -o x", ""),
        ("hostname -s && whoami", "gpu001\nlab\n"),
        ("nosuch 2>/dev/null || echo no", "no\n"),
        ("cat /none && echo yes", ""),
        ("cat /none 2>&1 | grep -v yes", "cat: /none: No such file or directory\n"),
        ("echo a; echo 'b | c' | cat", "a\nb | c\n"),
        ("lspci | grep Mellanox | head -1 | wc -l", "1\n"),
        ("lspci -d 15b3: | wc -l", "2\n"),
        ("lspci -s 1a:00.0 | wc -l", "1\n"),
        ("ibstat -l", "mlx5_0\nmlx5_1\n"),
        ("ethtool enp26s0np0 | grep Speed", "\tSpeed: 400000Mb/s\n"),
        ("ip -br addr show enp26s0np0", "enp26s0np0       UP             10.1.0.1/16 \n"),
        (
            "ip route | head -n 1",
            "10.1.0.0/16 dev enp26s0np0 proto kernel scope link src 10.1.0.1 \n",
        ),
        ("which ethtool grep", "/usr/sbin/ethtool\n/usr/bin/grep\n"),
        ("dmesg | tail -n1 | wc -l", "1\n"),
        ("echo 3 > /dev/null", ""),
        ("", ""),
    ],
)
def test_usual_lines_are_answered(line: str, shown: str) -> None:
    if "grep -o" in line:  # an option that the lab has not got is told
        assert typed(line).status == 2
        return
    assert typed(line).stdout == shown


@pytest.mark.parametrize(
    "line",
    [
        "echo $HOME",
        "cat < /etc/hostname",
        "echo a > /tmp/x",
        "cat `which cat`",
        "(id)",
        "| id",
        "id |",
    ],
)
def test_what_the_shell_has_not_got_is_told_and_not_guessed(line: str) -> None:
    with pytest.raises(shell.ShellError):
        typed(line)


@pytest.mark.parametrize(
    "line",
    ["lspci -t", "ip neigh", "ibstat -x", "head --bytes=3 /etc/hostname", "wc -L", "dmesg -w"],
)
def test_other_forms_say_in_one_line_what_is_answered(line: str) -> None:
    told = typed(line)

    assert told.status != 0
    assert told.stderr.count("\n") == 1
    assert "the lab answers only: " in told.stderr


def test_addresses_and_links_are_those_of_the_model() -> None:
    shown = typed("ip addr").stdout

    assert re.search(r"(?m)^\d+: enp26s0np0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 ", shown)
    assert "    inet 10.1.0.1/16 scope global enp26s0np0\n" in shown
    down = typed("ip link show enp26s0np0", ROCE, "gpu001", "port_down@gpu001:rail0").stdout
    assert "NO-CARRIER" in down
    assert "state DOWN" in down


def test_tools_of_people_say_what_the_parsers_read() -> None:
    ports = ibstat.parse(typed("ibstat").stdout)
    assert [(one.device, one.state, one.link_layer) for one in ports] == [
        ("mlx5_0", "ACTIVE", "Ethernet"),
        ("mlx5_1", "ACTIVE", "Ethernet"),
    ]
    assert [one.device for one in ibv_devices.parse(typed("ibv_devices").stdout)] == [
        *("mlx5_0", "mlx5_1")
    ]
    found = ibdev2netdev.parse(typed("ibdev2netdev").stdout)
    assert [one.netdev for one in found] == ["enp26s0np0", "enp58s0np0"]


@pytest.mark.parametrize("form", ["ibnetdiscover", "ibnetdiscover -p"])
def test_a_sweep_finds_the_nodes_and_their_leaf(form: str) -> None:
    found = ibnetdiscover.parse(typed(form, INFINIBAND, "ib1").stdout)
    ends = {(one.node_name, one.peer_name) for one in found if one.peer_name}

    assert ("ib1 mlx5_3", "leaf-0") in ends
    assert ("leaf-0", "ib2 mlx5_3") in ends
    assert ("leaf-0", "spine-1") in ends


def test_counters_of_another_port_are_read_by_its_lid() -> None:
    lid = fabric(INFINIBAND).nodes["ib2"].ports[0].lid
    (far,) = perfquery.parse(typed(f"perfquery -x {lid} 1", INFINIBAND, "ib1").stdout)
    (near,) = perfquery.parse(typed("perfquery", INFINIBAND, "ib1").stdout)

    assert (far.lid, far.extended, near.extended) == (lid, True, False)
    assert typed("perfquery -R", INFINIBAND, "ib1").status == 255
    assert typed("perfquery 99 1", INFINIBAND, "ib1").status == 1
    assert typed("perfquery").status == 1


def test_a_log_in_may_lack_sbin_and_the_node_runner_finds_what_is_there() -> None:
    told = typed("ethtool enp26s0np0", NARROW)
    assert (told.status, told.stderr) == (127, "sh: 1: ethtool: not found\n")
    assert typed("/usr/sbin/ethtool -i enp26s0np0", NARROW).status == 0
    assert typed("ethtool -i enp26s0np0", NARROW, "gpu002").status == 0
    assert typed("which ethtool", NARROW).status == 1

    runner = Controller(fabric(NARROW), "gpu001")
    assert "driver: mlx5_core" in runner.run("ethtool -i enp26s0np0").stdout
    assert "/usr/sbin/ethtool" in runner.run("have ethtool lspci").stdout


def test_there_is_one_time_and_it_is_simulated() -> None:
    """`date` goes on by as much as `uptime`, from the moment at which the lab has begun."""
    world = fabric()  # a simulated second is a millisecond
    before = world.clock.wall(), world.clock.uptime()
    time.sleep(0.05)
    after = world.clock.wall(), world.clock.uptime()

    assert after[0] - before[0] == pytest.approx(after[1] - before[1], abs=5)
    assert after[0] - before[0] > 20
    assert abs(world.clock.wall() - world.clock.uptime() + UPTIME_S - time.time()) < 60
    assert re.fullmatch(r"\d\d:\d\d\n", typed("date +%H:%M").stdout)
    assert " up 1 day, " in typed("uptime").stdout


def test_help_names_what_there_is() -> None:
    assert {"ibstat", "ib_write_bw", "lspci"} <= set(typed("help").stdout.split())
