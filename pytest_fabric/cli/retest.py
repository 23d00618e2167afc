"""`pytest-fabric retest`: whether a ticket is mended, measured at its place and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pytest_fabric.cli.refusals import refusals

EPILOG = """\
Examples:\n
  pytest-fabric retest cable-gpu002:rail0\n
  pytest-fabric retest gpu002:rail0 --run fabric-runs/20261129-213418\n
  pytest-fabric retest cable-gpu002:rail0 --fault dirty_optic@gpu002:rail0\n
Exit status: 0 mended, 1 still bad, 3 changed (its own checks hold, others of it or of its controls
do not), 4 the call is wrong, 10 it could not be told.
"""


def retest(
    ticket: Annotated[str, typer.Argument(help="The name of a ticket, or its place NODE:RAIL")],
    run: Annotated[
        Path | None,
        typer.Option(help="The run that has the ticket (default: the last below fabric-runs)"),
    ] = None,
    cluster: Annotated[
        Path | None, typer.Option(help="Inventory of the fabric (default: that of the run)")
    ] = None,
    suites: Annotated[Path, typer.Option(help="The tests of the run")] = Path("suites"),
    out: Annotated[
        Path | None, typer.Option(help="Write the new run below this folder (default: beside RUN)")
    ] = None,
    fault: Annotated[
        list[str] | None, typer.Option(help="Break the lab in this way, NAME@TARGET (repeatable)")
    ] = None,
) -> None:
    """Measure the place of a ticket again, with its controls, and say whether it is mended.

    Only that port, the other ends of its failed pairs and its controls are measured, into a run
    directory of their own, which has retest.json: the word, and values before and after.
    """
    from pytest_fabric.cli import retesting
    from pytest_fabric.report import retested

    with refusals():
        chosen = run or retesting.last_with(ticket, Path("fabric-runs"))
        wanted = retesting.wanted(ticket, chosen, cluster, suites, out, tuple(fault or ()))
        typer.echo(wanted.announcement)
        found, directory = retesting.measured(wanted)
    for line in retested.lines(found):
        typer.echo(line)
    typer.echo(f"run directory: {directory}")
    raise typer.Exit(retesting.STATUSES[found.word])
