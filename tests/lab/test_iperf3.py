"""iperf3 and ss of the lab print what the real ones print: our parsers read what the model says."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from pytest_fabric.errors import ToolError
from pytest_fabric.lab.commands import have
from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.tools import iperf3, ss

from . import clusters
from .clusters import ROCE
from .controller import Controller, Frame

SERVER = "iperf3 -J -s -1 -B 10.1.0.2 -p 18600"
CLIENT = "iperf3 -J -c 10.1.0.2 -B 10.1.0.1 -p 18600 -t {seconds} -P {streams}"


def versioned(version: str, *faults: str) -> Fabric:
    """Return the lab with another iperf3 on all nodes."""
    world = clusters.fabric(ROCE, *faults)
    world.nodes = {name: replace(node, iperf3=version) for name, node in world.nodes.items()}
    return world


def both(world: Fabric, streams: int = 4, seconds: int = 5) -> tuple[Frame, Frame]:
    """Run a server and a client to their end."""
    client, server = Controller(world, "gpu001"), Controller(world, "gpu002")
    server.start(SERVER, port=18600, deadline=60)
    while server.next().kind != "ready":
        pass
    sent = client.run(CLIENT.format(seconds=seconds, streams=streams), deadline=60)
    return sent, server.end()


def told(world: Fabric, streams: int = 4) -> iperf3.Run:
    return iperf3.parse(both(world, streams)[0].stdout)


def test_they_can_be_found() -> None:
    assert (have.PATHS["iperf3"], have.PATHS["ss"]) == ("/usr/bin/iperf3", "/usr/bin/ss")


@pytest.mark.parametrize("version", ["3.9", "3.12", "3.16", "3.18"])
def test_every_release_is_read(version: str) -> None:
    """Both ends; one thread for all streams before 3.16, one for each from there on."""
    sent, served = both(versioned(version))
    client, server = iperf3.parse(sent.stdout), iperf3.parse(served.stdout)

    assert (sent.status, served.status) == ("0", "0")
    assert (client.version, client.role, server.role) == (version, "client", "server")
    assert (client.parallel, len(client.streams), client.seconds) == (4, 4, 5)
    assert (client.retransmits, client.mss_bytes, client.sender_congestion) == (0, 8948, "cubic")
    assert client.received_mbps is not None
    assert client.cpu_host_percent is not None
    threads = 4 if version in ("3.16", "3.18") else 1
    assert 0.85 * 45_000 * threads < client.received_mbps <= 45_000 * threads
    assert 85 * threads < client.cpu_host_percent <= 100 * threads


def test_a_slow_core_is_busy_and_moves_less() -> None:
    slow = told(versioned("3.12", "tcp_slow_core@gpu001:rail0"))

    assert slow.received_mbps is not None
    assert slow.received_mbps < 9_100
    assert slow.cpu_host_percent is not None
    assert slow.cpu_remote_percent is not None
    assert slow.cpu_host_percent > 95 > slow.cpu_remote_percent


def test_losses_are_sent_again_and_a_bad_path_is_unfair() -> None:
    lossy = told(clusters.fabric(ROCE, "ping_loss@gpu002:rail0"))
    unfair = told(clusters.fabric(ROCE, "tcp_bad_path@gpu002:rail0"))

    assert lossy.retransmits is not None
    assert lossy.retransmits > 1000
    rates = [stream.received_mbps or 0.0 for stream in unfair.streams]
    assert min(rates) < 0.2 * max(rates)


@pytest.mark.parametrize(("version", "status"), [("3.12", "0"), ("3.18", "1")])
def test_a_client_without_a_server_says_so_in_its_json(version: str, status: str) -> None:
    frame = Controller(versioned(version), "gpu001").run(CLIENT.format(seconds=5, streams=1))

    assert frame.status == status
    with pytest.raises(ToolError, match="Connection refused"):
        iperf3.parse(frame.stdout)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (SERVER, "Address already in use"),
        (SERVER.replace("10.1.0.2", "10.9.9.9"), "Cannot assign requested address"),
    ],
)
def test_a_server_that_cannot_listen_says_so(command: str, message: str) -> None:
    world = clusters.fabric()
    first, second = Controller(world, "gpu002"), Controller(world, "gpu002")
    first.start(SERVER, port=18600, deadline=60)
    while first.next().kind != "ready":
        pass
    frame = second.run(command)

    with pytest.raises(ToolError, match=message):
        iperf3.parse(frame.stdout)


def test_a_peer_that_is_killed_is_told() -> None:
    world = clusters.fabric()
    client, server = Controller(world, "gpu001"), Controller(world, "gpu002")
    job = server.start(SERVER, port=18600, deadline=60)
    while server.next().kind != "ready":
        pass
    client.start(CLIENT.format(seconds=3000, streams=1), deadline=60)
    while not world.sockets.get("gpu001"):
        time.sleep(0.01)
    server.send(f"cancel {job}")

    with pytest.raises(ToolError, match="control socket has closed"):
        iperf3.parse(client.end().stdout)
    assert world.sockets["gpu001"] == []


def test_ss_sees_the_streams_while_they_run_and_which_window_holds_them_up() -> None:
    """And the netdevs count what passed."""
    world = clusters.fabric(ROCE, "sysctl@gpu002")
    client, server = Controller(world, "gpu001"), Controller(world, "gpu002")
    asking = Controller(world, "gpu001")
    server.start(SERVER, port=18600, deadline=60)
    while server.next().kind != "ready":
        pass
    client.start(CLIENT.format(seconds=1000, streams=2), deadline=60)
    while not world.sockets.get("gpu001"):
        time.sleep(0.01)
    time.sleep(0.2)
    seen = ss.parse(asking.run("ss -tinH dst 10.1.0.2:18600").stdout)
    none = asking.run("ss -tinH dst 10.1.0.2:18601")

    assert [(one.peer, one.congestion) for one in seen] == [("10.1.0.2:18600", "cubic")] * 2
    assert all((one.rwnd_limited_percent or 0) > 90 for one in seen)
    assert all((one.bytes_sent or 0) > 10**6 for one in seen)
    assert none.stdout == ""
    assert client.end().status == "0"
    moved = int(asking.run("cat /sys/class/net/enp26s0np0/statistics/tx_bytes").stdout)
    assert moved > 10**9
