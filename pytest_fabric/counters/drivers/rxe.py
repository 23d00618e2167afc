"""Soft-RoCE: drivers/infiniband/sw/rxe/rxe_hw_counters.c, 64 bits, behind the kernel's cache.

It has no `counters/` on most kernels, and no byte counter at all.
"""

from __future__ import annotations

from pytest_fabric.counters.entry import CACHED_S, Driver, entry, refreshed, reordering

COUNTERS = (
    entry("sent_pkts", "packets", "tx", "information", "events"),
    entry("rcvd_pkts", "packets", "rx", "information", "events"),
    *reordering(
        entry("out_of_seq_request", "out_of_sequence", "rx", "uncongested", "events"),
        entry("rcvd_seq_err", "out_of_sequence", "tx", "uncongested", "events"),
        entry("duplicate_request", "retransmissions", "rx", "uncongested", "events"),
    ),
    entry("completer_retry_err", "retransmissions", "tx", "never", "events"),
    entry("retry_exceeded_err", "retransmissions", "tx", "never", "events"),
    entry("retry_rnr_exceeded_err", "retransmissions", "tx", "never", "events"),
    entry("rcvd_rnr_err", "retransmissions", "tx", "never", "events"),
    entry("send_rnr_err", "receiver_not_ready", "rx", "uncongested", "events"),
    entry("send_err", "send_errors", "tx", "never", "events"),
    entry("link_downed", "link_downed", None, "never", "events"),
)

DRIVER = Driver(("rdma_rxe",), refreshed(CACHED_S, *COUNTERS), verified=True)
