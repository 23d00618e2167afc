"""What a port's counters say: the names of the mlx5 driver, from what the port has moved.

Names and units: `counters/` are the InfiniBand PMA counters (data in words of four bytes),
`hw_counters/` the driver's queue counters (32 bits, they wrap), `ethtool -S` the Ethernet side.
Every counter starts at some value of an older life, so that only growth means anything.
"""

from __future__ import annotations

from pytest_fabric.lab.history import lost, paused_us
from pytest_fabric.lab.history import past as _past
from pytest_fabric.lab.history import visible as _visible
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.tally import PRIORITIES, Tally

WORD_BYTES = 4

QUEUE_COUNTER_WRAP = 2**32

#: What `port_xmit_wait` counts in, which the specification of InfiniBand leaves to the device; and
#: where it sticks.
TICK_S = 64e-9
MOST_TICKS = 2**32 - 1

#: Where counters of errors stick.
MOST_ERRORS = 2**16 - 1

#: PMA counters that no traffic moves on a healthy port.
PMA_STILL = (
    "VL15_dropped",
    "excessive_buffer_overrun_errors",
    "link_downed",
    "link_error_recovery",
    "local_link_integrity_errors",
    "multicast_rcv_packets",
    "multicast_xmit_packets",
    "port_rcv_constraint_errors",
    "port_rcv_errors",
    "port_rcv_remote_physical_errors",
    "port_rcv_switch_relay_errors",
    "port_xmit_constraint_errors",
    "port_xmit_discards",
    "port_xmit_wait",
    "symbol_error",
)

QUEUE_STILL = (
    "duplicate_request",
    "implied_nak_seq_err",
    "local_ack_timeout_err",
    "out_of_buffer",
    "out_of_sequence",
    "packet_seq_err",
    "req_cqe_error",
    "req_cqe_flush_error",
    "req_remote_access_errors",
    "req_remote_invalid_request",
    "req_rnr_retries_exceeded",
    "req_transport_retries_exceeded",
    "resp_cqe_error",
    "resp_cqe_flush_error",
    "resp_local_length_error",
    "resp_remote_access_errors",
    "rnr_nak_retry_err",
    "roce_adp_retrans",
    "roce_adp_retrans_to",
    "roce_slow_restart",
    "roce_slow_restart_cnps",
    "roce_slow_restart_trans",
    "rx_atomic_requests",
    "rx_dct_connect",
    "rx_icrc_encapsulated",
)

PHYSICAL_STILL = (
    "rx_crc_errors_phy",
    "rx_in_range_len_errors_phy",
    "rx_out_of_range_len_phy",
    "rx_oversize_pkts_phy",
    "rx_symbol_err_phy",
    "rx_unsupported_op_phy",
    "tx_pause_ctrl_phy",
    "rx_discards_phy",
    "tx_discards_phy",
    "tx_errors_phy",
    "rx_undersize_pkts_phy",
    "rx_fragments_phy",
    "rx_jabbers_phy",
    "link_down_events_phy",
    "rx_pcs_symbol_err_phy",
    "rx_corrected_bits_phy",
    "rx_err_lane_0_phy",
    "rx_err_lane_1_phy",
    "rx_err_lane_2_phy",
    "rx_err_lane_3_phy",
    "rx_buffer_passed_thres_phy",
    "rx_pci_signal_integrity",
    "tx_pci_signal_integrity",
    "outbound_pci_buffer_overflow",
    "outbound_pci_stalled_rd",
    "outbound_pci_stalled_wr",
    "outbound_pci_stalled_rd_events",
    "outbound_pci_stalled_wr_events",
    "module_unplug",
    "module_bus_stuck",
    "module_high_temp",
    "module_bad_shorted",
    "tx_pause_storm_warning_events",
    "tx_pause_storm_error_events",
)

