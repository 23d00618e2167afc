"""What ports and counters do that are odd in their own way, as somebody at the node sees it."""

from __future__ import annotations

import re

import pytest

from pytest_fabric.lab import physics
from pytest_fabric.lab.drivers.files import PACKETS_PER_FALL

from .clusters import INFINIBAND, ROCE, fabric, port, run
from .controller import Controller
from .perftest_pairs import Pair, row

BASE = "/sys/class/infiniband/mlx5_0/ports/1"
BW = "ib_write_bw -d mlx5_0 -D 5 -s 1048576 -q 4 -x 3"


def read(path: str, text: str = ROCE, node: str = "gpu001", *fault: str) -> str:
    return run(f"cat {path}", text, node, *fault).stdout.strip()


def rate(*fault: str, client: str = "gpu001", server: str = "gpu002") -> float:
    """Return what a client sends, as a part of the line of 400 Gb/s."""
    end, _ = Pair(fabric(ROCE, *fault), client, server).run(BW)
    return row(end)[3] * 8 * 2**20 / 400e9


def test_a_link_that_is_looked_for_says_so() -> None:
    fault = "link_polling@gpu001:rail0"

    assert read(f"{BASE}/phys_state", ROCE, "gpu001", fault) == "2: Polling"
    assert read(f"{BASE}/state", ROCE, "gpu001", fault) == "1: DOWN"
    assert "PORT_DOWN" in run("ibv_devinfo", ROCE, "gpu001", fault).stdout


def test_a_narrow_bridge_above_leaves_the_slot_whole_and_takes_half() -> None:
    fault = "narrow_slot_above@gpu001:rail0"
    width = "/sys/class/infiniband/mlx5_0/device{}/current_link_width"

    assert [read(width.format(up), ROCE, "gpu001", fault) for up in ("", "/..", "/../..")] == [
        *("16", "16", "8")
    ]
    faulty = port(ROCE, "gpu001:rail0", fault)
    assert physics.pcie_bps(faulty) == physics.pcie_bps(port()) / 2


@pytest.mark.parametrize(
    ("fault", "sent", "received"),
    [
        ("half_bandwidth@gpu001:rail0", 0.49, 0.49),
        ("slow_sender@gpu001:rail0", 0.585, 0.97),
        ("slow_node@gpu001", 0.78, 0.78),
    ],
)
def test_a_slow_port_is_slow_in_its_directions(fault: str, sent: float, received: float) -> None:
    assert rate(fault) == pytest.approx(sent, abs=0.015)
    assert rate(fault, client="gpu002", server="gpu001") == pytest.approx(received, abs=0.015)


def test_what_leaves_through_another_port_is_counted_there() -> None:
    pair = Pair(fabric(ROCE, "other_port@gpu001:rail0"))
    pair.run(BW)
    with pair.client.fabric.lock:
        first, second = (
            pair.client.fabric.traffic.tally(one)
            for one in pair.client.fabric.nodes["gpu001"].ports
        )
    assert (sum(first.sent_bytes), sum(first.received_bytes)) == (0, 0)
    assert sum(second.sent_bytes) > 100e9


def test_counters_are_read_as_they_are_broken() -> None:
    path = f"{BASE}/hw_counters/out_of_sequence"
    told = run(f"cat {path}", ROCE, "gpu001", "counter_unreadable@gpu001:rail0")
    assert (told.status, told.stderr) == (1, f"cat: {path}: Invalid argument\n")
    base = "/sys/class/infiniband/mlx5_3/ports/1/counters"
    assert read(f"{base}/symbol_error", INFINIBAND, "ib1", "counter_saturated@ib1:rail0") == "65535"
    path = f"{BASE}/counters/port_xmit_data"
    wrapped = int(read(path, ROCE, "gpu001", "counter_wraps@gpu001:rail0"))
    whole = int(read(path))
    assert whole > 2**32
    assert wrapped == whole % 2**32


def test_a_counter_falls_while_traffic_runs() -> None:
    pair = Pair(fabric(ROCE, "counter_reset@gpu001:rail0"))
    path = f"{BASE}/hw_counters/packet_seq_err"
    before = int(pair.client.run(f"cat {path}").stdout)
    pair.run(BW)
    assert before - int(pair.client.run(f"cat {path}").stdout) > 1e6 / PACKETS_PER_FALL


@pytest.mark.parametrize(
    ("fault", "pattern"),
    [
        ("tool_locale@gpu001:rail0", r"(?m)^ 4 +1000 +\d,\d\d"),
        ("tool_truncated@gpu001:rail0", r"(?m)^ 4 +1000 +[\d. \t]+\Z"),
    ],
)
def test_a_tool_that_says_it_otherwise_ends_well(fault: str, pattern: str) -> None:
    end, _ = Pair(fabric(ROCE, fault)).run("ib_write_lat -d mlx5_0 -s 4 -n 1000 -x 3")

    assert end.status == "0"
    assert re.search(pattern, end.stdout)


def test_nothing_can_listen_where_all_ports_are_taken() -> None:
    world = fabric(ROCE, "port_taken@gpu001")

    pair = Pair(world, "gpu002", "gpu001")
    pair.server.start("ib_write_bw -d mlx5_0", port=18515)
    assert pair.server.next().why == "port"
    end = Controller(world, "gpu001").run("ib_write_bw -d mlx5_0 -p 20001")
    assert "Couldn't listen to port 20001" in end.stderr


def test_a_server_that_is_left_holds_a_context_and_its_usual_port() -> None:
    fault = "leftover_server@gpu001:rail0"
    world = fabric(ROCE, fault)

    told = run("rdma resource show ctx", ROCE, "gpu001", fault).stdout
    assert re.search(r"^dev mlx5_0 .*comm ib_write_bw", told)
    assert world.network.is_listening("gpu001", 18515)
    assert not world.network.is_listening("gpu001", 18516)
    assert not world.network.is_listening("gpu002", 18515)
    assert run("stat -c %U:%n /proc/3999", ROCE, "gpu001", fault).stdout == "bob:/proc/3999\n"
