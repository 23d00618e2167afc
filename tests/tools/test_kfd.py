"""ROCm counts its GPUs as the topology of amdkfd lists them, and by nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.tools import kfd

NODE = "/sys/class/kfd/kfd/topology/nodes"


def node(number: int, units: int, place: int, domain: int | None = 0) -> str:
    lines = [f"simd_count {units}", f"location_id {place}", "simd_per_cu 4"]
    lines += [] if domain is None else [f"domain {domain}"]
    return "".join(f"{NODE}/{number}/properties:{line}\n" for line in lines)


CPUS = node(0, 0, 0) + node(1, 0, 0)


def test_sockets_are_no_gpus_and_nodes_are_counted_as_numbers() -> None:
    text = CPUS + node(10, 1216, 0x4300) + node(2, 1216, 0x1B00)

    assert kfd.gpus(text) == ("0000:1b:00.0", "0000:43:00.0")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        (node(0, 1216, 0x1B00, domain=2), "0002:1b:00.0"),
        (node(0, 1216, 0x1B00, domain=None), "0000:1b:00.0"),
        (node(0, 1216, 0x1B09), "0000:1b:01.1"),
        (node(0, 1216, 0x10000), ""),
    ],
)
def test_a_place_is_a_pci_address_where_the_kernel_tells_one(text: str, address: str) -> None:
    """What it does not tell keeps its number, so that the others keep theirs."""
    assert kfd.gpus(text + node(1, 1216, 0x4300)) == (address, "0000:43:00.0")


@given(st.text())
def test_other_text_is_no_gpu(text: str) -> None:
    assert kfd.gpus(text) == ()
