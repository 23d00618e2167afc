"""Commands and jobs reach nodes, over SSH or on this machine, and their streams come back."""

from __future__ import annotations

from pytest_fabric.transport.endpoint import Endpoint
from pytest_fabric.transport.jobs import (
    Collect,
    Collecting,
    Glob,
    Job,
    Outcome,
    Running,
    Session,
    Word,
    quoted,
)
from pytest_fabric.transport.pool import Pool

__all__ = [
    "Collect",
    "Collecting",
    "Endpoint",
    "Glob",
    "Job",
    "Outcome",
    "Pool",
    "Running",
    "Session",
    "Word",
    "quoted",
]
