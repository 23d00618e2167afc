"""The GPUs of ROCm in its own order: the topology that the kernel's amdkfd shows in sysfs.

ROCm counts the nodes of the topology that have SIMD units, in their order; perftest's `--use_rocm`
takes that number. Names from drivers/gpu/drm/amd/amdkfd/kfd_topology.c of the Linux kernel.
"""

from __future__ import annotations

import re

#: The shell pattern of the files to read, and what keeps the lines that matter of some forty each:
#: simd_count, location_id, domain, and a few others.
PATHS = "/sys/class/kfd/kfd/topology/nodes/*/properties"
LINES = "^[sld][io][mc]"

_LINE = re.compile(r"/sys/class/kfd/kfd/topology/nodes/(\d+)/properties:(\w+) (\d+)", re.ASCII)


def gpus(text: str) -> tuple[str, ...]:
    """Return the PCI addresses of the GPUs in ROCm's order, of the output of `grep -sH`.

    A GPU whose place the kernel does not tell keeps its number, with an address of "".
    """
    nodes: dict[int, dict[str, int]] = {}
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is not None:
            nodes.setdefault(int(match[1]), {})[match[2]] = int(match[3])
    return tuple(_address(nodes[number]) for number in sorted(nodes) if _is_gpu(nodes[number]))


def _is_gpu(node: dict[str, int]) -> bool:
    return node.get("simd_count", 0) > 0


def _address(node: dict[str, int]) -> str:
    """Return the PCI address: `location_id` is bus, device and function, 8, 5 and 3 bits."""
    place = node.get("location_id")
    if place is None or place >= 2**16:
        return ""
    domain = node.get("domain", 0)
    return f"{domain:04x}:{place >> 8:02x}:{place >> 3 & 0x1F:02x}.{place & 7}"
