"""Settings of a lab node's kernel: its command line, /proc/sys, and the networks it is on."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from pytest_fabric.lab import machine
from pytest_fabric.lab.model import Node

#: As a node that is set up for RDMA has them.
SETTINGS = {
    "kernel/numa_balancing": "0",
    "net/core/rmem_max": "67108864",
    "net/core/wmem_max": "67108864",
    "net/core/netdev_max_backlog": "250000",
    "net/ipv4/tcp_rmem": "4096\t87380\t67108864",
    "net/ipv4/tcp_wmem": "4096\t65536\t67108864",
    "net/ipv4/conf/all/arp_ignore": "1",
    "net/ipv4/conf/all/arp_announce": "2",
    "net/ipv4/conf/all/rp_filter": "2",
}

#: What each network device has of its own, as the kernel starts with it.
DEVICE = {"arp_ignore": "0", "arp_announce": "0", "rp_filter": "0"}

BOOT = "BOOT_IMAGE=/boot/vmlinuz-{kernel} root=/dev/mapper/vg0-root ro{iommu} quiet"
IOMMU = {"pt": " amd_iommu=on iommu=pt", "translated": " amd_iommu=on", "off": " amd_iommu=off"}

TITLE = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT"


def files(node: Node) -> dict[str, str]:
    """Return path -> text, without the last newline."""
    names = ("lo", "eno1", *(name for port in node.ports for name in port.netdevs))
    return {
        "/proc/cmdline": BOOT.format(kernel=node.kernel, iommu=IOMMU[node.iommu]),
        "/proc/net/route": routes(node),
        "/sys/module/mlx5_core/version": next((port.driver for port in node.ports), machine.DRIVER),
        **{f"/proc/sys/{name}": text for name, text in SETTINGS.items()},
        **{
            f"/proc/sys/net/ipv4/conf/{name}/{setting}": text
            for name in names
            for setting, text in DEVICE.items()
        },
    }


def routes(node: Node) -> str:
    """Return the routing table: the way out, and a network for each port that has an address."""
    default = "eno1\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0"
    own = "eno1\t0000000A\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0"
    return "\n".join([TITLE, default, own, *_connected(node)])


def _connected(node: Node) -> Iterator[str]:
    for port in node.ports:
        network = ipaddress.ip_network(port.network) if port.network else None
        if port.is_ethernet and isinstance(network, ipaddress.IPv4Network):
            words = (_word(network.network_address), "00000000", "0001", "0", "0", "0")
            mask = _word(network.netmask)
            yield "\t".join([port.netdevs[0], *words, mask, "0", "0", "0"])


def _word(address: ipaddress.IPv4Address) -> str:
    """Return an address as a little-endian kernel prints it."""
    return address.packed[::-1].hex().upper()
