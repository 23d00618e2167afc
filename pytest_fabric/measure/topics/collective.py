"""One run of all_reduce_perf over the GPUs of many nodes, started by mpirun or srun on one of them.

NCCL is told to use the ports that were tested, in the class that was tested: devices, GID index and
traffic class come from the launcher's ports and their profile, unless the cluster file says others.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fabric.config import Cluster
from pytest_fabric.declare import FABRIC
from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure.topics import heard
from pytest_fabric.measure.topics.heard import Unread
from pytest_fabric.measure.topics.topic import Facts, Subject, Topic
from pytest_fabric.results import Fact
from pytest_fabric.tools import nccl_tests
from pytest_fabric.tools.nccl_tests_results import Report, Row
from pytest_fabric.transport import Outcome
from pytest_fabric.transport.jobs import Word
from pytest_fabric.units import render

#: A sweep to 8 GiB takes a minute at 40 GB/s, and starting a thousand ranks another.
DEADLINE_S = 900.0

METRICS = ("collective.busbw", "collective.wrong", "collective.other_class")

GIGA = 1e9


def is_launcher(cluster: Cluster, node: str) -> bool:
    """Return whether a node is the one that starts the collective."""
    return cluster.collectives is not None and cluster.collectives.launcher == node


def environment(subject: Subject) -> dict[str, str]:
    """Return what every rank is told. Raises MeasurementError where ports need different words."""
    assert subject.cluster is not None
    assert subject.cluster.collectives is not None
    ends = subject.ends
    told = {"NCCL_IB_HCA": "=" + ",".join(f"{e.rdma.device}:{e.rdma.number}" for e in ends)}
    gids = (end.gid for end in ends)
    indices = sorted({gid.index for gid in gids if gid is not None})
    if len(indices) > 1:
        raise MeasurementError(
            subject.node,
            "gid",
            f"expected one GID index for all ports, found {', '.join(map(str, indices))}: NCCL "
            "takes one, see NCCL_IB_GID_INDEX in collectives.env",
        )
    if indices:
        told["NCCL_IB_GID_INDEX"] = str(indices[0])
    classes = {end.rail.profile.roce.dscp for end in ends if end.rail.profile.roce}
    levels = {
        end.rail.profile.infiniband.service_level for end in ends if end.rail.profile.infiniband
    }
    if len(classes) == 1 and None not in classes:
        told["NCCL_IB_TC"] = str((classes.pop() or 0) << 2)
    if len(levels) == 1:
        told["NCCL_IB_SL"] = str(levels.pop())
    return {**told, **subject.cluster.collectives.env}


def sections(subject: Subject) -> Mapping[str, tuple[Word, ...]]:
    """Return the one command. Raises MeasurementError."""
    assert subject.cluster is not None
    asked = subject.cluster.collectives
    assert asked is not None
    hosts = subject.cluster.collective_nodes()
    sizes = (str(int(asked.smallest.number)), str(int(asked.largest.number)))
    try:
        program, *rest = nccl_tests.command("all_reduce", *sizes, iterations=asked.iterations)
        run = (f"{asked.path.rstrip('/')}/{program}" if asked.path else program, *rest)
        ranks = (hosts, asked.gpus_per_node, environment(subject), run)
        if asked.launch_with == "srun":
            words = nccl_tests.launch_in_slurm(*ranks, asked.job)
        else:
            words = nccl_tests.launch(*ranks)
    except ValueError as error:
        raise MeasurementError(subject.node, "arguments", f"all_reduce_perf: {error}") from None
    return {"nccl": words}


def read(subject: Subject, outcomes: Mapping[str, Outcome]) -> Facts:
    """Return what the run showed, as the target `fabric`."""
    try:
        report = heard.read(outcomes, "nccl", "all_reduce_perf", nccl_tests.parse)
    except Unread as error:
        problem = f"from {subject.node}: {error}"
        return {FABRIC: dict.fromkeys(METRICS, Fact(None, problem))}
    values = (_bandwidth(report), _wrong(report), _other_class(subject))
    return {FABRIC: dict(zip(METRICS, values, strict=True))}


def _bandwidth(report: Report) -> Fact:
    """Return the bus bandwidth of the largest message, the lower of out of place and in place."""
    last = max(report.rows, key=lambda row: row.size_bytes)
    found = [half.busbw_gb_s for half in (last.out_of_place, last.in_place)]
    told = [number for number in found if number is not None]
    if not told:
        return Fact(None, "all_reduce_perf told no bus bandwidth of the largest message")
    return Fact(min(told) * GIGA, detail=tuple(_line(row) for row in report.rows))


def _line(row: Row) -> str:
    halves = {"out of place": row.out_of_place, "in place": row.in_place}
    shown = [
        f"{half.busbw_gb_s:g} GB/s {name}"
        for name, half in halves.items()
        if half.busbw_gb_s is not None
    ]
    return f"{render(row.size_bytes, 'B')}: {', '.join(shown) or 'nothing told'}"


def _wrong(report: Report) -> Fact:
    """Return how many values were wrong, of all messages; unchecked ones are no zero."""
    counts = {row.size_bytes: [row.out_of_place.wrong, row.in_place.wrong] for row in report.rows}
    told = [number for pair in counts.values() for number in pair if number is not None]
    if not told or report.okay is None:
        return Fact(None, "all_reduce_perf did not check its values")
    total = max(sum(told), report.out_of_bounds or 0)
    lines = [
        f"{render(size, 'B')}: {sum(filter(None, pair))} wrong"
        for size, pair in counts.items()
        if any(pair)
    ]
    return Fact(total, detail=tuple(lines))


def _other_class(subject: Subject) -> Fact:
    """Return how many ports' declared class differs from the one that the job travels in.

    That is what the ranks were told, unless the port has a global traffic class, which wins.
    """
    try:
        env = environment(subject)
    except MeasurementError as error:
        return Fact(None, error.told)
    if not subject.ends:
        return Fact(None, f"{subject.node} has none of its declared ports")
    odd = []
    for end in subject.ends:
        roce, infiniband = end.rail.profile.roce, end.rail.profile.infiniband
        if roce is not None and roce.dscp is not None:
            told, wanted = env.get("NCCL_IB_TC", "0"), roce.dscp
            forced = end.rdma.traffic_class
            if forced is not None and forced >= 0:
                if forced >> 2 != wanted:
                    odd.append(f"{end.port}: global traffic class {forced}, not DSCP {wanted}")
            elif not told.isdecimal() or int(told) >> 2 != wanted:
                odd.append(f"{end.port}: NCCL_IB_TC {told}, tested in DSCP {wanted}")
        if infiniband is not None and env.get("NCCL_IB_SL", "0") != str(infiniband.service_level):
            odd.append(
                f"{end.port}: NCCL_IB_SL {env.get('NCCL_IB_SL', '0')}, tested in service level "
                f"{infiniband.service_level}"
            )
    words = " ".join(f"{name}={value}" for name, value in env.items())
    return Fact(len(odd), detail=(*odd, f"told to all ranks: {words}"))


TOPIC = Topic("collective", sections, read, deadline_s=DEADLINE_S, of=is_launcher, vantage=True)
