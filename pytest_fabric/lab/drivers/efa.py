"""What the counters of an EFA device say: the names of efa, which counts per device.

Names: drivers/infiniband/hw/efa/efa_verbs.c; there is no performance agent and no network device.
"""

from __future__ import annotations

from pytest_fabric.lab.history import past, visible
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.tally import Tally

#: Counters of a port that nothing of the lab moves.
STILL = (
    *("rdma_read_wrs", "rdma_read_bytes", "rdma_read_wr_err", "rdma_read_resp_bytes"),
    *("rdma_write_wrs", "rdma_write_bytes", "rdma_write_wr_err", "rdma_write_recv_bytes"),
    *("unresponsive_remote_events", "impaired_remote_conn_events"),
)


def none(port: Port, tally: Tally) -> dict[str, int]:
    """Return nothing: neither a performance agent, nor a network device, nor pause."""
    return {}


def hardware(port: Port, tally: Tally) -> dict[str, int]:
    """Return the files of the port's `hw_counters/`; `lifespan` is a setting among them."""
    older = past(port)
    moved = {
        "tx_bytes": older + sum(tally.sent_bytes),
        "tx_pkts": older // 4096 + sum(tally.sent_packets),
        "rx_bytes": older + sum(tally.received_bytes),
        "rx_pkts": older // 4096 + sum(tally.received_packets),
        "rx_drops": tally.discards,
        "retrans_bytes": 4096 * tally.resent,
        "retrans_pkts": tally.resent,
        "retrans_timeout_events": tally.timeouts,
        "send_bytes": older,
        "send_wrs": older // 4096,
        "recv_bytes": older,
        "recv_wrs": older // 4096,
    }
    return visible(port, {**moved, **dict.fromkeys(STILL, 0), "lifespan": 10})
