"""The harness itself: what other tests of this folder take for granted."""

from __future__ import annotations

import os
import socket
from dataclasses import replace

import pytest

from .machines import (
    DEVICE,
    NETDEV,
    GuestError,
    Machine,
    background,
    frozen,
    restored,
    ssh,
    wait_for_listener,
)
from .wire import capture_traffic_class, traffic_classes

Machines = tuple[Machine, Machine]
PORT = 18515
STATE = f"/sys/class/infiniband/{DEVICE}/ports/1/state"


def run_pair(client: Machine, server: Machine, command: str) -> tuple[str, str]:
    """Run a perftest command on both machines; return what the client and the server print."""
    with background(server, command) as listener:
        wait_for_listener(server, PORT)
        output = ssh(client, f"{command} {server.address}").stdout
        assert listener.wait() == 0
        return output, listener.output()


def test_perftest_versions_differ(machines: Machines) -> None:
    printed = [ssh(machine, "ib_write_lat -V", check=False).stdout for machine in machines]
    assert printed == ["Version: 6.06\n", "Version: 6.24\n"]


def test_device_is_active_with_the_largest_rdma_mtu(machines: Machines) -> None:
    for machine in machines:
        assert ssh(machine, f"cat {STATE}").stdout == "4: ACTIVE\n"
        assert "active_mtu:\t\t4096" in ssh(machine, f"ibv_devinfo -d {DEVICE}").stdout


def test_latency_is_measured_in_both_directions(machines: Machines) -> None:
    for client, server in (machines, machines[::-1]):
        for output in run_pair(client, server, f"ib_write_lat -d {DEVICE} -s 4 -n 100"):
            row = output.splitlines()[-2].split()
            assert row[:2] == ["4", "100"], output


@pytest.mark.parametrize(("option", "expected"), [("", {0}), ("--tclass=106", {0x6A})])
def test_traffic_class_is_seen_on_the_wire(
    machines: Machines, option: str, expected: set[int]
) -> None:
    client, server = machines
    with capture_traffic_class(client) as sent, capture_traffic_class(server) as answered:
        run_pair(client, server, f"ib_write_lat -d {DEVICE} -s 4 -n 20 {option}")
    assert (sent, answered) == (expected, expected)


def test_traffic_class_of_ipv6_is_read() -> None:
    assert traffic_classes("IP6 (class 0x6a, flowlabel 0x1, hlim 64)\nIP6 (hlim 64)\n") == {0x6A, 0}


def test_user_without_rights_can_measure(machines: Machines) -> None:
    client, server = (replace(machine, user="ops") for machine in machines)
    run_pair(client, server, f"ib_write_lat -d {DEVICE} -s 4 -n 20")
    assert ssh(client, "sudo -n true", check=False).returncode == 1


def test_unknown_host_key_is_refused(machines: Machines) -> None:
    first, second = machines
    with pytest.raises(GuestError, match="Host key verification failed"):
        ssh(replace(first, known_hosts=first.known_hosts.with_name("none")), "true")
    assert first.host_key != second.host_key


def test_a_background_command_ends_with_its_block(machines: Machines) -> None:
    machine = machines[0]
    with background(machine, "sleep 1000") as sleeping:
        assert ssh(machine, f"cat /proc/{sleeping.pid}/comm").stdout == "sleep\n"
    assert ssh(machine, f"test -e /proc/{sleeping.pid}", check=False).returncode == 1


@pytest.mark.parametrize(
    ("harm", "proof"),
    [
        (
            f"ip link set {NETDEV} mtu 1500",
            f"ibv_devinfo -d {DEVICE} | grep -q 'active_mtu:.*1024'",
        ),
        (f"ip link set {NETDEV} down", f"grep -q DOWN {STATE}"),
        (
            f"ip address flush dev {NETDEV}",
            f"! ip address show dev {NETDEV} | grep -q 192.168.77",
        ),
        (f"rdma link delete {DEVICE}", f"! test -e {STATE}"),
        (f"tc qdisc add dev {NETDEV} root netem loss 100%", "! ping -c 1 -W 1 fab2"),
        (
            "nft add table inet lab && "
            "nft add chain inet lab in '{ type filter hook input priority 0; }' && "
            f"nft add rule inet lab in iifname {NETDEV} drop",
            "! ping -c 1 -W 1 fab2",
        ),
    ],
    ids=["mtu", "link down", "no address", "no device", "loss", "firewall"],
)
def test_harm_is_undone(machines: Machines, harm: str, proof: str) -> None:
    machine = machines[0]
    with restored(machine):
        ssh(machine, harm)
        ssh(machine, proof)
    ssh(machine, f"! ({proof}) && ping -c 1 -W 5 fab2")
    assert ssh(machine, f"cat {STATE}").stdout == "4: ACTIVE\n"


def test_a_stopped_sshd_is_started_again(machines: Machines) -> None:
    machine = machines[0]
    with restored(machine):
        ssh(machine, "kill $(cat /run/sshd.pid)")
        with pytest.raises(GuestError, match="exited 255"):
            ssh(machine, "true")
    ssh(machine, "true")


def test_a_frozen_machine_accepts_and_says_nothing_then_goes_on(machines: Machines) -> None:
    machine = machines[0]
    with (
        frozen(machine),
        socket.create_connection(("127.0.0.1", machine.ssh_port), timeout=1) as connection,
        pytest.raises(TimeoutError),
    ):
        connection.recv(1)
    ssh(machine, "true")


def test_machines_are_ours_to_end(machines: Machines) -> None:
    for machine in machines:
        with open(f"/proc/{machine.pid}/stat") as stat:
            assert int(stat.read().rpartition(") ")[2].split()[1]) == os.getpid()
