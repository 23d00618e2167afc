"""The counters of the InfiniBand performance agent, in `ports/N/counters/`.

Names: Documentation/ABI/stable/sysfs-class-infiniband. Widths: PortCounters, InfiniBand
specification, vol. 1, 16.1.3.5; error counters stick at their maximum. Read from the hardware.
"""

from __future__ import annotations

import re

from pytest_fabric.counters.entry import Counter, entry


def _error(name: str, meaning: str, direction: str | None, bits: int, group: str) -> Counter:
    return Counter(
        re.compile(name), meaning, direction, "events", bits, "saturates", group, layer="InfiniBand"
    )


#: Traffic, which RoCE ports count here too.
TRAFFIC = (
    entry("port_xmit_data", "bytes", "tx", "information", "words4"),
    entry("port_rcv_data", "bytes", "rx", "information", "words4"),
    entry("port_xmit_packets", "packets", "tx", "information"),
    entry("port_rcv_packets", "packets", "rx", "information"),
)

PMA = (
    *TRAFFIC,
    _error("symbol_error", "symbol_errors", "rx", 16, "never"),
    _error("port_rcv_errors", "crc_errors", "rx", 16, "never"),
    _error("port_xmit_discards", "discards", "tx", 16, "never"),
    _error("link_downed", "link_downed", None, 8, "never"),
    _error("link_error_recovery", "link_recovered", None, 8, "never"),
    _error("local_link_integrity_errors", "link_integrity", "rx", 4, "never"),
    _error("excessive_buffer_overrun_errors", "buffer_overruns", "rx", 4, "never"),
    _error("port_rcv_remote_physical_errors", "remote_errors", "rx", 16, "never"),
    _error("port_xmit_constraint_errors", "refused", "tx", 8, "information"),
    _error("port_rcv_constraint_errors", "refused", "rx", 8, "information"),
    _error("port_rcv_switch_relay_errors", "refused", "rx", 16, "information"),
    _error("VL15_dropped", "management_dropped", "rx", 16, "information"),
    _error("port_xmit_wait", "waited", "tx", 32, "uncongested"),
)
