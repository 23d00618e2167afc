"""The memory of the GPU beside a port, as perftest is told to use it."""

from __future__ import annotations

from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure.end import End
from pytest_fabric.tools import perftest


def gpu_memory(end: End) -> tuple[str, ...]:
    """Return perftest's options for the memory of the GPU that is declared beside a port.

    Raises MeasurementError for a GPU that they cannot name: CUDA's takes a PCI address, ROCm's a
    number, which the node must tell.
    """
    kind, gpu = end.rail.gpu_memory, end.rail.gpu
    if kind is None or gpu is None:
        raise _error(end, "expected `gpu` of the rail and `gpu_memory` of its profile, found none")
    if gpu.startswith("GPU-"):
        raise _error(
            end,
            f"expected the PCI address of the GPU for {kind} memory, found its UUID: declare "
            '`gpu: "0000:1b:00.0"`; `nvidia-smi --query-gpu=uuid,pci.bus_id` tells it',
        )
    family, _, registered = kind.partition("_")
    is_dmabuf = registered == "dmabuf"
    if family == "cuda":
        return perftest.cuda_memory(gpu, is_dmabuf)
    known = end.node.rocm
    if gpu not in known:
        raise _error(
            end,
            f"expected a GPU of ROCm at {gpu}, found {', '.join(known) or 'none'} in "
            "/sys/class/kfd: load amdgpu, or correct `gpu` of the rail",
        )
    return perftest.rocm_memory(known.index(gpu), is_dmabuf)


def _error(end: End, message: str) -> MeasurementError:
    return MeasurementError(str(end.port), "gpu", message)
