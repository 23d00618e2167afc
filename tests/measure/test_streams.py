"""What iperf3, ss and the netdevs say of streams: recognised whole, and held against each other."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.errors import MeasurementError, NotRecognisedError
from pytest_fabric.measure import streams
from pytest_fabric.measure.settings import Settings
from pytest_fabric.results import Pair, Port, Tcp, Traffic
from pytest_fabric.tools import iperf3
from tests.measure.test_run import ended

REAL = (Path(__file__).parents[1] / "data/iperf3/softroce-four-streams.txt").read_text()
ASKED = Settings("iperf3", 131072, None, 5, None, None, None, None, expected_s=5.0, streams=4)
PAIR = Pair(Port("a", "r0"), Port("b", "r0"))
ENDS = (PAIR.client, PAIR.server)
ROW = Tcp("3.12", 4, 5.0, 8e9, 8e9, 0, 8948, 1.0, None, None, None, None, None, None, None)

SOCKET = (
    "ESTAB 0 9 10.1.0.1:45000 10.1.0.2:18515\n\t cubic rto:201 rtt:0.06/0.01 mss:8948 cwnd:20 "
    "bytes_sent:{sent} busy:1000ms rwnd_limited:970ms({share}%)\n"
)


def changed(**keys: object) -> iperf3.Run:
    """Return the real run with other keys in what was asked for."""
    document = json.loads(REAL)
    document["start"]["test_start"].update(keys)
    return iperf3.parse(json.dumps(document))


def test_a_real_run_is_a_row() -> None:
    """The least, the mean and the greatest round trip of all streams; shares of the receiver."""
    row = streams.row(iperf3.parse(REAL), ASKED, "")

    assert (row.streams, row.retransmits, row.mss_bytes, row.version) == (4, 1872, 4148, "3.12")
    assert row.received_bps == pytest.approx(488_240_968.8)
    assert (row.rtt_min_s, row.rtt_max_s) == (0.002224, 0.010412)
    assert row.rtt_mean_s == pytest.approx((6427 + 4087 + 4694 + 4163) / 4e6)
    assert row.fairness == pytest.approx(0.8, abs=0.05)
    assert (row.cpu_sender, row.has_threads, row.congestion) == (0.2812, False, "cubic")
    assert row.resent == pytest.approx(1872 * 4148 / 310_316_668, rel=1e-3)
    assert (row.receiver_limited, row.buffer_limited, row.sockets) == (None, None, 0)


@pytest.mark.parametrize(
    "keys", [{"num_streams": 2}, {"protocol": "UDP"}, {"reverse": 1}, {"bidir": 1}]
)
def test_another_run_than_was_asked_for_is_not_recognised(keys: dict[str, Any]) -> None:
    with pytest.raises(NotRecognisedError):
        streams.row(changed(**keys), ASKED, "")


def test_a_run_that_was_ended_early_is_none() -> None:
    longer = Settings("iperf3", 131072, None, 30, None, None, None, None, streams=4)

    with pytest.raises(NotRecognisedError, match="expected 30 s, found 5"):
        streams.row(iperf3.parse(REAL), longer, "")


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=64))
def test_fairness_is_between_one_of_all_and_all_alike(shares: list[float]) -> None:
    found = streams.jain(shares)

    assert found == 0 if not any(share**2 for share in shares) else found <= 1 + 1e-9
    assert streams.jain([1.0] * len(shares)) == pytest.approx(1)
    assert streams.jain([1.0, *[0.0] * len(shares)]) == pytest.approx(1 / (1 + len(shares)))


def test_the_last_look_that_saw_streams_counts() -> None:
    """The control connection is none of them; a text of another kind explains nothing."""
    control = SOCKET.format(sent=4000, share="0.0")
    look = control + SOCKET.format(sent=10**9, share="96.0") * 2

    assert streams.limited("\f".join(["", look, ""])) == (0.96, 0.0, 2)
    assert streams.limited("\f".join([look, "Segmentation fault"])) == (0.96, 0.0, 2)
    assert streams.limited("") == (None, None, 0)
    assert streams.limited("Segmentation fault") == (None, None, 0)


@given(st.text(max_size=300))
def test_no_text_of_ss_loses_a_run(text: str) -> None:
    assert streams.limited(text)[2] >= 0


def files(*counts: int | str) -> str:
    names = ("ens1", "ens2")
    return "".join(
        f"/sys/class/net/{name}/statistics/tx_bytes:{count}\n"
        f"/sys/class/net/{name}/statistics/rx_bytes:1\n"
        for name, count in zip(names, counts, strict=False)
    )


def test_all_netdevs_of_a_bond_are_counted() -> None:
    sections = {"before-netdevs": ended(files(5, 7)), "after-netdevs": ended(files(10, 27))}

    assert streams.moved("a:r0", sections, "tx") == 25
    assert streams.moved("a:r0", sections, "rx") == 0


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("", ""),
        (files(5), files("x")),
        (files(5), files(1)),
        (files(5), files("9" * 5000)),
        (files(5), files("٣")),
    ],
)
def test_a_counter_that_is_missing_or_falls_is_an_error(first: str, last: str) -> None:
    sections = {"before-netdevs": ended(first), "after-netdevs": ended(last)}

    with pytest.raises(MeasurementError, match="netdevs"):
        streams.moved("a:r0", sections, "tx")


@pytest.mark.parametrize(
    ("sent", "received", "message"),
    [
        (5_040_000_000, 5_040_000_000, None),
        (1_000, 5_040_000_000, "a:r0 sent 1"),
        (5_040_000_000, 0, "b:r0 received 0 B by the counters of its netdevs"),
        (5_040_000_000, 60_000_000_000, "b:r0 received .* that are not ours: foreign traffic"),
    ],
)
def test_bytes_that_went_elsewhere_or_are_not_ours_are_doubts(
    sent: int, received: int, message: str | None
) -> None:
    traffic = Traffic(5_000_000_000, sent, received, None, None)
    found = streams.doubts(ROW, traffic, ENDS, 400e9, 6.0)

    assert len(found) == (message is not None)
    if message is not None:
        assert re.match(message, found[0])