#: What an IP-over-InfiniBand netdev counts: its own packets, nothing of RDMA.
IPOIB_STILL = ("rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "rx_out_of_buffer")

#: Counters that are above zero on a healthy machine with a past.
STALE = {
    "link_downed": 2,
    "VL15_dropped": 3,
    "port_rcv_switch_relay_errors": 1,
    "port_xmit_wait": 48_963,
    "multicast_rcv_packets": 12_071,
    "multicast_xmit_packets": 377,
    "req_cqe_flush_error": 64,
    "resp_cqe_flush_error": 1_027,
    "rnr_nak_retry_err": 5,
    "out_of_sequence": 19,
    "packet_seq_err": 19,
    "rx_discards_phy": 17,
    "link_down_events_phy": 2,
    "rx_corrected_bits_phy": 18_422,
    "tx_pci_signal_integrity": 34,
    "rx_packets": 5_487_361,
    "rx_bytes": 1_063_043_816,
    "tx_packets": 5_116_718,
    "tx_bytes": 813_725_708,
}


def pma(port: Port, tally: Tally) -> dict[str, int]:
    """Return the files of `counters/` and their values."""
    past = _past(port)
    sent, received = sum(tally.sent_packets), sum(tally.received_packets)
    moved = {
        "port_xmit_data": (past + sum(tally.sent_bytes)) // WORD_BYTES,
        "port_rcv_data": (past + sum(tally.received_bytes)) // WORD_BYTES,
        "port_xmit_packets": past // 4096 + sent,
        "port_rcv_packets": past // 4096 + received,
        "unicast_xmit_packets": past // 4096 + sent,
        "unicast_rcv_packets": past // 4096 + received,
        "link_downed": STALE["link_downed"] + lost(port, tally),
        "port_rcv_errors": min(MOST_ERRORS, tally.damaged),
        "symbol_error": min(MOST_ERRORS, tally.damaged),
        "port_xmit_wait": min(MOST_TICKS, STALE["port_xmit_wait"] + int(tally.waited_s / TICK_S)),
    }
    return _visible(port, {**_still(PMA_STILL), **moved})


def queue(port: Port, tally: Tally) -> dict[str, int]:
    """Return the files of `hw_counters/` and their values; `lifespan` is a setting among them."""
    past = _past(port) // 2**20
    moved = {
        "rx_write_requests": (past + tally.write_requests) % QUEUE_COUNTER_WRAP,
        "rx_read_requests": (past + tally.read_requests) % QUEUE_COUNTER_WRAP,
        "out_of_sequence": STALE["out_of_sequence"] + tally.gaps,
        "packet_seq_err": STALE["packet_seq_err"] + tally.resent,
        "local_ack_timeout_err": tally.timeouts,
        "lifespan": 12,
    }
    congestion = {
        "np_cnp_sent": int(tally.notices),
        "np_ecn_marked_roce_packets": int(tally.marked),
        "rp_cnp_handled": int(tally.heeded),
        "rp_cnp_ignored": int(tally.ignored),
    }
    shown = congestion if port.is_ethernet else {}  # the driver has them for RoCE only
    return _visible(port, {**_still(QUEUE_STILL), **shown, **moved})


def ethernet(port: Port, tally: Tally) -> dict[str, int]:
    """Return the lines of `ethtool -S`, in the order of the driver."""
    if not port.is_ethernet:
        return _visible(port, _still(IPOIB_STILL))
    past = _past(port)
    sent, received = sum(tally.sent_bytes), sum(tally.received_bytes)
    moved = {
        "rx_vport_rdma_unicast_packets": past // 4096 + sum(tally.received_packets),
        "rx_vport_rdma_unicast_bytes": past + received,
        "tx_vport_rdma_unicast_packets": past // 4096 + sum(tally.sent_packets),
        "tx_vport_rdma_unicast_bytes": past + sent,
        "tx_packets_phy": past // 4096 + sum(tally.sent_packets),
        "rx_packets_phy": past // 4096 + sum(tally.received_packets),
        "tx_bytes_phy": past + sent + 4 * sum(tally.sent_packets),  # the wire's CRC is counted
        "rx_bytes_phy": past + received + 4 * sum(tally.received_packets),
        "rx_pause_ctrl_phy": sum(tally.pauses),
        "rx_discards_phy": STALE["rx_discards_phy"] + tally.discards,
        "rx_crc_errors_phy": tally.damaged,
        "rx_symbol_err_phy": tally.damaged,
        "link_down_events_phy": STALE["link_down_events_phy"] + lost(port, tally),
    }
    own = _still(("rx_packets", "rx_bytes", "tx_packets", "tx_bytes", "rx_out_of_buffer"))
    priorities = _priorities(port, tally, past)
    return _visible(port, {**own, **_still(PHYSICAL_STILL), **moved, **priorities})


def _priorities(port: Port, tally: Tally, past: int) -> dict[str, int]:
    values: dict[str, int] = {}
    for p in range(PRIORITIES):
        older = past if p in port.lossless else 0
        values |= {
            f"rx_prio{p}_bytes": older + tally.received_bytes[p],
            f"rx_prio{p}_packets": older // 4096 + tally.received_packets[p],
            f"rx_prio{p}_discards": 0,
            f"tx_prio{p}_bytes": older + tally.sent_bytes[p],
            f"tx_prio{p}_packets": older // 4096 + tally.sent_packets[p],
            f"rx_prio{p}_buf_discard": 0,
            f"rx_prio{p}_cong_discard": 0,
            f"rx_prio{p}_marked": 0,
        }
    return values | pauses(port, tally)


def pauses(port: Port, tally: Tally) -> dict[str, int]:
    """Return the counters of pause; the driver shows them only where flow control is on."""
    values: dict[str, int] = {}
    for priority in port.lossless:
        received, told_us = tally.pauses[priority], tally.paused_us[priority]
        values |= _pauses(f"prio{priority}", received, told_us)
        waited = paused_us(port, tally, priority)
        values[f"tx_prio{priority}_pause_duration"] += waited
        values[f"tx_prio{priority}_pause"] += waited // 50
    return values or _pauses("global", tally.pauses[0], tally.paused_us[0])


def _pauses(which: str, received: int, told_us: float) -> dict[str, int]:
    return {
        f"rx_{which}_pause": 41 + received,
        f"rx_{which}_pause_duration": 8 + int(told_us),
        f"tx_{which}_pause": 12,
        f"tx_{which}_pause_duration": 3,
        f"rx_{which}_pause_transition": 20 + received // 2,
    }


def _still(names: tuple[str, ...]) -> dict[str, int]:
    return {name: STALE.get(name, 0) for name in names}
