"""Chelsio T4 to T6: cxgb4 and iw_cxgb4, which is iWARP: RDMA over TCP in the NIC.

Names: drivers/net/ethernet/chelsio/cxgb4/cxgb4_ethtool.c, padded with blanks up to the colon. 64
bits, read when asked. Left out on purpose: `ip4RetransSegs` and its relatives, which
drivers/infiniband/hw/cxgb4/provider.c has for the card and not for a port.
"""

from __future__ import annotations

from pytest_fabric.counters.entry import Driver, entry

PORT = (
    entry("tx_octets_ok", "bytes", "tx", "information", "B"),
    entry("rx_octets_ok", "bytes", "rx", "information", "B"),
    entry("rx_fcs_errors", "crc_errors", "rx"),
    entry("rx_symbol_errors", "symbol_errors", "rx", "never", "events"),
    entry("rx_bg[0-3]_frames_(?:dropped|trunc)|rx_buffer[0-3]_drops", "discards", "rx"),
    entry("tx_frames_dropped", "discards", "tx"),
    entry("tx_error_frames", "send_errors", "tx"),
    entry("rx_(?:jabber|length)_errors|rx_runt_frames", "receive_errors", "rx"),
    entry("rx_pause_frames", "pause", "rx"),
    entry("tx_pause_frames", "pause", "tx"),
    entry("rx_ppp<p>_frames", "pause", "rx", "forced"),
    entry("tx_ppp<p>_frames", "pause", "tx", "forced"),
)

DRIVER = Driver(("cxgb4", "iw_cxgb4"), PORT, verified=False)
