"""ConnectX-4 and newer: mlx5_ib and mlx5_core, names of OFED 3 (without `_phy`) included.

Names and meanings: drivers/infiniband/hw/mlx5/counters.c and the kernel's
Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst. Q counters have 32 bits
and wrap; the rest has 64. Read from the hardware, but for the kernel's cache of `hw_counters/`.
Left out on purpose: gauges (`outbound_pci_stalled_rd` and `_wr` are percentages),
`*_pause_ctrl_phy` (the sum of the pause counters that are here), `rx_err_lane_N_phy` (lanes of
`rx_corrected_bits_phy`), `tx_bytes_phy` and its relatives (they hold other traffic).
"""

from __future__ import annotations

from pytest_fabric.counters.drivers.pma import PMA
from pytest_fabric.counters.entry import CACHED_S, Driver, entry, refreshed, reordering, wrapping

QUEUE = wrapping(
    32,
    *reordering(
        entry("out_of_sequence", "out_of_sequence", "rx", "uncongested", "events"),
        entry("packet_seq_err", "out_of_sequence", "tx", "uncongested", "events"),
        entry("implied_nak_seq_err", "retransmissions", "tx", "uncongested", "events"),
        entry("duplicate_request", "retransmissions", "rx", "uncongested", "events"),
        entry("roce_adp_retrans(?:_to)?", "retransmissions", "tx", "uncongested", "events"),
    ),
    entry("local_ack_timeout_err", "retransmissions", "tx", "never", "events"),
    entry("req_transport_retries_exceeded", "retransmissions", "tx", "never", "events"),
    entry("req_rnr_retries_exceeded", "retransmissions", "tx", "never", "events"),
    entry("rnr_nak_retry_err", "retransmissions", "tx", "never", "events"),
    entry("out_of_buffer", "receiver_not_ready", "rx", "uncongested", "events"),
    entry("rx_icrc_encapsulated", "icrc_errors", "rx", "never", "events"),
    # The end of any queue pair, also an orderly one, flushes what waits in it.
    entry("re(?:q|sp)_cqe(?:_flush)?_error", "completion_errors", None, "information", "events"),
    entry("roce_slow_restart(?:_cnps|_trans)?", "slow_restarts", "tx", "information", "events"),
)

CONGESTION = (
    entry("np_ecn_marked_roce_packets", "ecn_marked", "rx", "forced"),
    entry("np_cnp_sent", "cnp_sent", "tx", "forced"),
    entry("rp_cnp_handled", "cnp_handled", "rx", "forced"),
    entry("rp_cnp_ignored", "cnp_ignored", "rx", "uncongested"),
)

PHYSICAL = (
    entry("rx_crc_errors_phy|check_seq_err", "crc_errors", "rx"),
    entry("rx_symbol_err_phy|symbol_err", "symbol_errors", "rx", "never", "events"),
    entry("rx_pcs_symbol_err_phy", "symbol_errors", "rx", "never", "events"),
    entry("rx_corrected_bits_phy", "fec_corrected_bits", "rx", "information", "bits"),
    entry("rx_discards_phy", "discards", "rx"),
    entry("tx_discards_phy", "discards", "tx"),
    entry("tx_errors_phy", "send_errors", "tx"),
    entry("link_down_events_phy", "link_downed", None, "never", "events"),
    entry("rx_buffer_passed_thres_phy", "buffer_passed", "rx", "information", "events"),
    entry("rx_out_of_buffer", "host_drops", "rx", "information"),
)

PCIE = (
    entry("rx_pci_signal_integrity", "pcie_errors", "rx", "never", "events"),
    entry("tx_pci_signal_integrity", "pcie_errors", "tx", "never", "events"),
    entry("outbound_pci_buffer_overflow", "pcie_errors", "rx"),
    # Seconds in which PCIe held the NIC up for more than 30 % of the time.
    entry("outbound_pci_stalled_rd_events", "pcie_stalls", "tx", "information", "events"),
    entry("outbound_pci_stalled_wr_events", "pcie_stalls", "rx", "information", "events"),
)

#: Pause per priority exists while PFC is on, global pause while that is on: never both, so that
#: they can be added.
PAUSE = (
    entry("tx_pause_storm_(?:warning|error)_events", "pause_storms", "tx", "never", "events"),
    entry("rx_global_pause", "pause", "rx"),
    entry("tx_global_pause", "pause", "tx"),
    entry("rx_global_pause_duration", "pause_duration", "rx", "never", "us"),
    entry("tx_global_pause_duration", "pause_duration", "tx", "never", "us"),
    entry("rx_prio<p>_pause", "pause", "rx", "forced"),
    entry("tx_prio<p>_pause", "pause", "tx", "forced"),
    entry("rx_prio<p>_pause_duration", "pause_duration", "rx", "forced", "us"),
    entry("tx_prio<p>_pause_duration", "pause_duration", "tx", "forced", "us"),
)

PER_PRIORITY = (
    entry("rx_prio<p>_(?:buf_discard|cong_discard|discards)", "discards", "rx"),
    entry("rx_prio<p>_marked", "ecn_marked", "rx", "forced"),
    entry("rx_prio<p>_bytes", "bytes", "rx", "information", "B"),
    entry("tx_prio<p>_bytes", "bytes", "tx", "information", "B"),
    entry("rx_prio<p>_packets", "packets", "rx", "information"),
    entry("tx_prio<p>_packets", "packets", "tx", "information"),
)

DRIVER = Driver(
    names=("mlx5_core", "mlx5_ib"),
    counters=(
        *PMA,
        *refreshed(CACHED_S, *QUEUE, *CONGESTION),
        *PHYSICAL,
        *PCIE,
        *PAUSE,
        *PER_PRIORITY,
    ),
    verified=True,
    layers=("InfiniBand", "Ethernet"),
)
