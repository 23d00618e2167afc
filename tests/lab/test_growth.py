"""The names of the driver, and which of them traffic moves."""

from __future__ import annotations

from pytest_fabric.lab import growth
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.traffic import Tally

from .clusters import INFINIBAND, ROCE, port


def moved() -> Tally:
    tally = Tally(write_requests=7, read_requests=5)
    tally.sent_bytes[3], tally.sent_packets[3] = 4000, 10
    tally.received_bytes[3], tally.received_packets[3] = 8000, 20
    return tally


def grown(one: Port, tally: Tally) -> dict[str, int]:
    """Return what grows, over all three places where counters are read."""
    places = (growth.pma, growth.queue, growth.ethernet)
    before = {name: value for place in places for name, value in place(one, Tally()).items()}
    after = {name: value for place in places for name, value in place(one, tally).items()}
    return {name: after[name] - before[name] for name in after if after[name] != before[name]}


def test_traffic_moves_bytes_and_packets_and_nothing_else() -> None:
    assert grown(port(), moved()) == {
        "port_xmit_data": 1000,  # words of four bytes
        "port_rcv_data": 2000,
        "port_xmit_packets": 10,
        "port_rcv_packets": 20,
        "unicast_xmit_packets": 10,
        "unicast_rcv_packets": 20,
        "rx_write_requests": 7,
        "rx_read_requests": 5,
        "tx_prio3_bytes": 4000,
        "tx_prio3_packets": 10,
        "rx_prio3_bytes": 8000,
        "rx_prio3_packets": 20,
        "tx_vport_rdma_unicast_bytes": 4000,
        "tx_vport_rdma_unicast_packets": 10,
        "rx_vport_rdma_unicast_bytes": 8000,
        "rx_vport_rdma_unicast_packets": 20,
        "tx_bytes_phy": 4040,
        "tx_packets_phy": 10,
        "rx_bytes_phy": 8080,
        "rx_packets_phy": 20,
    }


def test_pause_moves_the_pause_counters_of_its_priority() -> None:
    tally = Tally()
    tally.pauses[3], tally.paused_us[3] = 1000, 250.4

    assert grown(port(), tally) == {
        "rx_prio3_pause": 1000,
        "rx_prio3_pause_duration": 250,
        "rx_prio3_pause_transition": 500,
        "rx_pause_ctrl_phy": 1000,
    }


def test_pause_per_priority_is_shown_only_where_flow_control_is_on() -> None:
    lossless = growth.ethernet(port(), Tally())
    without = growth.ethernet(port(ROCE.replace("lossless: [3], ", "")), Tally())

    assert [name for name in lossless if name.endswith("_pause")] == [
        "rx_prio3_pause",
        "tx_prio3_pause",
    ]
    assert [name for name in without if name.endswith("_pause")] == [
        "rx_global_pause",
        "tx_global_pause",
    ]


def test_infiniband_counts_no_frames_of_ethernet_and_no_congestion_notices() -> None:
    ib = port(INFINIBAND, "ib1:rail0")

    assert not [name for name in growth.ethernet(ib, Tally()) if "pause" in name or "_phy" in name]
    assert not [name for name in growth.queue(ib, Tally()) if name[:3] in ("np_", "rp_")]
    assert "np_cnp_sent" in growth.queue(port(), Tally())


def test_queue_counters_wrap_at_32_bits() -> None:
    tally = Tally(write_requests=2**32 + 3)

    before, after = (growth.queue(port(), each)["rx_write_requests"] for each in (Tally(), tally))

    assert after - before == 3


def test_no_counter_of_a_healthy_port_is_saturated() -> None:
    """PMA counters stick at the largest value of 4, 8, 16 or 32 bits."""
    for one in (port(), port(INFINIBAND, "ib1:rail0")):
        values = set(growth.pma(one, moved()).values())

        assert not values & {15, 255, 65535, 2**32 - 1}


def test_some_counters_have_a_past_so_that_only_growth_means_anything() -> None:
    assert growth.ethernet(port(), Tally())["rx_prio3_pause"] > 0
    assert growth.ethernet(port(), Tally())["rx_discards_phy"] > 0
    assert growth.pma(port(), Tally())["port_xmit_data"] > 2**32


def test_the_counters_of_pause_can_be_missing_and_nothing_else() -> None:
    faulty = port(ROCE, "gpu001:rail0", "counter_missing@gpu001:rail0")

    lost = growth.ethernet(port(), Tally()).keys() - growth.ethernet(faulty, Tally()).keys()

    assert lost == {
        "rx_prio3_pause",
        "rx_prio3_pause_duration",
        "rx_prio3_pause_transition",
        "tx_prio3_pause",
        "tx_prio3_pause_duration",
    }
    ib = port(INFINIBAND, "ib1:rail0", "counter_missing@ib1:rail0")
    assert "symbol_error" not in growth.pma(ib, Tally())
