"""mpirun of the lab prints the table of nccl-tests: our parser reads what the model says."""

from __future__ import annotations

import pytest

from pytest_fabric.errors import ToolError
from pytest_fabric.lab.commands import have
from pytest_fabric.tools import nccl_tests
from pytest_fabric.tools.nccl_tests_results import Report

from .clusters import ROCE, fabric
from .controller import Controller

COMMAND = (
    "mpirun -np 8 -H {hosts} --bind-to numa -x NCCL_IB_TC=104 all_reduce_perf -b 268435456 "
    "-e 8589934592 -f 2 -g 1 -n 20"
)
BOTH = "gpu001:4,gpu002:4"


def report(*faults: str, hosts: str = BOTH) -> Report:
    command = COMMAND.format(hosts=hosts)
    return nccl_tests.parse(Controller(fabric(ROCE, *faults), "gpu001").run(command).stdout)


def busbw(found: Report) -> float:
    return found.rows[-1].out_of_place.busbw_gb_s or 0.0


def test_it_can_be_found() -> None:
    assert have.PATHS["mpirun"] == "/usr/bin/mpirun"


def test_two_ports_of_400g_carry_nearly_100_gb_s() -> None:
    found = report()

    assert (found.collective, len(found.rows), found.out_of_bounds, found.okay) == (
        "all_reduce",
        6,
        0,
        True,
    )
    assert 90 < busbw(found) < 100


@pytest.mark.parametrize("fault", ["link_speed@gpu002:rail1", "pcie_width@gpu001:rail0"])
def test_the_slowest_port_decides(fault: str) -> None:
    assert busbw(report(fault)) < 70


def test_a_node_that_takes_no_part_does_not_matter() -> None:
    assert busbw(report("link_speed@gpu004:rail1")) > 90


def test_wrong_values_are_told() -> None:
    found = report("wrong_values@gpu002")

    assert found.okay is False
    assert found.rows[0].out_of_place.wrong == 12


def test_a_host_that_is_not_there_is_an_error() -> None:
    frame = Controller(fabric(), "gpu001").run(COMMAND.format(hosts="gpu001:4,gpu099:4"))

    assert frame.status == "1"
    with pytest.raises(ToolError, match="unable to reliably start"):
        nccl_tests.parse(frame.stdout + frame.stderr)


SRUN = (
    "srun --immediate=60 --nodes=2 --ntasks=8 --ntasks-per-node=4 --gpus-per-node=4 "
    "--nodelist={hosts} --kill-on-bad-exit=1 env NCCL_IB_TC=104 all_reduce_perf -b 268435456 "
    "-e 8589934592 -f 2 -g 1 -n 20"
)


def test_slurm_starts_the_same_run() -> None:
    frame = Controller(fabric(), "gpu001").run(SRUN.format(hosts="gpu001,gpu002"))

    assert have.PATHS["srun"] == "/usr/bin/srun"
    assert busbw(nccl_tests.parse(frame.stdout)) == busbw(report())


@pytest.mark.parametrize("hosts", ["gpu001,gpu099", "gpu001"])
def test_what_slurm_cannot_start_is_an_error(hosts: str) -> None:
    frame = Controller(fabric(), "gpu001").run(SRUN.format(hosts=hosts))

    assert frame.status == "1"
    with pytest.raises(ToolError, match="Unable to allocate resources"):
        nccl_tests.parse(frame.stdout + frame.stderr)
