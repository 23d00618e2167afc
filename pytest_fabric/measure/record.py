"""The record of a measurement before it has a value, and what is wrong in one line."""

from __future__ import annotations

import time
from dataclasses import replace

from pytest_fabric.errors import (
    FabricError,
    MeasurementError,
    RecordError,
    ToolError,
    TransportError,
)
from pytest_fabric.measure.job import Job
from pytest_fabric.measure.settings import Settings
from pytest_fabric.results import Failure, Measurement
from pytest_fabric.tools.printable import printable


def failed(job: Job, problem: BaseException) -> Measurement:
    """Return the record of a job that could not be made."""
    failure = explained(job.target, job.settings.tool, problem)
    return without_value(job.target, job.settings, failure)


def slim(record: Measurement) -> Measurement:
    """Return what tells of a measurement that it was made, and how it ended."""
    return replace(record, members=(), health=(), growth=(), commands={})


def without_value(target: str, settings: Settings, error: Failure | None) -> Measurement:
    """Return the record of a measurement that has produced nothing yet."""
    return Measurement(
        key=settings.key,
        tool=settings.tool,
        target=target,
        commands={},
        versions={},
        attempts=(),
        settings=vars(settings),
        latency=None,
        bandwidth=None,
        mtu=None,
        growth=(),
        counter_errors={},
        traffic=None,
        doubts=(),
        beside=(),
        company=0,
        alone=False,
        raw={},
        error=error,
        started=time.time(),
        duration=0.0,
    )


def slip(node: str, what: str, problem: Exception) -> MeasurementError:
    """Return a slip of ours as an error of the node whose text has brought it about.

    It is met in a thread, beside other nodes: their run goes on.
    """
    about = f"{type(problem).__name__}: {problem}"[:200]
    return MeasurementError(node, "internal", f"{what}: internal error: {printable(about)}")


def explained(target: str, tool: str, problem: BaseException) -> Failure:
    """Return an exception as part of the record of a target, in one line that begins with it."""
    if isinstance(problem, TransportError):
        return Failure(f"node_{problem.kind}", str(problem))
    if isinstance(problem, MeasurementError):
        about = str(problem) if problem.target != "run" else f"{target}: {tool}: {problem.told}"
        return Failure(problem.kind, about)
    if isinstance(problem, RecordError):
        return Failure("record", f"{target}: {tool}: {problem}")
    if not isinstance(problem, FabricError):
        return Failure("internal", f"{target}: {tool}: internal error: {problem!r}")
    kind = problem.kind if isinstance(problem, ToolError) else "not_recognised"
    return Failure(kind, f"{target}: {problem}")
