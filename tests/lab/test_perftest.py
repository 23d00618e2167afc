"""Simulated perftest: the shapes of real captures, and values of a healthy fabric."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .clusters import INFINIBAND, ROCE, fabric
from .controller import LEASE
from .perftest_pairs import Pair, row

DATA = Path(__file__).parent / "data"

#: Options that each capture was made with, by the first part of its name.
CAPTURES = {
    "ib_write_lat": "ib_write_lat -n 500",
    "ib_read_lat": "ib_read_lat -n 500",
    "ib_send_lat": "ib_send_lat -n 500",
    "ib_write_bw": "ib_write_bw -n 500",
    "ib_read_bw": "ib_read_bw -n 200",
    "ib_send_bw": "ib_send_bw -n 200",
    "ib_write_bw-q4": "ib_write_bw -n 200 -q 4",
    "ib_write_lat-D": "ib_write_lat -D 3",
    "ib_write_bw-D-gbits": "ib_write_bw -D 3 --report_gbits",
    "ib_write_bw-killed": "ib_write_bw -D 20",
    "ib_write_lat-gids": "ib_write_lat -n 500",
}


def skeleton(text: str) -> list[str]:
    """Return the lines without what depends on the machine: labels, separators, headings."""
    lines = []
    for line in text.splitlines():
        if line.strip() and re.fullmatch(r"[\s\d.]+", line):
            lines.append(re.sub(r"\d[\d.]* *", "N", line))
        elif re.match(r" (local|remote) address", line):
            lines.append(re.sub(r"(0x[0-9a-f]+|\b\d{4}\b)", "N", line))
        elif line.startswith(" GID:"):
            lines.append(re.sub(r"\d{2,3}", "N", line))
        elif ":" in line and "#" not in line:
            lines.append("\t\t".join(part.partition(":")[0] for part in line.split("\t\t")))
        else:
            lines.append(line)
    return lines


@pytest.mark.parametrize("capture", sorted(DATA.glob("*.txt")), ids=lambda path: path.stem)
def test_output_has_the_shape_of_a_real_capture(capture: Path) -> None:
    """Same lines, labels, headings and separators in the same order, in both versions."""
    case, version, side = capture.stem.rsplit("-", 2)
    everywhere = ROCE.replace('gpu002: "6.06"', f'"gpu[001-004]": "{version}"')
    fault = ("server_dies@gpu002:rail0",) if "killed" in case else ()
    gid = 1 if "gids" in case else 3
    command = CAPTURES[case]

    ends = Pair(fabric(everywhere, *fault)).run(f"{command} -x {gid}", f"{command} -x 3")

    got = ends[0] if side == "client" else ends[1]
    assert skeleton(got.stdout) == skeleton(capture.read_text())


@pytest.mark.parametrize(
    ("command", "low", "high"),
    [
        ("ib_write_lat -s 4 -n 20000", 1.8, 2.1),
        ("ib_send_lat -s 4 -n 20000", 1.85, 2.2),
        ("ib_read_lat -s 4 -n 20000", 2.6, 3.8),
        ("ib_write_lat -s 4096 -n 20000", 2.2, 2.6),
    ],
)
def test_a_healthy_latency_row(command: str, low: float, high: float) -> None:
    size, count, least, most, median, mean, _, p99, p999 = row(Pair(fabric()).run(command)[0])

    assert (size, count) == (int(command.split()[2]), 20000)
    assert low <= median <= high
    assert least <= median <= mean <= p99 <= p999 <= most < 10


@pytest.mark.parametrize("tool", ["ib_write_bw", "ib_read_bw", "ib_send_bw"])
def test_a_healthy_bandwidth_row(tool: str) -> None:
    """The unit is MiB/s; with a duration the middle half of it is counted, and no peak."""
    size, count, peak, average, rate = row(Pair(fabric()).run(f"{tool} -s 1M -q 4 -D 4")[0])

    assert (size, peak) == (2**20, 0)
    assert 0.98 * 400e9 * 0.98 < average * 2**20 * 8 < 0.98 * 400e9
    assert rate * 1e6 == pytest.approx(average, abs=1)
    assert count == pytest.approx(average * 2, abs=1)


def test_both_directions_at_once_are_summed() -> None:
    one, _ = Pair(fabric()).run("ib_write_bw -D 5 -q 4 -s 1048576 --report_gbits")

    both, _ = Pair(fabric()).run("ib_write_bw -D 5 -q 4 -s 1048576 --report_gbits -b")

    assert "RDMA_Write Bidirectional BW Test" in both.stdout
    assert row(both)[3] == pytest.approx(2 * row(one)[3], rel=0.02)
    assert row(both)[1] == pytest.approx(row(one)[1], rel=0.02)


def test_a_run_with_iterations_counts_those_of_all_queue_pairs_and_has_a_peak() -> None:
    _, count, peak, average, _ = row(Pair(fabric()).run("ib_write_bw -s 65536 -n 1000 -q 4")[0])

    assert count == 4000
    assert average < peak < 1.01 * average


def test_the_server_prints_the_clients_bandwidth_and_no_read_latency() -> None:
    client, server = Pair(fabric()).run("ib_write_bw -D 2")
    assert row(client) == row(server)

    _, server = Pair(fabric()).run("ib_read_lat")
    assert "#bytes" not in server.stdout
    assert server.status == "0"


def test_values_follow_from_the_seed_the_pair_and_how_often_it_ran() -> None:
    def rows(seed: int) -> list[list[float]]:
        pair = Pair(fabric(seed=seed))
        return [row(pair.run("ib_write_lat -n 20000")[0]) for _ in range(2)]

    first, again, other = rows(1), rows(1), rows(2)

    assert first == again
    assert first[0] != first[1]
    assert first != other


@pytest.mark.parametrize("address", ["10.1.0.2", "10.2.0.2", "gpu002"])
def test_a_server_is_found_by_name_and_by_every_address_of_its_node(address: str) -> None:
    client, server = Pair(fabric()).run("ib_write_lat", address=address)

    assert (client.status, server.status) == ("0", "0")


def test_infiniband_runs_by_lids() -> None:
    client, server = Pair(fabric(INFINIBAND), "ib1", "ib2").run("ib_write_lat -d mlx5_3 -S 1")

    assert " Link type       : IB" in client.stdout
    assert " local address: LID 0x02 " in client.stdout
    assert "GID" not in client.stdout + server.stdout
    assert row(client)[4] < 2


def test_the_smaller_mtu_of_both_ends_is_used_without_a_word() -> None:
    client, _ = Pair(fabric(ROCE, "mtu_low@gpu002:rail0")).run("ib_write_bw -D 2")

    assert client.status == "0"
    assert " Mtu             : 1024[B]" in client.stdout


def test_without_a_class_traffic_is_best_effort() -> None:
    world = fabric()
    Pair(world).run("ib_write_bw -D 2")

    sent = world.traffic.tally(world.nodes["gpu001"].ports[0]).sent_bytes
    assert [index for index, value in enumerate(sent) if value] == [0]


def test_what_is_counted_is_what_was_sent() -> None:
    """Over the whole duration, of which perftest reports the middle."""
    world = fabric()
    client, _ = Pair(world).run("ib_write_bw -s 1M -q 4 -D 4 --tclass=106")

    sent = world.traffic.tally(world.nodes["gpu001"].ports[0]).sent_bytes[3]
    payload = row(client)[3] * 2**20 * 4
    assert payload <= sent <= 1.02 * payload


def test_a_latency_run_sends_its_messages_both_ways() -> None:
    world = fabric()
    Pair(world).run("ib_write_lat -s 4 -n 20000 --tclass=106")

    for name in ("gpu001", "gpu002"):
        assert world.traffic.tally(world.nodes[name].ports[0]).sent_packets[3] == 40000  # and ACKs


def test_runs_of_other_rails_do_not_meet() -> None:
    """Two servers of one node on their own control ports, at the same time."""
    world = fabric()
    pairs = [Pair(world), Pair(world)]
    for rail, pair in enumerate(pairs):
        pair.serve(f"ib_write_bw -D 20 -d mlx5_{rail}", port=18515 + rail, lease=_lease(rail))
        pair.ready()
    for rail, pair in enumerate(pairs):
        pair.client.start(
            f"ib_write_bw -D 20 -d mlx5_{rail} -p {18515 + rail} 10.{rail + 1}.0.2",
            lease=_lease(rail),
        )

    for pair in pairs:
        assert row(pair.client.end())[3] > 0.97 * 400e9 * 0.98 / 8 / 2**20


def _lease(rail: int) -> str:
    return LEASE.replace("mlx5_0", f"mlx5_{rail}")
