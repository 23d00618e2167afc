"""The record that reports are made of: the same at the end of a run and ever after."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pytest_fabric.errors import ConfigError
from pytest_fabric.judge.soak import Soak
from pytest_fabric.report import soak
from pytest_fabric.report.about import About
from pytest_fabric.report.context import Context
from pytest_fabric.report.pattern import Known
from pytest_fabric.report.planned import Planned
from pytest_fabric.report.sections.record import Kept, RunRecord
from pytest_fabric.report.stored import open_run
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
        soak=_soak(about, path),
    )


def _soak(about: About, path: Path) -> Soak | None:
    """Return what the windows of a run's soak show, None where none was asked for."""
    if about.options.soak_s is None:
        return None
    try:
        return soak.begun(about, (one.record for one in open_run("report", path).measured))
    except ConfigError as error:  # the verdicts are shown without it
        begun = soak.begun(about)
        begun.missing.append(str(error))
        return begun


def record_of(run: Run, about: About, context: Context, path: Path, kept: Kept) -> RunRecord:
    """Return the whole run as its reports show it; `kept` is what its directory keeps."""
    return RunRecord(
        run=run,
        notes=context.notes,
        baseline=context.baseline,
        is_coverage_short=context.is_coverage_short,
        leaves=about.leaves,
        waivers=about.waivers,
        kept=kept,
        about=about,
        devices=context.devices,
        path=path,
    )
