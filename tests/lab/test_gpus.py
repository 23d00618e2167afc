"""The memory of GPUs in the lab: perftest finds them by the kind that is there, and its detours."""

from __future__ import annotations

import pytest

from pytest_fabric.errors import FabricError
from pytest_fabric.tools import kfd, perftest

from .clusters import ROCE, fabric, run
from .perftest_pairs import Pair, row

PORT = "0000:1a:00.0"
GPU = "0000:1b:00.0"
CUDA = ROCE.replace("leaf: leaf-0}", f'leaf: leaf-0, gpu: "{GPU}"}}')
ROCM = CUDA.replace("    sudo: [ethtool]", "    sudo: [ethtool]\n    gpu_memory: rocm")
BUS = f"--use_cuda_bus_id={GPU}"
RUN = "ib_write_bw -x 3 -D 4 -s 1048576 -q 4"


@pytest.mark.parametrize(("text", "option"), [(CUDA, BUS), (ROCM, "--use_rocm=0")])
def test_messages_from_gpus_fill_a_healthy_port(text: str, option: str) -> None:
    """Our own parser reads the numbers below what perftest says of the GPU."""
    client, server = Pair(fabric(text)).run(f"{RUN} {option}")

    found = perftest.parse(client.stdout).bandwidth[0]
    assert found.average_bps > 380e9
    assert perftest.parse(server.stdout).bandwidth[0].average_bps == found.average_bps
    assert "GPU buffer" in client.stdout or "ROCm Device" in client.stdout


@pytest.mark.parametrize("fault", ["gpu_detour@gpu002:rail0", "acs@gpu001", "iommu@gpu002"])
def test_a_detour_halves_only_what_gpus_send(fault: str) -> None:
    gpus, hosts = (row(Pair(fabric(CUDA, fault)).run(f"{RUN} {o}")[0])[3] for o in (BUS, "-F"))

    assert gpus < 0.65 * hosts


def test_without_a_module_a_card_cannot_register_the_memory_of_gpus() -> None:
    """A dmabuf needs none; the peer only sees that the other end is gone."""
    world = fabric(CUDA, "no_peer_memory@gpu002")
    client, server = Pair(world).run(f"{RUN} {BUS}")

    errors = [perftest.find_error(f"{end.stdout}\n{end.stderr}") for end in (client, server)]
    assert [error.kind for error in errors if error] == ["peer_lost", "mr_alloc"]
    whole, _ = Pair(fabric(CUDA, "no_peer_memory@gpu002")).run(f"{RUN} {BUS} --use_cuda_dmabuf")
    assert perftest.parse(whole.stdout).bandwidth


@pytest.mark.parametrize("option", ["--use_cuda_bus_id=0000:99:00.0", "--use_rocm=0"])
def test_a_gpu_that_is_not_there_is_no_result(option: str) -> None:
    client, _ = Pair(fabric(CUDA)).run(f"{RUN} {option}")

    assert client.status == "1"
    with pytest.raises(FabricError):
        perftest.parse(f"{client.stdout}\n{client.stderr}")


def test_the_gpus_of_rocm_are_those_of_the_inventory() -> None:
    command = f"grep -sH '{kfd.LINES}' {kfd.PATHS}"

    assert kfd.gpus(run(command, ROCM).stdout) == (GPU,)
    assert kfd.gpus(run(command, CUDA).stdout) == ()
