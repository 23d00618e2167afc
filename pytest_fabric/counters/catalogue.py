"""What the counters of each driver mean, how they count, and when growth is a fault.

Names: Documentation/ABI/stable/sysfs-class-infiniband, the kernel's mlx5 counter documentation
(Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst) and
drivers/infiniband/sw/rxe/rxe_hw_counters.c. Left out on purpose: `lifespan` (the age of the cache),
gauges (`outbound_pci_stalled_rd` and `_wr` are percentages), `*_pause_ctrl_phy` (the sum of the
pause counters that are here) and `tx_bytes_phy` and its relatives (they hold other traffic).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

#: Refresh of `hw_counters/`: the kernel caches them for `lifespan`, 10 ms plus rounding.
CACHED_S = 0.02

#: Counters of RoCE's congestion control: where one exists, the port is Ethernet.
ROCE_ONLY = frozenset(
    {"np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled", "rp_cnp_ignored"}
)

#: What to wait for a driver that is not listed: the slowest known one refreshes every two seconds.
UNKNOWN_REFRESH_S = 2.0


@dataclass(frozen=True)
class Counter:
    """One counter, or one per priority where the pattern has a group `p`.

    `pattern` matches the whole name. `unit` is B, words4 (four bytes), packets, events or us.
    `behaviour` at the width of `bits` is wraps or saturates; a 64-bit counter never gets there.
    `group` says when growth is a fault: never allowed, only allowed with congestion (uncongested),
    or information. A value is fresh after `refresh_s`. `layer` is InfiniBand for what does not see
    the errors of an Ethernet link, although the kernel shows it there too.
    """

    pattern: re.Pattern[str]
    meaning: str
    direction: str | None
    unit: str = "packets"
    bits: int = 64
    behaviour: str = "wraps"
    group: str = "never"
    refresh_s: float = 0.0
    layer: str | None = None

    @property
    def maximum(self) -> int:
        """Return the largest value that the counter can hold."""
        return (1 << self.bits) - 1


@dataclass(frozen=True)
class Match:
    """A counter that a name belongs to, and the priority that the name carries."""

    counter: Counter
    priority: int | None


def _pma(name: str, meaning: str, direction: str | None, bits: int, group: str) -> Counter:
    """Return an error counter of the InfiniBand performance agent: it sticks at its maximum."""
    return Counter(
        re.compile(name), meaning, direction, "events", bits, "saturates", group, layer="InfiniBand"
    )


def _port(name: str, meaning: str, direction: str, unit: str) -> Counter:
    return Counter(re.compile(name), meaning, direction, unit, group="information")


#: `ports/N/counters/`, widths of PortCounters (InfiniBand specification, vol. 1, 16.1.3.5).
PMA = (
    _port("port_xmit_data", "bytes", "tx", "words4"),
    _port("port_rcv_data", "bytes", "rx", "words4"),
    _port("port_xmit_packets", "packets", "tx", "packets"),
    _port("port_rcv_packets", "packets", "rx", "packets"),
    _pma("symbol_error", "symbol_errors", "rx", 16, "never"),
    _pma("port_rcv_errors", "crc_errors", "rx", 16, "never"),
    _pma("port_xmit_discards", "discards", "tx", 16, "never"),
    _pma("link_downed", "link_downed", None, 8, "never"),
    _pma("link_error_recovery", "link_recovered", None, 8, "never"),
    _pma("local_link_integrity_errors", "link_integrity", "rx", 4, "never"),
    _pma("excessive_buffer_overrun_errors", "buffer_overruns", "rx", 4, "never"),
    _pma("port_rcv_remote_physical_errors", "remote_errors", "rx", 16, "never"),
    _pma("port_xmit_constraint_errors", "refused", "tx", 8, "information"),
    _pma("port_rcv_constraint_errors", "refused", "rx", 8, "information"),
    _pma("port_rcv_switch_relay_errors", "refused", "rx", 16, "information"),
    _pma("VL15_dropped", "management_dropped", "rx", 16, "information"),
    _pma("port_xmit_wait", "waited", "tx", 32, "uncongested"),
)


def _queue(name: str, meaning: str, direction: str, group: str) -> Counter:
    """Return a Q counter of mlx5: 32 bits, which wrap."""
    return Counter(
        re.compile(name), meaning, direction, "events", 32, "wraps", group, refresh_s=CACHED_S
    )


def _congestion(name: str, meaning: str, direction: str) -> Counter:
    return Counter(re.compile(name), meaning, direction, group="uncongested", refresh_s=CACHED_S)


MLX5_HW = (
    _queue("out_of_sequence", "out_of_sequence", "rx", "uncongested"),
    _queue("packet_seq_err", "out_of_sequence", "tx", "uncongested"),
    _queue("local_ack_timeout_err", "retransmissions", "tx", "never"),
    _queue("req_transport_retries_exceeded", "retransmissions", "tx", "never"),
    _queue("req_rnr_retries_exceeded", "retransmissions", "tx", "never"),
    _queue("rnr_nak_retry_err", "retransmissions", "tx", "never"),
    _queue("implied_nak_seq_err", "retransmissions", "tx", "uncongested"),
    _queue("duplicate_request", "retransmissions", "rx", "uncongested"),
    _queue("roce_adp_retrans(?:_to)?", "retransmissions", "tx", "uncongested"),
    _queue("out_of_buffer", "receiver_not_ready", "rx", "uncongested"),
    _queue("rx_icrc_encapsulated", "icrc_errors", "rx", "never"),
    _congestion("np_ecn_marked_roce_packets", "ecn_marked", "rx"),
    _congestion("np_cnp_sent", "cnp_sent", "tx"),
    _congestion("rp_cnp_handled", "cnp_handled", "rx"),
)


def _phy(name: str, meaning: str, direction: str | None, unit: str = "packets") -> Counter:
    return Counter(re.compile(name), meaning, direction, unit)


def _prio(name: str, meaning: str, direction: str, unit: str, group: str) -> Counter:
    """Return a counter per priority; `P` in the name stands for the priority."""
    return Counter(
        re.compile(name.replace("P", "(?P<p>[0-7])")), meaning, direction, unit, group=group
    )


#: `ethtool -S`. Pause per priority exists while PFC is on, global pause while that is on: never
#: both, so that they can be added. The names without `_phy` are those of OFED 3.
MLX5_ETHTOOL = (
    _phy("rx_crc_errors_phy|check_seq_err", "crc_errors", "rx"),
    _phy("rx_symbol_err_phy|symbol_err", "symbol_errors", "rx", "events"),
    _phy("rx_pcs_symbol_err_phy", "symbol_errors", "rx", "events"),
    _phy("rx_discards_phy", "discards", "rx"),
    _phy("tx_discards_phy", "discards", "tx"),
    _phy("tx_errors_phy", "send_errors", "tx"),
    _phy("link_down_events_phy", "link_downed", None, "events"),
    _phy("rx_pci_signal_integrity", "pcie_errors", "rx", "events"),
    _phy("tx_pci_signal_integrity", "pcie_errors", "tx", "events"),
    _phy("outbound_pci_buffer_overflow", "pcie_errors", "rx"),
    _phy("tx_pause_storm_(?:warning|error)_events", "pause_storms", "tx", "events"),
    _phy("rx_global_pause", "pause", "rx"),
    _phy("tx_global_pause", "pause", "tx"),
    _phy("rx_global_pause_duration", "pause_duration", "rx", "us"),
    _phy("tx_global_pause_duration", "pause_duration", "tx", "us"),
    _prio("rx_prioP_pause", "pause", "rx", "packets", "uncongested"),
    _prio("tx_prioP_pause", "pause", "tx", "packets", "uncongested"),
    _prio("rx_prioP_pause_duration", "pause_duration", "rx", "us", "uncongested"),
    _prio("tx_prioP_pause_duration", "pause_duration", "tx", "us", "uncongested"),
    _prio("rx_prioP_(?:buf_discard|cong_discard|discards)", "discards", "rx", "packets", "never"),
    _prio("rx_prioP_marked", "ecn_marked", "rx", "packets", "uncongested"),
    _prio("rx_prioP_bytes", "bytes", "rx", "B", "information"),
    _prio("tx_prioP_bytes", "bytes", "tx", "B", "information"),
    _prio("rx_prioP_packets", "packets", "rx", "packets", "information"),
    _prio("tx_prioP_packets", "packets", "tx", "packets", "information"),
)


def _rxe(name: str, meaning: str, direction: str | None, group: str = "never") -> Counter:
    return Counter(re.compile(name), meaning, direction, "events", group=group, refresh_s=CACHED_S)


#: Soft-RoCE has no `counters/` on most kernels, and no byte counter at all.
RXE = (
    _rxe("sent_pkts", "packets", "tx", "information"),
    _rxe("rcvd_pkts", "packets", "rx", "information"),
    _rxe("out_of_seq_request", "out_of_sequence", "rx", "uncongested"),
    _rxe("rcvd_seq_err", "out_of_sequence", "tx", "uncongested"),
    _rxe("completer_retry_err", "retransmissions", "tx"),
    _rxe("retry_exceeded_err", "retransmissions", "tx"),
    _rxe("retry_rnr_exceeded_err", "retransmissions", "tx"),
    _rxe("rcvd_rnr_err", "retransmissions", "tx"),
    _rxe("duplicate_request", "retransmissions", "rx", "uncongested"),
    _rxe("send_rnr_err", "receiver_not_ready", "rx", "uncongested"),
    _rxe("send_err", "send_errors", "tx"),
    _rxe("link_downed", "link_downed", None),
)

CATALOGUE = {"mlx5_core": (*PMA, *MLX5_HW, *MLX5_ETHTOOL), "rdma_rxe": RXE}


def counters(driver: str) -> tuple[Counter, ...]:
    """Return the counters of a driver; for an unknown one, those that InfiniBand ports have."""
    return CATALOGUE.get(driver, PMA)


@lru_cache(maxsize=65_536)  # names repeat in every window; bounded, since nodes choose them
def find(driver: str, name: str) -> Match | None:
    """Return what a counter of a driver is, or None for one that has no meaning here."""
    for counter in counters(driver):
        match = counter.pattern.fullmatch(name)
        if match is not None:
            priority = match.groupdict().get("p")
            return Match(counter, int(priority) if priority is not None else None)
    return None


def meanings(driver: str) -> frozenset[str]:
    """Return the meanings that the counters of a driver can have."""
    return frozenset(counter.meaning for counter in counters(driver))


def refresh_s(driver: str) -> float:
    """Return how long after an event the slowest counter of a driver shows it, in seconds."""
    if driver not in CATALOGUE:
        return UNKNOWN_REFRESH_S
    return max(counter.refresh_s for counter in CATALOGUE[driver])
