"""AMD Pensando: ionic and ionic_rdma.

Names: drivers/net/ethernet/pensando/ionic/ionic_stats.c; those of RDMA come from the firmware at
run time, here as AMD's monitoring tools read them. 64 bits; all ones is a failed read. PFC is
counted as a whole, only its duration per priority.
"""

from __future__ import annotations

from pytest_fabric.counters.entry import CACHED_S, Driver, entry, refreshed, reordering

RDMA = (
    entry("tx_rdma_ucast_bytes", "bytes", "tx", "information", "B"),
    entry("rx_rdma_ucast_bytes", "bytes", "rx", "information", "B"),
    entry("tx_rdma_ucast_pkts", "packets", "tx", "information"),
    entry("rx_rdma_ucast_pkts", "packets", "rx", "information"),
    *reordering(
        entry("resp_rx_out(?:ou|o)f_seq", "out_of_sequence", "rx", "uncongested", "events"),
        entry("req_rx_pkt_seq_err", "out_of_sequence", "tx", "uncongested", "events"),
        entry("resp_rx_dup_request", "retransmissions", "rx", "uncongested", "events"),
        entry("req_rx_impl_nak_seq_err", "retransmissions", "tx", "uncongested", "events"),
        entry("tx_rdma_retx_pkts", "retransmissions", "tx", "uncongested"),
    ),
    entry("tx_rdma_ack_timeout", "retransmissions", "tx", "never", "events"),
    entry("req_tx_retry_excd_err", "retransmissions", "tx", "never", "events"),
    entry("req_rx_rnr_retry_err", "retransmissions", "tx", "never", "events"),
    entry("resp_rx_outof_buf", "receiver_not_ready", "rx", "uncongested", "events"),
    entry("rx_rdma_mtu_discard_pkts", "discards", "rx"),
    entry("re(?:q|sp)_rx_cqe_(?:err|flush)", "completion_errors", None, "information", "events"),
    entry("rx_rdma_ecn_pkts", "ecn_marked", "rx", "forced"),
    entry("tx_rdma_cnp_pkts", "cnp_sent", "tx", "forced"),
    entry("rx_rdma_cnp_pkts", "cnp_handled", "rx", "forced"),
)

PORT = (
    entry("frames_rx_bad_fcs|frames_rx_stomped_crc", "crc_errors", "rx"),
    entry("frames_rx_dropped", "discards", "rx"),
    entry("frames_rx_(?:bad_length|fragments|jabber)", "receive_errors", "rx"),
    entry("frames_tx_(?:bad|truncated)", "send_errors", "tx"),
    entry("hw_rx_(?:dropped|over_errors|missed_errors)", "host_drops", "rx", "information"),
    entry("hw_tx_dropped", "host_drops", "tx", "information"),
    entry("frames_rx_pause", "pause", "rx"),
    entry("frames_tx_pause", "pause", "tx"),
    entry("frames_rx_pripause", "pause", "rx", "forced"),
    entry("frames_tx_pripause", "pause", "tx", "forced"),
    entry("rx_pause_1us_count", "pause_duration", "rx", "never", "us"),
    entry("rx_pripause_<p>_1us_count", "pause_duration", "rx", "forced", "us"),
    entry("tx_pripause_<p>_1us_count", "pause_duration", "tx", "forced", "us"),
    entry("frames_rx_pri_<p>", "packets", "rx", "information"),
    entry("frames_tx_pri_<p>", "packets", "tx", "information"),
)

DRIVER = Driver(
    names=("ionic", "ionic_rdma"), counters=(*refreshed(CACHED_S, *RDMA), *PORT), verified=False
)
