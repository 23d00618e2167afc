"""NetXtreme-E: bnxt_re and bnxt_en, names of Broadcom's own bnxt_re (those of mlx5) included.

Names: drivers/infiniband/hw/bnxt_re/hw_counters.c and
drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c; a capture is in isc-projects/ethq, tests/bnxt_en.
The NIC writes its statistics to memory once a second (BNXT_DEF_STATS_COAL_TICKS). From Thor on
those of a function have 48 bits: bnxt_en adds them up, bnxt_re shows them as they are. Left out on
purpose: `active_*` and `watermark_*` (gauges), `recoverable_errors` (it shows broadcasts),
`{rx,tx}_pfc_frames` (the sum of the counters per priority).
"""

from __future__ import annotations

from pytest_fabric.counters.drivers.pma import PMA
from pytest_fabric.counters.entry import CACHED_S, Driver, entry, refreshed, reordering, wrapping

#: How often the NIC writes its statistics to memory.
WRITTEN_S = 1.0

TRAFFIC = (
    *wrapping(
        48,
        entry("tx_bytes", "bytes", "tx", "information", "B"),
        entry("rx_bytes", "bytes", "rx", "information", "B"),
        entry("tx_pkts", "packets", "tx", "information"),
        entry("rx_pkts", "packets", "rx", "information"),
    ),
    entry("tx_roce_only_bytes", "bytes", "tx", "information", "B"),
    entry("rx_roce_only_bytes", "bytes", "rx", "information", "B"),
    entry("tx_roce_only_pkts", "packets", "tx", "information"),
    entry("rx_roce_only_pkts", "packets", "rx", "information"),
)

RDMA = (
    *reordering(
        entry("oos_drop_count|out_of_sequence", "out_of_sequence", "rx", "uncongested", "events"),
        entry("seq_err_naks_rcvd|packet_seq_err", "out_of_sequence", "tx", "uncongested", "events"),
        entry("missing_resp|implied_nak_seq_err", "retransmissions", "tx", "uncongested", "events"),
        entry("dup_req|duplicate_request", "retransmissions", "rx", "uncongested", "events"),
        entry("roce_adp_retrans(?:_to)?", "retransmissions", "tx", "uncongested", "events"),
    ),
    entry("to_retransmits|local_ack_timeout_err", "retransmissions", "tx", "never", "events"),
    entry("max_retry_exceeded", "retransmissions", "tx", "never", "events"),
    entry("rnr_naks_rcvd|rnr_nak_retry_err", "retransmissions", "tx", "never", "events"),
    entry("rx_out_of_buffer|out_of_buffer", "receiver_not_ready", "rx", "uncongested", "events"),
    entry("rx_icrc_encapsulated", "icrc_errors", "rx", "never", "events"),
    entry("rx_roce_discards", "discards", "rx"),
    entry("tx_roce_discards", "discards", "tx"),
    entry("rx_roce_errors", "receive_errors", "rx"),
    entry("tx_roce_errors", "send_errors", "tx"),
    entry("res_rx_pci_err", "pcie_errors", "rx", "never", "events"),
    entry("res_tx_pci_err", "pcie_errors", "tx", "never", "events"),
    entry("re(?:q|sp)_cqe(?:_flush)?_error", "completion_errors", None, "information", "events"),
    entry(
        "(?:unrecoverable|bad_resp|local_qp_op|local_protection|mem_mgmt_op|remote_op)_err",
        "completion_errors",
        None,
        "information",
        "events",
    ),
    entry("roce_slow_restart(?:_cnps|_trans)?", "slow_restarts", "tx", "information", "events"),
    entry("rx_ecn_marked_pkts|np_ecn_marked_roce_packets", "ecn_marked", "rx", "forced"),
    entry("tx_cnp_pkts|np_cnp_sent", "cnp_sent", "tx", "forced"),
    entry("rx_cnp_pkts|rp_cnp_handled", "cnp_handled", "rx", "forced"),
    entry("rp_cnp_ignored", "cnp_ignored", "rx", "uncongested"),
)

PHYSICAL = (
    entry("rx_fcs_err_frames", "crc_errors", "rx"),
    entry("rx_pcs_symbol_err", "symbol_errors", "rx", "never", "events"),
    entry("rx_corrected_bits", "fec_corrected_bits", "rx", "information", "bits"),
    entry("rx_fec_corrected_blocks", "fec_corrected", "rx", "information", "codewords"),
    entry("rx_fec_uncorrectable_blocks", "fec_uncorrected", "rx", "never", "codewords"),
    entry("link_down_events", "link_downed", None, "never", "events"),
    entry("rx_stat_discard|rx_discard_packets_cos[0-7]", "discards", "rx"),
    entry("tx_stat_discard", "discards", "tx"),
    entry("rx_stat_err|rx_align_err_frames", "receive_errors", "rx"),
    entry("tx_stat_error|tx_err|tx_fcs_err_frames|tx_fifo_underruns", "send_errors", "tx"),
    entry("rx_buffer_passed_threshold", "buffer_passed", "rx", "information", "events"),
)

PAUSE = (
    entry("continuous_(?:roce_)?pause_events", "pause_storms", None, "never", "events"),
    entry("rx_pause_frames", "pause", "rx"),
    entry("tx_pause_frames", "pause", "tx"),
    entry("rx_pfc_ena_frames_pri<p>", "pause", "rx", "forced"),
    entry("tx_pfc_ena_frames_pri<p>", "pause", "tx", "forced"),
    entry("pfc_pri<p>_rx_duration_us", "pause_duration", "rx", "forced", "us"),
    entry("pfc_pri<p>_tx_duration_us", "pause_duration", "tx", "forced", "us"),
)

#: What the kernel's own network traffic loses: totals, and the rings that they are made of.
HOST = (
    entry("rx_total_(?:ring|oom|netpoll)_discards", "host_drops", "rx", "information"),
    entry("rx_total_(?:discard_pkts|buf_errors)", "host_drops", "rx", "information"),
    entry("tx_total_(?:ring_discards|discard_pkts)", "host_drops", "tx", "information"),
    entry(r"\[\d+\]: rx_(?:discards|drops)", "ring_drops", "rx", "information"),
    entry(r"\[\d+\]: tx_(?:discards|drops)", "ring_drops", "tx", "information"),
)

PER_PRIORITY = (
    entry("rx_bytes_pri<p>", "bytes", "rx", "information", "B"),
    entry("tx_bytes_pri<p>", "bytes", "tx", "information", "B"),
    entry("rx_packets_pri<p>", "packets", "rx", "information"),
    entry("tx_packets_pri<p>", "packets", "tx", "information"),
)

DRIVER = Driver(
    names=("bnxt_en", "bnxt_re"),
    counters=(
        *PMA,
        *refreshed(WRITTEN_S + CACHED_S, *TRAFFIC, *RDMA),
        *refreshed(WRITTEN_S, *PHYSICAL, *PAUSE, *HOST, *PER_PRIORITY),
    ),
    verified=True,
)
