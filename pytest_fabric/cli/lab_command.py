"""`pytest-fabric lab` on the command line; what it does is in `cli/lab.py`."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Annotated

import typer

from pytest_fabric.errors import ConfigError

#: As pytest has it for a wrong configuration.
EXIT_USAGE = 4

EPILOGS = {
    "up": """\
Examples:\n
  pytest-fabric lab up\n
  pytest-fabric lab up site/cluster.yaml --at /tmp/mine\n
Exit status: 0 it was ended by Ctrl-C, 4 cluster.yaml is wrong, or a lab runs there already.
""",
    "fault": """\
Examples:\n
  pytest-fabric lab fault latency_tail@gpu002:rail0\n
  pytest-fabric lab fault ssh_down@gpu003\n
Exit status: 0 done, 4 no such fault or place, or no lab runs.
""",
    "mend": """\
Examples:\n
  pytest-fabric lab mend latency_tail@gpu002:rail0\n
Exit status: 0 done, 4 the fault is not on, or no lab runs.
""",
    "status": """\
Examples:\n
  pytest-fabric lab status\n
  pytest-fabric lab status --at /tmp/mine\n
Exit status: 0 it was told, 4 no lab runs.
""",
}

EPILOG = """\
Examples:\n
  pytest-fabric lab up\n
  pytest-fabric lab fault latency_tail@gpu002:rail0\n
  pytest-fabric lab mend latency_tail@gpu002:rail0\n
Exit status: 0 done, 4 the call is wrong, or no lab runs.
"""

app = typer.Typer(no_args_is_help=True, help="Run a lab for hand use, and break it.", epilog=EPILOG)

At = Annotated[
    Path | None,
    typer.Option("--at", help="Folder of the running lab (default: one for each user)"),
]


@app.command(epilog=EPILOGS["up"])
def up(
    cluster: Annotated[Path, typer.Argument(help="Inventory of the lab")] = Path("cluster.yaml"),
    at: At = None,
) -> None:
    """Run a lab until Ctrl-C, and print how to reach its nodes."""
    lab = importlib.import_module("pytest_fabric.cli.lab")
    try:
        lab.up(cluster, (at or lab.usual_place()).absolute(), typer.echo)
    except ConfigError as error:
        for line in error.lines:
            typer.echo(line, err=True)
        raise typer.Exit(EXIT_USAGE) from None


@app.command(epilog=EPILOGS["fault"])
def fault(
    fault: Annotated[str, typer.Argument(help="NAME@NODE or NAME@NODE:RAIL")], at: At = None
) -> None:
    """Break the running lab; what is measured already stays as it is."""
    _switch(f"fault {fault}", at)


@app.command(epilog=EPILOGS["mend"])
def mend(fault: Annotated[str, typer.Argument(help="A fault that is on")], at: At = None) -> None:
    """Take a fault out of the running lab."""
    _switch(f"mend {fault}", at)


@app.command(epilog=EPILOGS["status"])
def status(at: At = None) -> None:
    """Print the faults that are on in the running lab, one a line."""
    _switch("status", at)


def _switch(line: str, at: Path | None) -> None:
    lab = importlib.import_module("pytest_fabric.cli.lab")
    try:
        faults_on = lab.ask((at or lab.usual_place()).absolute(), line)
    except ConfigError as error:
        typer.echo(error.lines[0], err=True)
        raise typer.Exit(EXIT_USAGE) from None
    typer.echo("\n".join(faults_on) or "no fault is on")
