"""What the file system of a lab node says about the class of RDMA traffic, and about subnets."""

from __future__ import annotations

from pytest_fabric.lab.filesystem import Entry
from pytest_fabric.lab.model import Node, Port

PRIORITIES = range(8)

ROUTE_TITLE = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"


def entries(node: Node) -> dict[str, Entry]:
    """Return files by path."""
    found: dict[str, Entry] = {"/proc/net/route": _routes(node)}
    guards = ("1", "2") if node.guards_arp else ("0", "0")
    found |= _arp("all", guards)
    for name in ("default", "lo", "eno1"):
        found |= _arp(name, ("0", "0"))
    for port in (port for port in node.ports if port.is_ethernet):
        forced = port.class_override
        text = "" if forced is None else f"Global tclass={forced}"
        found[f"/sys/class/infiniband/{port.device}/tc/1/traffic_class"] = text
        for netdev in port.netdevs:
            found |= _arp(netdev, ("0", "0"))
            if port.adapter.owner == "host":
                found[f"/sys/class/net/{netdev}/ecn"] = _ecn(port)
    return found


def _arp(interface: str, values: tuple[str, str]) -> dict[str, Entry]:
    ignore, announce = values
    path = f"/proc/sys/net/ipv4/conf/{interface}"
    return {f"{path}/arp_ignore": ignore, f"{path}/arp_announce": announce}


def _ecn(port: Port) -> dict[str, Entry]:
    """Return `ecn` of a network device, as the driver of MLNX_OFED shows it."""
    dscp, priority = port.cnp
    flags = {
        point: {str(number): "1" if point in port.ecn else "0" for number in PRIORITIES}
        for point in ("np", "rp")
    }
    return {
        "roce_np": {"enable": flags["np"], "cnp_dscp": str(dscp), "cnp_802p_prio": str(priority)},
        "roce_rp": {"enable": flags["rp"]},
    }


def _routes(node: Node) -> str:
    """Return `/proc/net/route`: the management network, and that of each rail with IPv4."""
    rows = [
        _route("eno1", 0, int.from_bytes(bytes((192, 0, 2, 1)), "big"), 0),
        _route("eno1", int.from_bytes(bytes((192, 0, 2, 0)), "big"), 0, 0xFFFFFF00),
    ]
    for port in node.ports:
        network = port.network
        if network is not None and network.version == 4 and port.is_ethernet:
            address, mask = int(network.network_address), int(network.netmask)
            rows.append(_route(port.gids[0].netdev or port.netdevs[0], address, 0, mask))
    return "\n".join([ROUTE_TITLE, *rows])


def _route(interface: str, address: int, gateway: int, mask: int) -> str:
    """Return a row; the kernel prints addresses as numbers of the machine, here little-endian."""
    words = [
        int.from_bytes(number.to_bytes(4, "big"), "little") for number in (address, gateway, mask)
    ]
    flags = "0003" if gateway else "0001"
    return f"{interface}\t{words[0]:08X}\t{words[1]:08X}\t{flags}\t0\t0\t0\t{words[2]:08X}\t0\t0\t0"
