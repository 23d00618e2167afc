"""Every way in which a simulated perftest run can go wrong without a fault being injected."""

from __future__ import annotations

import re

import pytest

from .clusters import ROCE, fabric
from .controller import Controller
from .perftest_pairs import FAILED_EXCHANGE, Pair, row, wait_until


@pytest.mark.parametrize(
    ("command", "stderr"),
    [
        (
            "ib_write_lat -d mlx5_9",
            "IB device mlx5_9 not found\n Unable to find the Infiniband/RoCE device\n",
        ),
        (
            "ib_write_lat -d mlx5_0 -i 2",
            " Port number 2 state is Nop\n Couldn't set the link layer\n"
            " Couldn't get context for the device\n",
        ),
        ("ib_write_lat -q 4", " Multiple QPs only available on bw tests\n"),
        ("ib_write_bw -q 4 -q 4", " Duplicated argument: -q\n"),
        ("ib_write_bw -x 65", " Gid index should be between 0 and 64\n"),
        ("ib_write_bw -n 4", " Iteration num should be between 5 and 4294967295\n"),
        ("ib_write_bw -W", "ib_write_bw: the lab does not know this: option -W not recognized\n"),
        (
            "ib_write_lat 10.1.0.2",
            "Couldn't connect to 10.1.0.2:18515\n"
            "Unable to open file descriptor for socket connection\n"
            " Unable to init the socket connection\n",
        ),
        (
            "ib_write_lat nosuch",
            "Name or service not known for nosuch:18515\n"
            "Unable to open file descriptor for socket connection\n"
            " Unable to init the socket connection\n",
        ),
    ],
)
def test_a_refusal(command: str, stderr: str) -> None:
    end = Controller(fabric(), "gpu001").run(command)

    assert (end.why, end.status) == ("exit", "1")
    assert end.stderr == stderr


def test_an_old_version_forgets_a_newline() -> None:
    end = Controller(fabric(), "gpu002").run("ib_write_lat 10.1.0.1")

    assert "socket connection Unable to init the socket connection\n" in end.stderr


def test_a_port_that_is_down_is_said_at_once() -> None:
    world = fabric(ROCE, "port_down@gpu001:rail0")

    end = Controller(world, "gpu001").run("ib_write_lat -d mlx5_0")
    assert end.stderr.startswith(" Port number 1 state is Down\n")
    assert Controller(world, "gpu002").run("ib_write_lat 10.1.0.1").status == "1"


def test_a_taken_port_is_told_after_the_banner() -> None:
    server = Controller(fabric(), "gpu001")
    server.start("ib_write_lat -p 20000", port=20000)
    assert server.next().kind == "ready"

    end = server.run("ib_write_lat -p 20000")

    assert end.stdout.startswith("\n***")
    assert end.stderr.startswith("Couldn't listen to port 20000\n")


@pytest.mark.parametrize(("text", "size"), [("4K", 4096), ("1M", 2**20), ("64k", 64), ("1G", 1)])
def test_only_upper_case_suffixes_of_a_size_count(text: str, size: int) -> None:
    assert row(Pair(fabric()).run(f"ib_write_bw -s {text} -n 100")[0])[0] == size


# What goes wrong between the two


def test_gids_of_different_kinds_stop_both_ends() -> None:
    client, server = Pair(fabric()).run("ib_write_lat -x 1", "ib_write_lat -x 3")

    assert [client.status, server.status] == ["1", "1"]
    for end in (client, server):
        assert "\n Found Incompatibility issue with GID types.\n" in end.stderr


def test_an_index_without_a_gid_stops_both_ends() -> None:
    client, server = Pair(fabric()).run("ib_write_lat -x 9")

    assert [client.status, server.status] == ["1", "1"]
    assert re.fullmatch(
        r"Failed to modify QP \d+ to RTR\n Unable to Connect the HCA's through the link\n",
        client.stderr,
    )


def test_versions_of_roce_that_do_not_meet_exceed_the_retries() -> None:
    client, server = Pair(fabric()).run("ib_write_bw -x 2", "ib_write_bw -x 3")

    assert " Failed status 12: wr_id 0 syndrom 0x81\n" in client.stderr
    assert (server.status, server.stderr) == ("1", FAILED_EXCHANGE)


@pytest.mark.parametrize(
    ("client", "server"),
    [
        ("ib_write_lat -s 4096", "ib_write_lat -s 4"),
        ("ib_read_lat", "ib_write_lat"),
    ],
)
def test_ends_that_disagree_hang_without_a_word(client: str, server: str) -> None:
    pair = Pair(fabric())
    pair.serve(server, deadline=2)
    pair.ready()

    late = pair.client.run(f"{client} 10.1.0.2", deadline=1)

    for end in (late, pair.server.end()):
        assert (end.why, end.status, end.stdout, end.stderr) == ("deadline", "124", "", "")


def test_a_server_that_is_killed_leaves_a_bandwidth_client_with_an_error() -> None:
    pair = Pair(fabric())
    pair.serve("ib_write_bw -D 10000")
    pair.ready()
    pair.client.start("ib_write_bw -D 10000 10.1.0.2")
    world = pair.client.fabric
    port = world.nodes["gpu001"].ports[0]
    wait_until(lambda: world.traffic.tally(port).sent_bytes[0], world)
    pair.server.send("cancel 1")

    end = pair.client.end()
    assert (end.status, end.stderr) == ("1", FAILED_EXCHANGE)
    assert pair.server.end().why == "cancelled"


def test_a_server_that_is_killed_leaves_a_latency_client_polling_for_ever() -> None:
    pair = Pair(fabric())
    pair.serve("ib_write_lat -D 10000")
    pair.ready()
    pair.client.start("ib_write_lat -D 10000 10.1.0.2", deadline=1)
    world = pair.client.fabric
    wait_until(lambda: not world.network.is_listening("gpu002", 18515), world)
    pair.server.send("cancel 1")

    end = pair.client.end()
    assert (end.why, end.stdout, end.stderr) == ("deadline", "", "")
