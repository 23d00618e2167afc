"""HiSilicon: hns3 and hns_roce.

Names: drivers/net/ethernet/hisilicon/hns3/hns3pf/hclge_main.c (g_mac_stats_string) and
drivers/infiniband/hw/hns/hns_roce_main.c. 64 bits, read when asked. Left out on purpose:
`mac_{rx,tx}_pfc_pkt_num` (the sum of the counters per priority).
"""

from __future__ import annotations

from pytest_fabric.counters.entry import CACHED_S, Driver, entry, refreshed

RDMA = (
    entry("tx_pkt", "packets", "tx", "information"),
    entry("rx_pkt", "packets", "rx", "information"),
    entry("tx_err_pkt", "send_errors", "tx"),
    entry("rx_err_pkt", "receive_errors", "rx"),
    entry("tx_cnp_pkt", "cnp_sent", "tx", "forced"),
    entry("rx_cnp_pkt", "cnp_handled", "rx", "forced"),
)

PORT = (
    entry("mac_tx_total_oct_num", "bytes", "tx", "information", "B"),
    entry("mac_rx_total_oct_num", "bytes", "rx", "information", "B"),
    entry("mac_rx_fcs_err_pkt_num", "crc_errors", "rx"),
    entry("mac_rx_(?:fragment|jabber|undermin)_pkt_num", "receive_errors", "rx"),
    entry("mac_tx_err_all_pkt_num", "send_errors", "tx"),
    entry("mac_rx_mac_pause_num", "pause", "rx"),
    entry("mac_tx_mac_pause_num", "pause", "tx"),
    entry("mac_rx_pfc_pri<p>_pkt_num", "pause", "rx", "forced"),
    entry("mac_tx_pfc_pri<p>_pkt_num", "pause", "tx", "forced"),
)

DRIVER = Driver(
    names=("hns3", "hns_roce_hw_v2", "hns_roce"),
    counters=(*refreshed(CACHED_S, *RDMA), *PORT),
    verified=False,
)
