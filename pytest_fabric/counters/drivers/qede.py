"""Marvell FastLinQ: qede and qedr.

Names: drivers/net/ethernet/qlogic/qede/qede_ethtool.c. 64 bits. qedr has no counters of its own,
and those of traffic do not hold RDMA. PFC is counted as a whole. `link_change_count` counts each
way: a flap is two.
"""

from __future__ import annotations

from pytest_fabric.counters.entry import Driver, entry

COUNTERS = (
    entry("rx_crc_errors", "crc_errors", "rx"),
    entry("rx_align_errors|rx_jabbers|rx_fragments", "receive_errors", "rx"),
    entry("brb_truncates|brb_discards", "discards", "rx"),
    entry("tx_err_drop_pkts", "discards", "tx"),
    entry("no_buff_discards", "host_drops", "rx", "information"),
    entry("link_change_count", "link_downed", None, "never", "events"),
    entry("rx_pause_frames", "pause", "rx"),
    entry("tx_pause_frames", "pause", "tx"),
    entry("rx_pfc_frames", "pause", "rx", "forced"),
    entry("tx_pfc_frames", "pause", "tx", "forced"),
)

DRIVER = Driver(("qede", "qedr"), COUNTERS, verified=False)
