"""What an E810 says: the names of ice and irdma, from what the port has moved.

Names and order: drivers/net/ethernet/intel/ice/ice_ethtool.c and
drivers/infiniband/hw/irdma/verbs.c, whose names still carry `tcp` and `iw` in this kernel. irdma
has no `counters/`. Neither counts bytes of a priority, packets out of order, or links lost.
"""

from __future__ import annotations

from pytest_fabric.lab.history import lost, past, paused_us, visible
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.tally import PRIORITIES, Tally

#: Counters that are above zero on a healthy machine with a past.
STALE = {
    "rx_unicast": 5_487_361,
    "tx_unicast": 5_116_718,
    "rx_bytes": 1_063_043_816,
    "tx_bytes": 813_725_708,
    "rx_dropped": 31,
    "rx_dropped.nic": 17,
    "mac_local_faults.nic": 4,
    "mac_remote_faults.nic": 3,
    "tcpRetransSegs": 12,
    "ip4InDiscards": 2,
}

HARDWARE_STILL = (
    "ip4InDiscards",
    "ip4InReasmRqd",
    "ip4InMcastPkts",
    "ip4OutSegRqd",
    "ip4OutNoRoutes",
    "ip4OutMcastPkts",
    "ip6InOctets",
    "ip6InPkts",
    "ip6InDiscards",
    "ip6OutOctets",
    "ip6OutPkts",
    "ip6OutNoRoutes",
    "tcpInSegs",
    "tcpOutSegs",
    "tcpInOptErrors",
    "tcpInProtoErrors",
    "iwInRdmaSends",
    "iwOutRdmaSends",
    "iwRdmaBnd",
    "iwRdmaInv",
)

#: The kernel's own traffic, then queues.
NETWORK_STILL = (
    "rx_unicast",
    "tx_unicast",
    "rx_multicast",
    "tx_multicast",
    "rx_broadcast",
    "tx_broadcast",
    "rx_bytes",
    "tx_bytes",
    "rx_dropped",
    "rx_unknown_protocol",
    "rx_alloc_fail",
    "rx_pg_alloc_fail",
    "tx_errors",
    "tx_linearize",
    "tx_busy",
    "tx_restart",
    *(f"tx_queue_{queue}_{what}" for queue in range(2) for what in ("packets", "bytes")),
    *(f"rx_queue_{queue}_{what}" for queue in range(2) for what in ("packets", "bytes")),
)

PORT_STILL = (
    "rx_multicast.nic",
    "tx_multicast.nic",
    "rx_broadcast.nic",
    "tx_broadcast.nic",
    "tx_errors.nic",
    "tx_timeout.nic",
    *(
        f"{way}_size_{size}.nic"
        for size in ("64", "127", "255", "511", "1023", "1522", "big")
        for way in ("rx", "tx")
    ),
)

PORT_ERRORS = (
    "tx_dropped_link_down.nic",
    "rx_undersize.nic",
    "rx_fragments.nic",
    "rx_oversize.nic",
    "rx_jabber.nic",
    "rx_csum_bad.nic",
    "rx_length_errors.nic",
    "rx_dropped.nic",
    "rx_crc_errors.nic",
    "illegal_bytes.nic",
    "mac_local_faults.nic",
    "mac_remote_faults.nic",
    "fdir_sb_match.nic",
    "fdir_sb_status.nic",
)


def pma(port: Port, tally: Tally) -> dict[str, int]:
    """Return no file: the driver answers no performance agent."""
    return {}


def hardware(port: Port, tally: Tally) -> dict[str, int]:
    """Return the files of `hw_counters/` and their values; `lifespan` is a setting among them."""
    older = past(port)
    sent, received = sum(tally.sent_packets), sum(tally.received_packets)
    requests = older // 2**20
    return visible(
        port,
        {
            **_still(HARDWARE_STILL),
            "ip4InOctets": older + sum(tally.received_bytes),
            "ip4InPkts": older // 4096 + received,
            "ip4OutOctets": older + sum(tally.sent_bytes),
            "ip4OutPkts": older // 4096 + sent,
            "RxUDP": older // 4096 + received,
            "TxUDP": older // 4096 + sent,
            "iwInRdmaReads": requests,
            "iwInRdmaWrites": requests + tally.write_requests,
            "iwOutRdmaReads": requests + tally.read_requests,
            "iwOutRdmaWrites": requests,
            "tcpRetransSegs": STALE["tcpRetransSegs"] + tally.resent,
            "cnpHandled": int(tally.heeded),
            "cnpIgnored": int(tally.ignored),
            "cnpSent": int(tally.notices),
            "RxECNMrkd": int(tally.marked),
            "lifespan": 10,
        },
    )


def ethernet(port: Port, tally: Tally) -> dict[str, int]:
    """Return the lines of `ethtool -S`, in the order of the driver; `.nic` are the port's own."""
    older = past(port)
    sent, received = sum(tally.sent_packets), sum(tally.received_packets)
    return visible(
        port,
        {
            **_still(NETWORK_STILL),
            "rx_bytes.nic": older + sum(tally.received_bytes) + 4 * received,
            "tx_bytes.nic": older + sum(tally.sent_bytes) + 4 * sent,
            "rx_unicast.nic": older // 4096 + received,
            "tx_unicast.nic": older // 4096 + sent,
            **_still(PORT_STILL),
            **_link_pauses(port, tally),
            **_still(PORT_ERRORS),
            "mac_local_faults.nic": STALE["mac_local_faults.nic"] + lost(port, tally),
            "rx_crc_errors.nic": tally.damaged,
            "rx_dropped.nic": STALE["rx_dropped.nic"] + tally.discards,
            **_priority_pauses(port, tally),
        },
    )


def pauses(port: Port, tally: Tally) -> dict[str, int]:
    """Return the counters of pause, which are there whether flow control is on or off."""
    return _link_pauses(port, tally) | _priority_pauses(port, tally)


def _link_pauses(port: Port, tally: Tally) -> dict[str, int]:
    received = 0 if port.lossless else tally.pauses[0]
    return {
        "link_xon_rx.nic": received,
        "link_xon_tx.nic": 0,
        "link_xoff_rx.nic": received,
        "link_xoff_tx.nic": 0,
    }


def _priority_pauses(port: Port, tally: Tally) -> dict[str, int]:
    values: dict[str, int] = {}
    for way in ("tx", "rx"):
        for p in range(PRIORITIES):
            count = 0
            if p in port.lossless and way == "rx":
                count = 41 + tally.pauses[p]
            elif p in port.lossless:
                count = 12 + paused_us(port, tally, p) // 50
            values[f"{way}_priority_{p}_xon.nic"] = count
            values[f"{way}_priority_{p}_xoff.nic"] = count
    return values


def _still(names: tuple[str, ...]) -> dict[str, int]:
    return {name: STALE.get(name, 0) for name in names}
