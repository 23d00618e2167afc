"""A collective: what ranks are told, what the table shows, and what is no value."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fabric.config import load_text
from pytest_fabric.errors import ConfigError, MeasurementError
from pytest_fabric.measure.topics import collective
from pytest_fabric.measure.topics.topic import Subject
from pytest_fabric.results import Fact, Gid
from pytest_fabric.tools import allowed
from pytest_fabric.transport import Outcome
from tests.clusters import TEXT
from tests.lab.clusters import INFINIBAND

from .ends import LATE, MISSING, RDMA, outcome, subject

ASKED = "collectives: {{launcher: gpu001, gpus_per_node: 4, path: /opt/nccl{more}}}\n"
PORT = replace(RDMA, gids=(Gid(3, "::ffff:10.1.0.1", "RoCE v2", "ens1"),))
DATA = Path(__file__).parents[2] / "data/nccl-tests"


def launcher(more: str = "", text: str = TEXT) -> Subject:
    site = load_text(text + ASKED.format(more=more), Path("cluster.yaml"))
    return subject(PORT, site=site)


def read(said: Outcome, more: str = "") -> Mapping[str, Fact]:
    return collective.read(launcher(more), {"nccl": said})["fabric"]


def stored(case: str) -> Outcome:
    return outcome((DATA / f"{case}.txt").read_text())


def test_ranks_are_told_the_ports_and_the_class_that_are_tested() -> None:
    """DSCP 26 is traffic class 104; the GID is the one that perftest uses."""
    (words,) = collective.sections(launcher()).values()

    assert shlex.join(map(str, words)) == (
        "mpirun -np 8 -H gpu001:4,gpu002:4 --bind-to numa -x NCCL_IB_HCA==mlx5_0:1 "
        "-x NCCL_IB_GID_INDEX=3 -x NCCL_IB_TC=104 /opt/nccl/all_reduce_perf -b 268435456 "
        "-e 8589934592 -f 2 -g 1 -n 20"
    )
    allowed.require([str(word) for word in words])


@pytest.mark.parametrize(
    ("more", "where"),
    [("", "--immediate=60"), (", job: 4711", "--jobid=4711 --overlap")],
)
def test_slurm_starts_the_ranks_where_it_is_asked_to(more: str, where: str) -> None:
    """A value with a comma reaches the ranks whole: `env` tells it, and not `--export`."""
    extra = ', env: {NCCL_SOCKET_IFNAME: "eno1,eno2"}'
    (words,) = collective.sections(launcher(f", launch_with: srun{more}{extra}")).values()

    assert shlex.join(map(str, words)) == (
        f"srun {where} --nodes=2 --ntasks=8 --ntasks-per-node=4 --gpus-per-node=4 "
        "--nodelist=gpu001,gpu002 --kill-on-bad-exit=1 env NCCL_IB_HCA==mlx5_0:1 "
        "NCCL_IB_GID_INDEX=3 NCCL_IB_TC=104 NCCL_SOCKET_IFNAME=eno1,eno2 "
        "/opt/nccl/all_reduce_perf -b 268435456 -e 8589934592 -f 2 -g 1 -n 20"
    )
    allowed.require([str(word) for word in words])


def test_a_step_of_an_allocation_is_for_slurm_only() -> None:
    with pytest.raises(ConfigError, match="expected launch_with: srun beside job"):
        launcher(", job: 4711")


def test_infiniband_has_a_service_level() -> None:
    text = INFINIBAND + ASKED.format(more="").replace("gpu001", "ib1")
    port = replace(PORT, link_layer="InfiniBand", device="mlx5_3", gids=())
    site = load_text(
        text.replace("mtu: 4096}", "mtu: 4096}\n    infiniband: {service_level: 2}"),
        Path("cluster.yaml"),
    )

    assert collective.environment(subject(port, site=site)) == {
        "NCCL_IB_HCA": "=mlx5_3:1",
        "NCCL_IB_SL": "2",
    }


def test_what_the_cluster_file_says_wins_and_another_class_is_told() -> None:
    """The classic: the fabric is green, and the job travels in the best-effort class."""
    more = ", env: {NCCL_IB_TC: 0, NCCL_DEBUG: WARN}".replace(": 0", ': "0"')
    facts = read(stored("new"), more)

    assert collective.environment(launcher(more))["NCCL_DEBUG"] == "WARN"
    assert facts["collective.other_class"].value == 1
    assert facts["collective.other_class"].detail[0] == (
        "gpu001:rail0: NCCL_IB_TC 0, tested in DSCP 26"
    )


@pytest.mark.parametrize(("forced", "odd"), [(None, 0), (-1, 0), (106, 0), (0, 1)])
def test_a_global_traffic_class_of_a_port_wins(forced: int | None, odd: int) -> None:
    site = load_text(TEXT + ASKED.format(more=""), Path("cluster.yaml"))
    asked = subject(replace(PORT, traffic_class=forced), site=site)
    fact = collective.read(asked, {"nccl": stored("new")})["fabric"]["collective.other_class"]

    assert fact.value == odd
    told = [line for line in fact.detail if "global traffic class" in line]
    assert told == ["gpu001:rail0: global traffic class 0, not DSCP 26"] * odd


def test_a_run_has_the_bandwidth_of_its_largest_message() -> None:
    """The lower of both ways of using the buffers, never the average over all sizes."""
    facts = read(stored("new"))

    assert facts["collective.busbw"].value == 225e9
    assert (
        facts["collective.busbw"].detail[-1] == "32 B: 225 GB/s out of place, 226.87 GB/s in place"
    )
    assert (facts["collective.wrong"].value, facts["collective.other_class"].value) == (0, 0)


def test_wrong_values_are_counted_and_unchecked_ones_are_no_zero() -> None:
    wrong = read(stored("wrong-values"))["collective.wrong"]
    unchecked = read(stored("old-unchecked"))["collective.wrong"]

    assert isinstance(wrong.value, int)
    assert wrong.value > 0
    assert (unchecked.value, unchecked.problem) == (
        None,
        "all_reduce_perf did not check its values",
    )


@pytest.mark.parametrize(
    "said",
    [
        MISSING,
        LATE,
        outcome(""),
        stored("cut-off"),
        stored("not-mpi"),
        stored("row-missing"),
        stored("slots"),
        stored("nccl-failure"),
        outcome((DATA / "new.txt").read_text(), status=1),
    ],
)
def test_what_failed_has_no_value(said: Outcome) -> None:
    facts = read(said)

    for metric in ("collective.busbw", "collective.wrong"):
        assert facts[metric].value is None
        assert (facts[metric].problem or "").startswith("from gpu001: ")


def test_ports_with_other_gid_indices_cannot_be_told_to_nccl() -> None:
    text = TEXT.replace(
        "rails:\n", 'rails:\n  rail1: {pci: "0000:3a:00.0", network: 10.2.0.0/16}\n'
    )
    site = load_text(text + ASKED.format(more=""), Path("cluster.yaml"))
    other = replace(PORT, gids=(Gid(5, "::ffff:10.2.0.1", "RoCE v2", "ens2"),))

    with pytest.raises(MeasurementError, match="expected one GID index for all ports, found 3, 5"):
        collective.sections(subject(other, PORT, site=site))
