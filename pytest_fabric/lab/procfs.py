"""Settings of a lab node's kernel: its command line, and /proc/sys."""

from __future__ import annotations

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
}

BOOT = "BOOT_IMAGE=/boot/vmlinuz-{kernel} root=/dev/mapper/vg0-root ro{iommu} quiet"
IOMMU = {"pt": " amd_iommu=on iommu=pt", "translated": " amd_iommu=on", "off": " amd_iommu=off"}


def files(node: Node) -> dict[str, str]:
    """Return path -> text, without the last newline."""
    return {
        "/proc/cmdline": BOOT.format(kernel=node.kernel, iommu=IOMMU[node.iommu]),
        "/sys/module/mlx5_core/version": next((port.driver for port in node.ports), machine.DRIVER),
        **{f"/proc/sys/{name}": text for name, text in SETTINGS.items()},
    }
