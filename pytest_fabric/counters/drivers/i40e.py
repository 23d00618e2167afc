"""Intel X722: i40e, with the counters of irdma, and of i40iw before it.

Names: drivers/net/ethernet/intel/i40e/i40e_ethtool.c; `port.` are those of the port. Width and
refresh are those of ice. The kernel answers `N/A (no PMA)` for the counters of InfiniBand.
"""

from __future__ import annotations

from pytest_fabric.counters.drivers import ice, irdma
from pytest_fabric.counters.drivers.pma import PMA
from pytest_fabric.counters.entry import Driver

DRIVER = Driver(
    names=("i40e", "i40iw"),
    counters=(*PMA, *irdma.COUNTERS, *ice.port(r"port\.{}")),
    verified=False,
)
