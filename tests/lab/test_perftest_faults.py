"""Injected faults as perftest shows them: at their place, and nowhere else."""

from __future__ import annotations

import pytest

from .clusters import ROCE, fabric
from .controller import Controller
from .perftest_pairs import FAILED_EXCHANGE, Pair, row


@pytest.mark.parametrize("tool", ["ib_write_lat", "ib_write_bw"])
def test_a_server_that_dies_leaves_its_client_with_an_error(tool: str) -> None:
    pair = Pair(fabric(ROCE, "server_dies@gpu002:rail0"))
    client, server = pair.run(f"{tool} -D 4")

    assert (server.status, server.stdout, server.stderr) == ("137", "", "")
    assert (client.status, client.stderr) == ("1", FAILED_EXCHANGE)
    if tool == "ib_write_bw":
        assert row(client) == [65536, 0, 0, 0, 0]
    other = Pair(pair.client.fabric, "gpu002", "gpu001").run(f"{tool} -D 4")
    assert [end.status for end in other] == ["0", "0"]  # it is the servers that die


def test_a_row_can_be_followed_by_an_error() -> None:
    client, server = Pair(fabric(ROCE, "row_then_error@gpu001:rail0")).run("ib_write_lat")

    assert len(row(client)) == 9
    assert (client.status, client.stderr) == ("1", FAILED_EXCHANGE)
    assert (server.status, server.stderr) == ("0", "")


def test_garbage_and_silence_look_like_success() -> None:
    client, server = Pair(fabric(ROCE, "tool_garbage@gpu001:rail0")).run("ib_write_lat")
    assert (client.status, client.stdout[:4], server.status) == ("0", "%PDF", "0")
    assert "\ufffd" in client.stdout  # bytes that are no text

    client, _ = Pair(fabric(ROCE, "tool_silent@gpu001")).run("ib_write_lat")
    assert (client.status, client.stdout, client.stderr) == ("0", "", "")


def test_a_tool_that_hangs_is_ended_by_its_deadline_or_by_cancelling() -> None:
    hung = Controller(fabric(ROCE, "tool_hangs@gpu001"), "gpu001")
    end = hung.run("ib_write_lat -d mlx5_0", deadline=1)
    assert (end.why, end.status) == ("deadline", "124")

    job = hung.start("ib_write_lat -d mlx5_1", port=18515)
    hung.send(f"cancel {job}")
    end = hung.next()
    assert (end.kind, end.why, end.status) == ("end", "cancelled", "143")


def test_a_tail_is_seen_in_the_row() -> None:
    client, _ = Pair(fabric(ROCE, "latency_tail@gpu002:rail0")).run("ib_write_lat -n 20000")
    other, _ = Pair(fabric(ROCE, "latency_tail@gpu002:rail0"), "gpu003", "gpu004").run(
        "ib_write_lat -n 20000"
    )

    assert (row(client)[4] < 2.1, 13 < row(client)[7] < 24) == (True, True)
    assert row(other)[7] < 3


@pytest.mark.parametrize(
    ("fault", "client", "server"),
    [
        ("", {"tx": 3, "rx": 3}, {"tx": 3, "rx": 3}),
        ("default_class@gpu001:rail0", {"tx": 0, "rx": 3}, {"tx": 3, "rx": 0}),
        ("default_class@gpu002:rail0", {"tx": 3, "rx": 0}, {"tx": 0, "rx": 3}),
        ("default_class@gpu003:rail0", {"tx": 3, "rx": 3}, {"tx": 3, "rx": 3}),
    ],
)
def test_traffic_moves_in_the_class_of_its_sender(
    fault: str, client: dict[str, int], server: dict[str, int]
) -> None:
    world = fabric(ROCE, *([fault] if fault else []))
    Pair(world).run("ib_write_bw -D 2 --tclass=106")

    for name, expected in (("gpu001", client), ("gpu002", server)):
        tally = world.traffic.tally(world.nodes[name].ports[0])
        for way, values in (("tx", tally.sent_bytes), ("rx", tally.received_bytes)):
            assert [index for index, value in enumerate(values) if value] == [expected[way]]


def test_on_a_slow_core_every_message_is_late_and_small_ones_are_few() -> None:
    """A link is filled all the same by large ones."""
    slow = "slow_core@gpu002:rail0"
    late, usual = (Pair(fabric(ROCE, *fault)).run("ib_write_lat")[0] for fault in ((slow,), ()))
    assert row(late)[4] - row(usual)[4] == pytest.approx(6, abs=0.2)

    few, _ = Pair(fabric(ROCE, slow)).run("ib_write_bw -s 8 -q 4 -D 4")
    full, _ = Pair(fabric(ROCE, slow)).run("ib_write_bw -s 1048576 -q 4 -D 4")
    assert row(few)[4] == pytest.approx(1 / 6, abs=0.02)
    assert row(full)[3] > 40_000
