"""The memory of a GPU is named as perftest can find it, or it is an error of one line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fabric import gpu_bandwidth
from pytest_fabric.config import Cluster, load
from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure import plan
from pytest_fabric.measure.end import End
from pytest_fabric.measure.gpu import gpu_memory
from pytest_fabric.measure.plan import Policy, Want
from pytest_fabric.results import Pair, PairGroup, Port
from tests.measure.topics.ends import FACTS, subject

AMD = "  amd: {extends: cx7, gpu_memory: rocm}\n"
GPU = "0000:1b:00.0"
UUID = "GPU-01234567-0123-0123-0123-0123456789ab"
GROUP = PairGroup("gpu001", (Pair(Port("gpu001", "rail0"), Port("gpu002", "rail0")),))


def side(memory: str | None, gpu: str | None = GPU, rocm: tuple[str, ...] = ()) -> End:
    found = subject().ends[0]
    profile = found.rail.profile.model_copy(update={"gpu_memory": memory})
    rail = found.rail.model_copy(update={"profile": profile, "gpu": gpu})
    return replace(found, rail=rail, node=replace(FACTS, rocm=rocm))


@pytest.mark.parametrize(
    ("memory", "rocm", "words"),
    [
        ("cuda", (), f"--use_cuda_bus_id={GPU}"),
        ("cuda_dmabuf", (), f"--use_cuda_bus_id={GPU} --use_cuda_dmabuf"),
        ("rocm", ("0000:05:00.0", GPU), "--use_rocm=1"),
        ("rocm_dmabuf", (GPU,), "--use_rocm=0 --use_rocm_dmabuf"),
    ],
)
def test_the_options_name_the_declared_gpu(memory: str, rocm: tuple[str, ...], words: str) -> None:
    assert " ".join(gpu_memory(side(memory, rocm=rocm))) == words


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (side("cuda", UUID), "expected the PCI address of the GPU for cuda memory, found its UUID"),
        (side("rocm"), "expected a GPU of ROCm at 0000:1b:00.0, found none in /sys/class/kfd"),
        (side("rocm", rocm=("0000:05:00.0",)), "found 0000:05:00.0 in /sys/class/kfd"),
        (side(None), "expected `gpu` of the rail and `gpu_memory`"),
        (side("cuda", None), "expected `gpu` of the rail and `gpu_memory`"),
    ],
)
def test_a_gpu_that_cannot_be_named_is_an_error(told: End, message: str) -> None:
    with pytest.raises(MeasurementError) as caught:
        gpu_memory(told)

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def cluster(tmp_path: Path) -> Cluster:
    text = (Path(__file__).parents[2] / "cluster.yaml").read_text()
    lines = [line for line in text.splitlines() if "cables.csv" not in line]
    text = "\n".join(lines[: lines.index("switches:")])
    changed = text.replace("  gpu[001-004]:", "  gpu002: {profile: amd}\n  gpu[001,003-004]:")
    (tmp_path / "cluster.yaml").write_text(changed.replace("  cx7:\n", f"{AMD}  cx7:\n", 1))
    return load(tmp_path / "cluster.yaml")


def test_two_kinds_of_memory_are_no_pair(tmp_path: Path) -> None:
    """What is slow would be told of the wrong end."""
    with pytest.raises(MeasurementError, match="one `gpu_memory` at both ends, found cuda"):
        plan.job_of(Want(gpu_bandwidth(), GROUP), cluster(tmp_path), Policy())


def test_the_memory_is_part_of_what_is_measured() -> None:
    lab = load(Path(__file__).parents[2] / "cluster.yaml")
    job = plan.job_of(Want(gpu_bandwidth(), GROUP), lab, Policy())

    assert job.key == (
        "gpu001 gpu_bandwidth size=1048576 duration_s=10 qps=4 traffic_class=106 priority=3 "
        "directions=2 memory=cuda"
    )
    assert [member.settings.memory for member in job.members] == ["cuda"]
