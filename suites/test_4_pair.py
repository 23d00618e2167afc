"""Latency and bandwidth of every selected pair, on the declared class, and what it cost."""

from pytest_fabric import (
    catches,
    ib_read_bw,
    ib_read_lat,
    ib_send_bw,
    ib_send_lat,
    ib_write_bw,
    ib_write_lat,
    measure,
)


@catches("slow_core", "latency_all")
@measure(ib_write_lat(size=4))
def test_small_write_median(result, limits):
    assert result.median in limits["ib_write_lat.median"]


@catches("latency_tail")
@measure(ib_write_lat(size=4))
def test_small_write_p99(result, limits):
    assert result.p99 in limits["ib_write_lat.p99"]


@catches("latency_tail")
@measure(ib_write_lat(size=4))
def test_small_write_p999(result, limits):
    assert result.p999 in limits["ib_write_lat.p999"]


@catches("slow_core", "latency_all")
@measure(ib_read_lat(size=4))
def test_small_read_median(result, limits):
    assert result.median in limits["ib_read_lat.median"]


@catches("latency_tail")
@measure(ib_read_lat(size=4))
def test_small_read_p99(result, limits):
    assert result.p99 in limits["ib_read_lat.p99"]


@catches("latency_tail")
@measure(ib_read_lat(size=4))
def test_small_read_p999(result, limits):
    assert result.p999 in limits["ib_read_lat.p999"]


@catches("slow_core", "latency_all")
@measure(ib_send_lat(size=4))
def test_small_send_median(result, limits):
    assert result.median in limits["ib_send_lat.median"]


@catches("latency_tail")
@measure(ib_send_lat(size=4))
def test_small_send_p99(result, limits):
    assert result.p99 in limits["ib_send_lat.p99"]


@catches("latency_tail")
@measure(ib_send_lat(size=4))
def test_small_send_p999(result, limits):
    assert result.p999 in limits["ib_send_lat.p999"]


@catches("slow_core")
@measure(ib_write_lat(size=4096))
def test_page_write_median(result, limits):
    assert result.median in limits["ib_write_lat.4096.median"]


@catches("latency_tail")
@measure(ib_write_lat(size=4096))
def test_page_write_p99(result, limits):
    assert result.p99 in limits["ib_write_lat.4096.p99"]


@catches("latency_tail")
@measure(ib_write_lat(size=4096))
def test_page_write_p999(result, limits):
    assert result.p999 in limits["ib_write_lat.4096.p999"]


@catches("slow_core")
@measure(ib_read_lat(size=4096))
def test_page_read_median(result, limits):
    assert result.median in limits["ib_read_lat.4096.median"]


@catches("latency_tail")
@measure(ib_read_lat(size=4096))
def test_page_read_p99(result, limits):
    assert result.p99 in limits["ib_read_lat.4096.p99"]


@catches("latency_tail")
@measure(ib_read_lat(size=4096))
def test_page_read_p999(result, limits):
    assert result.p999 in limits["ib_read_lat.4096.p999"]


@catches("slow_core")
@measure(ib_send_lat(size=4096))
def test_page_send_median(result, limits):
    assert result.median in limits["ib_send_lat.4096.median"]


@catches("latency_tail")
@measure(ib_send_lat(size=4096))
def test_page_send_p99(result, limits):
    assert result.p99 in limits["ib_send_lat.4096.p99"]


@catches("latency_tail")
@measure(ib_send_lat(size=4096))
def test_page_send_p999(result, limits):
    assert result.p999 in limits["ib_send_lat.4096.p999"]


@catches("mtu_low")
@measure(ib_write_bw())
def test_mtu_of_the_path(result, limits):
    assert result.mtu in limits["link.mtu"]


@catches("default_class", "class_lost_leaf")
@measure(ib_write_bw())
def test_traffic_class(result, limits):
    assert result.class_share in limits["class.share"]


@catches("pcie_width", "server_dies", "ssh_dropped")
@catches("foreign_traffic", "rdma_context", "gpu_job", "leftover_server", "slow_rail")
@catches("half_bandwidth", "slow_sender", "slow_node", "other_port")
@catches("counter_wraps")
@measure(ib_write_bw())
def test_write_bandwidth(result, limits):
    assert result.average in limits["ib_write_bw.average"]


@catches("pcie_width")
@measure(ib_read_bw())
def test_read_bandwidth(result, limits):
    assert result.average in limits["ib_read_bw.average"]


@catches("pcie_width")
@measure(ib_send_bw())
def test_send_bandwidth(result, limits):
    assert result.average in limits["ib_send_bw.average"]


@catches("pcie_width")
@measure(ib_write_bw(bidirectional=True))
def test_bidirectional_bandwidth(result, limits):
    assert result.bidirectional in limits["ib_write_bw.bidirectional"]


@catches("slow_core")
@measure(ib_write_bw(size=8))
def test_message_rate(result, limits):
    assert result.message_rate in limits["ib_write_bw.8.message_rate"]


@catches("pause_rx", "pause_storm", "counter_missing", "slow_receiver")
@measure(ib_write_bw())
def test_no_pause(result, limits):
    assert result.growth("pause") in limits["pause.growth"]


@catches("packet_loss")
@measure(ib_write_bw())
def test_no_discards(result, limits):
    assert result.growth("discards") in limits["discards.growth"]


@catches("damaged_in")
@measure(ib_write_bw())
def test_no_crc_errors(result, limits):
    assert result.growth("crc_errors") in limits["crc_errors.growth"]


@catches("damaged_in", "counter_saturated")
@measure(ib_write_bw())
def test_no_symbol_errors(result, limits):
    assert result.growth("symbol_errors") in limits["symbol_errors.growth"]


@catches("packet_loss", "counter_unreadable", "counter_reset")
@measure(ib_write_bw())
def test_in_sequence(result, limits):
    assert result.growth("out_of_sequence") in limits["out_of_sequence.growth"]


@catches("packet_loss", "damaged_out")
@measure(ib_write_bw())
def test_no_retransmissions(result, limits):
    assert result.growth("retransmissions") in limits["retransmissions.growth"]


@catches("link_flap")
@measure(ib_write_bw())
def test_no_link_down(result, limits):
    assert result.growth("link_downed") in limits["link_downed.growth"]
