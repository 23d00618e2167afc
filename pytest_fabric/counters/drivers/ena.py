"""Amazon EC2: efa, and ena for the allowances of its instance.

Names: drivers/infiniband/hw/efa/efa_verbs.c and drivers/net/ethernet/amazon/ena/ena_ethtool.c; 64
bits. EFA has no pause and no errors of a link; it sprays packets and sends again in the NIC. Left
out on purpose: `admin_q_pause` (no pause of the network), gauges (`conntrack_allowance_available`,
`ena_srd_mode`, `ena_srd_resource_utilization`), `retrans_bytes` (the packets are counted).
"""

from __future__ import annotations

from pytest_fabric.counters.entry import CACHED_S, Driver, entry, refreshed

EFA = (
    entry("tx_bytes", "bytes", "tx", "information", "B"),
    entry("rx_bytes", "bytes", "rx", "information", "B"),
    entry("tx_pkts", "packets", "tx", "information"),
    entry("rx_pkts", "packets", "rx", "information"),
    entry("rx_drops", "discards", "rx", "uncongested"),
    entry("retrans_pkts", "retransmissions", "tx", "uncongested"),
    entry("retrans_timeout_events", "retransmissions", "tx", "never", "events"),
    entry("unresponsive_remote_events", "remote_errors", "tx", "never", "events"),
    entry("impaired_remote_conn_events", "remote_errors", "tx", "never", "events"),
    entry("rdma_(?:read|write)_wr_err", "completion_errors", None, "information", "events"),
)

ENA = (
    entry("bw_in_allowance_exceeded", "throttled", "rx", "uncongested"),
    entry("bw_out_allowance_exceeded", "throttled", "tx", "uncongested"),
    entry("(?:pps|conntrack|linklocal)_allowance_exceeded", "throttled", None, "uncongested"),
    entry(r"queue_\d+_rx_empty_rx_ring", "ring_drops", "rx", "information", "events"),
)

DRIVER = Driver(
    names=("efa", "ena"),
    counters=(*refreshed(CACHED_S, *EFA), *ENA),
    verified=False,
    layers=("Ethernet", "Unknown", "Unspecified"),
)
