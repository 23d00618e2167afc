"""Every selected pair reaches each other: packets come back, soon, at full size, and RDMA too.

The quick measurements, before the long ones: where RDMA does not reach at all, those are not tried.
"""

from pytest_fabric import catches, measure, ping, rdma_reach


@catches("ping_loss", "ping_blocked", "ssh_down", "ssh_silent")
@catches("ssh_slow", "ssh_key_changed", "ssh_banner")
@measure(ping())
def test_ping(result, limits):
    assert result.loss in limits["ping.loss"]


@catches("slow_reply")
@measure(ping())
def test_ping_round_trip(result, limits):
    assert result.rtt_median in limits["ping.rtt_median"]


@catches("path_mtu")
@measure(ping(full_size=True))
def test_ping_full_size(result, limits):
    assert result.loss in limits["ping.full.loss"]


@catches("mtu_low", "mtu_low_at_both_ends")
@measure(ping(full_size=True))
def test_rdma_mtu_fits_the_path(result, limits):
    assert result.mtu in limits["link.mtu"]


@catches("rdma_blocked", "no_data_lane", "counter_late")
@catches("tool_missing", "tool_garbage", "tool_silent", "tool_hangs")
@catches("row_then_error", "slow_core", "tool_truncated", "tool_locale", "tool_old", "port_taken")
@measure(rdma_reach())
def test_rdma(result, limits):
    assert result.median in limits["ib_write_lat.median"]
