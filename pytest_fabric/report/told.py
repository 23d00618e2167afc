"""The record that reports are made of: the same at the end of a run and ever after."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_fabric.report.about import About
from pytest_fabric.report.context import Context
from pytest_fabric.report.pattern import Known
from pytest_fabric.report.planned import Planned
from pytest_fabric.report.sections.record import RunRecord, kept
from pytest_fabric.report.summary import Run
from pytest_fabric.results import Verdict


def run_of(
    about: About,
    planned: Sequence[Planned],
    verdicts: Sequence[Verdict],
    context: Context,
    path: Path,
    has_tickets: bool = False,
) -> Run:
    """Return what the summary of a run is made of."""
    return Run(
        planned=planned,
        verdicts=verdicts,
        declared=about.declared or tuple(about.ports),
        excluded=about.excluded,
        directory=str(path),
        unused=context.unused,
        known=Known(context.growth, about.leaves, context.odd),
        extra=context.extra,
        followed=context.followed,
        workload=about.workload,
        has_tickets=has_tickets,
    )


def record_of(run: Run, about: About, context: Context, path: Path) -> RunRecord:
    """Return the whole run as its reports show it, with what its directory keeps."""
    return RunRecord(
        run=run,
        notes=context.notes,
        baseline=context.baseline,
        is_coverage_short=context.is_coverage_short,
        leaves=about.leaves,
        waivers=about.waivers,
        kept=kept("report", path),
        about=about,
        devices=context.devices,
        path=path,
    )
