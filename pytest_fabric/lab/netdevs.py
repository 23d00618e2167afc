"""The network devices of a lab node in /sys/class/net: those of ports, members of bonds, others."""

from __future__ import annotations

import errno
from collections.abc import Callable

from pytest_fabric.lab import gids, growth
from pytest_fabric.lab.filesystem import Entry, Live, Unreadable
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.tally import Tally

#: Ethernet MTU that carries an RDMA MTU, as sites set it.
NETDEV_MTU = {4096: 9000, 2048: 4096, 1024: 1500}

#: The aggregator of LACP that carries the traffic of a bond, and that of a member that is apart.
ACTIVE, APART = 1, 2

#: Losses of carrier in the life of a healthy member.
FAILURES = 2


def entries(
    port: Port, tally: Callable[[Port], Tally], uptime: Callable[[], float]
) -> dict[str, Entry]:
    """Return the network devices of a port by name, that of its bond included."""
    found: dict[str, Entry] = {
        name: {**_netdev(port, place, tally, uptime), **_membership(port, name)}
        for place, name in enumerate(port.netdevs)
    }
    return {**found, bond(port): _bond(port)} if port.is_bond else found


def bond(port: Port) -> str:
    """Return the name of the bond of a port that has several netdevs."""
    return f"bond{port.guid % 100}"


def netdev_mtu(port: Port) -> int:
    """Return the MTU of a port's netdev; that of IPoIB on InfiniBand."""
    return NETDEV_MTU.get(port.mtu, port.mtu + 100) if port.is_ethernet else 4092


def _bond(port: Port) -> dict[str, Entry]:
    """Return a bond as the kernel shows one with LACP, to whoever asks."""
    carrying = port.carrying
    return {
        "mtu": str(netdev_mtu(port)),
        "operstate": "up" if carrying else "down",
        "address": gids.mac(port.guid),
        "speed": str(int(port.speed_bps / 1e6)) if carrying else Unreadable(errno.EINVAL),
        "ifindex": str(300 + port.guid % 100),
        "carrier_down_count": "1",
        "bonding": {
            "slaves": " ".join(port.netdevs),
            "mode": "802.3ad 4",
            "mii_status": "up" if carrying else "down",
            "xmit_hash_policy": "layer3+4 1",
            "ad_aggregator": str(ACTIVE),
            "ad_num_ports": str(len(carrying)),
        },
    }


def _membership(port: Port, name: str) -> dict[str, Entry]:
    """Return what a member says of itself: `mii_status` is its own link, not what LACP made."""
    if not port.is_bond:
        return {}
    state = port.members.get(name, "up")
    return {
        "bonding_slave": {
            "state": "active" if state == "up" else "backup",
            "mii_status": "down" if state == "down" else "up",
            "link_failure_count": str(FAILURES + (state == "down")),
            "ad_aggregator_id": str(ACTIVE if state == "up" else APART),
        }
    }


def _netdev(
    port: Port, member: int, tally: Callable[[Port], Tally], uptime: Callable[[], float]
) -> dict[str, Entry]:
    name = port.netdevs[member]
    up = port.state == "ACTIVE" and port.members.get(name) != "down"
    lost = FAILURES + port.signal.flaps + (port.members.get(name) == "down")
    return {
        "speed": str(int(port.member_bps / 1e6)) if up else Unreadable(errno.EINVAL),
        "mtu": str(netdev_mtu(port)),
        "operstate": "up" if up else "down",
        "address": gids.mac(port.guid, member),
        "carrier_down_count": Live(lambda: str(lost + port.aging.flaps(uptime()))),
        "ifindex": str(3 + port.guid % 1000 * 2 + member),
        # What passes the kernel; RDMA does not, so on mlx5 it is in no counter of the netdev.
        "statistics": {
            **{name: str(growth.STALE[name]) for name in ("rx_packets", "tx_packets")},
            "rx_bytes": _kernel(port, member, tally, "rx_bytes", "kernel_received"),
            "tx_bytes": _kernel(port, member, tally, "tx_bytes", "kernel_sent"),
        },
    }


def _kernel(
    port: Port, member: int, tally: Callable[[Port], Tally], name: str, moved: str
) -> Entry:
    """Return the bytes of a netdev; of a bond, the first member that carries has them."""
    first = growth.STALE[name]
    if port.netdevs[member] not in port.carrying[:1]:
        return str(first)
    return Live(lambda: str(first + getattr(tally(port), moved)))


def loopback() -> dict[str, Entry]:
    """Return the loopback device."""
    return {
        "speed": Unreadable(errno.EINVAL),
        "mtu": "65536",
        "operstate": "unknown",
        "address": "00:00:00:00:00:00",
        "carrier_down_count": "0",
        "ifindex": "1",
    }


def management() -> dict[str, Entry]:
    """Return the network device of the management network."""
    return {
        "speed": "1000",
        "mtu": "1500",
        "operstate": "up",
        "address": "3c:ec:ef:00:00:01",
        "carrier_down_count": "1",
        "ifindex": "2",
    }
