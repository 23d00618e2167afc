"""Intel E810: ice, with the counters of irdma.

Names: drivers/net/ethernet/intel/ice/ice_ethtool.c; `.nic` are those of the port; a capture of E810
is in isc-projects/ethq, tests/ice. Registers have 32 and 40 bits; the service task adds them up to
64, every two seconds at the latest. No counter of link-down events is among them. Left out on
purpose: `*_xon` (the end of each pause) and `rx_bytes.nic` (it holds other traffic).
"""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_fabric.counters.drivers import irdma
from pytest_fabric.counters.entry import Counter, Driver, entry, refreshed

#: How often the service task reads the port's registers.
SERVICE_S = 2.0

#: What ice and i40e share, without the suffix or prefix that says that it is of the port.
PORT = (
    entry("rx_crc_errors", "crc_errors", "rx"),
    entry("illegal_bytes", "symbol_errors", "rx"),
    entry("rx_dropped", "discards", "rx"),
    entry("tx_dropped_link_down", "discards", "tx"),
    entry("tx_errors", "send_errors", "tx"),
    entry("rx_(?:length_errors|fragments|jabber)", "receive_errors", "rx"),
    entry("mac_(?:local|remote)_faults", "link_faults", None, "never", "events"),
    entry("link_xoff_rx", "pause", "rx"),
    entry("link_xoff_tx", "pause", "tx"),
    entry("rx_priority_<p>_xoff", "pause", "rx", "forced"),
    entry("tx_priority_<p>_xoff", "pause", "tx", "forced"),
)


def port(form: str) -> tuple[Counter, ...]:
    """Return the counters of a port under the names of a driver: `{}` in the form is the name."""
    named = (replace(one, pattern=re.compile(form.format(one.pattern.pattern))) for one in PORT)
    return refreshed(SERVICE_S, *named)


HOST = entry("rx_dropped", "host_drops", "rx", "information")

NETWORK = (*port(r"{}\.nic"), *refreshed(SERVICE_S, HOST))

DRIVER = Driver(("ice",), (*irdma.COUNTERS, *NETWORK), verified=True)

#: Where a port carries the name of the RDMA part, its generation is not known.
RDMA_DRIVER = Driver(("irdma",), (*irdma.COUNTERS, *irdma.GENERATION_3, *NETWORK), verified=True)
