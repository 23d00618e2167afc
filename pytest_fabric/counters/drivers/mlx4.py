"""ConnectX-3: mlx4_core, mlx4_en and mlx4_ib.

Names: drivers/net/ethernet/mellanox/mlx4/en_ethtool.c and drivers/infiniband/hw/mlx4/main.c
(diag_basic, diag_ext: 32 bits, they wrap). The firmware's pause counters per priority exist while
PFC is on, `rx_pause` while global pause is.
"""

from __future__ import annotations

from pytest_fabric.counters.drivers.pma import PMA
from pytest_fabric.counters.entry import CACHED_S, Driver, entry, refreshed, reordering, wrapping

RDMA = wrapping(
    32,
    *reordering(
        entry("rq_num_oos", "out_of_sequence", "rx", "uncongested", "events"),
        entry("sq_num_oos", "out_of_sequence", "tx", "uncongested", "events"),
        entry("rq_num_dup", "retransmissions", "rx", "uncongested", "events"),
    ),
    entry("sq_num_to", "retransmissions", "tx", "never", "events"),
    entry("sq_num_(?:tree|rree|rnr)", "retransmissions", "tx", "never", "events"),
    entry("rq_num_rnr", "receiver_not_ready", "rx", "uncongested", "events"),
)

PORT = (
    entry("rx_crc_errors", "crc_errors", "rx"),
    entry("rx_missed_errors", "discards", "rx"),
    entry("rx_dropped", "host_drops", "rx", "information"),
    entry("tx_dropped", "host_drops", "tx", "information"),
    entry("rx_length_errors", "receive_errors", "rx"),
    entry("rx_pause", "pause", "rx"),
    entry("tx_pause", "pause", "tx"),
    entry("rx_pause_duration", "pause_duration", "rx", "never", "us"),
    entry("tx_pause_duration", "pause_duration", "tx", "never", "us"),
    entry("rx_pause_prio_<p>", "pause", "rx", "forced"),
    entry("tx_pause_prio_<p>", "pause", "tx", "forced"),
    entry("rx_pause_duration_prio_<p>", "pause_duration", "rx", "forced", "us"),
    entry("tx_pause_duration_prio_<p>", "pause_duration", "tx", "forced", "us"),
    entry("rx_prio_<p>_bytes", "bytes", "rx", "information", "B"),
    entry("tx_prio_<p>_bytes", "bytes", "tx", "information", "B"),
    entry("rx_prio_<p>(?:_packets)?", "packets", "rx", "information"),
    entry("tx_prio_<p>(?:_packets)?", "packets", "tx", "information"),
)

DRIVER = Driver(
    names=("mlx4_core", "mlx4_ib", "mlx4_en"),
    counters=(*PMA, *refreshed(CACHED_S, *RDMA), *PORT),
    verified=False,
    layers=("InfiniBand", "Ethernet"),
)
