"""The memory of GPUs: what perftest says when it takes some, and how fast a card reaches it."""

from __future__ import annotations

from pytest_fabric.lab import kfd, physics
from pytest_fabric.lab.model import Node
from pytest_fabric.lab.perftest.options import Options
from pytest_fabric.lab.perftest.programs import Program

#: What is left where the bridges send up to the root what card and GPU exchange, or an IOMMU
#: translates it: linux-rdma/perftest#241 tells 11 of 23 GB/s.
DETOUR = 0.5

#: What perftest prints where the memory of a GPU cannot be had, or a card cannot register it.
NO_GPU = "Failed to init memory\n Couldn't create IB resources\n"
NOT_REGISTERED = (
    "Couldn't allocate MR\nfailed to create mr\nFailed to create MR\n"
    " Couldn't create IB resources\n"
)

NAMES = {"cuda": "NVIDIA H100 80GB HBM3", "rocm": "AMD Instinct MI300X"}


def trouble(program: Program) -> str | None:
    """Return the error of a program that gets no memory of its GPU, None where all is well."""
    options, node = program.options, program.node
    if options.gpu is None:
        return None
    if _number(node, options) is None:
        return NO_GPU
    return None if node.peer_memory or options.is_dmabuf else NOT_REGISTERED


def reach_bps(program: Program) -> float:
    """Return the payload bits per second that a card exchanges with the memory of its messages."""
    whole = physics.pcie_bps(program.port)
    if program.options.gpu is None:
        return whole
    node = program.node
    is_detour = node.redirects or node.iommu == "translated"
    return whole * min(program.port.gpu_passes, DETOUR if is_detour else 1.0)


def preamble(program: Program) -> str:
    """Return what perftest prints in front of its facts; nothing for memory of the host."""
    options, node = program.options, program.node
    number = _number(node, options) if options.gpu is not None else None
    if number is None:
        return ""
    size = 2 * options.size * options.qps
    address = 0x7F3FA4000000
    if program.port.gpu_api == "rocm":
        return f"Using ROCm Device with ID: {number}, Name: {NAMES['rocm']}\n"
    places = [one.split(":") for one in _cuda(node)]
    listed = "".join(
        f"CUDA device {at}: PCIe address is {bus.upper()}:{device[:2].upper()}\n"
        for at, (_, bus, device) in enumerate(places)
    )
    return (
        f"initializing CUDA\nListing all CUDA devices in system:\n{listed}\n"
        f"Picking device No. {number}\n"
        f"[pid = {4000 + number}, dev = {number}] device name = [{NAMES['cuda']}]\n"
        "creating CUDA Ctx\nmaking it the current CUDA Ctx\n"
        f"cuMemAlloc() of a {size} bytes GPU buffer\n"
        f"allocated GPU buffer address at {address:016x} pointer={address:#x}\n"
    )


def _cuda(node: Node) -> list[str]:
    return sorted(port.gpu for port in node.ports if port.gpu and port.gpu_api == "cuda")


def _number(node: Node, options: Options) -> int | None:
    """Return which of its kind a GPU is, None for one that the node does not have."""
    found = options.gpu or ""
    if found.isdigit():
        return int(found) if int(found) < len(kfd.gpus(node)) else None
    known = _cuda(node)
    return known.index(found) if found in known else None
