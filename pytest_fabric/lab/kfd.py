"""The topology of amdkfd: the sockets of a node, and its AMD GPUs by their PCI addresses."""

from __future__ import annotations

from pytest_fabric.lab import machine
from pytest_fabric.lab.filesystem import Entry
from pytest_fabric.lab.model import Node


def gpus(node: Node) -> list[str]:
    """Return the PCI addresses of a node's AMD GPUs, in the order in which ROCm counts them."""
    return sorted(port.gpu for port in node.ports if port.gpu and port.gpu_api == "rocm")


def topology(node: Node) -> dict[str, Entry]:
    """Return the directory kfd, empty where a node has no GPU of its kind."""
    found = gpus(node)
    if not found:
        return {}
    sockets = [_properties(machine.CORES * 2, 0, 0, 0) for _ in range(machine.SOCKETS)]
    cards = [_properties(0, 1216, *_place(address)) for address in found]
    nodes: dict[str, Entry] = {
        str(number): {"properties": text} for number, text in enumerate([*sockets, *cards])
    }
    return {"kfd": {"kfd": {"topology": {"nodes": nodes}}}}


def _place(address: str) -> tuple[int, int]:
    domain, bus, rest = address.split(":")
    device, function = rest.split(".")
    return int(bus, 16) << 8 | int(device, 16) << 3 | int(function), int(domain, 16)


def _properties(cores: int, units: int, place: int, domain: int) -> str:
    return (
        f"cpu_cores_count {cores}\nsimd_count {units}\nmem_banks_count 1\n"
        f"max_waves_per_simd 0\nlocation_id {place}\ndomain {domain}"
    )
