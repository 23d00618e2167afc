"""The companion command `pytest-fabric`."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from pytest_fabric.cli import compare, explain, init
from pytest_fabric.cli.parse import parse_text
from pytest_fabric.errors import ConfigError
from pytest_fabric.tools import TOOLS

app = typer.Typer(
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Companion of pytest-fabric: describe a fabric, check its nodes, read what runs left.",
)

#: Commands with a module of their own: what takes long to import is imported when they run.
app.command(epilog=init.EPILOG)(init.init)
app.command(epilog=explain.EPILOG)(explain.explain)
app.command(epilog=compare.EPILOG, cls=compare.TwoSides)(compare.compare)

#: Exit statuses: wrong configuration as pytest has it, and a node that is not ready.
EXIT_CONFIG, EXIT_NOT_READY, EXIT_USAGE = 4, 1, 4


@app.command()
def check(
    cluster: Annotated[Path, typer.Argument(help="Inventory of the fabric")] = Path("cluster.yaml"),
) -> None:
    """Validate the inventory, then try every node: nothing is measured.

    Exit status 0 when every node is ready, 1 when one is not, 4 when the inventory is wrong.
    """
    # What logs in to nodes takes a second to import, and `parse` stands in pipes.
    checking = importlib.import_module("pytest_fabric.cli.check")
    try:
        ready = checking.run(cluster, typer.echo)
    except ConfigError as error:
        for line in error.lines:
            typer.echo(line, err=True)
        raise typer.Exit(EXIT_CONFIG) from None
    raise typer.Exit(0 if ready else EXIT_NOT_READY)


@app.command()
def parse(
    tool: Annotated[str, typer.Argument(help=f"One of: {', '.join(TOOLS)}")],
    file: Annotated[Path | None, typer.Argument(help="Default: standard input")] = None,
) -> None:
    """Print as JSON what a tool printed.

    Exit status 0 for a recognised result, 1 when the tool reported an error, 2 when the text is not
    recognised.
    """
    if tool not in TOOLS:
        typer.echo(f"parse: expected one of {', '.join(TOOLS)}, got {tool!r}", err=True)
        raise typer.Exit(EXIT_USAGE)
    try:
        data = file.read_bytes() if file else sys.stdin.buffer.read()
    except OSError as error:
        typer.echo(f"parse: {file}: {error.strerror}", err=True)
        raise typer.Exit(EXIT_USAGE) from None
    document, status = parse_text(tool, data.decode(errors="replace"))
    typer.echo(json.dumps(document, indent=2))
    raise typer.Exit(status)


@app.command()
def faults(
    pattern: Annotated[
        str | None, typer.Argument(help="A part of a name, or a pattern such as 'pcie_*'")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For programs")] = False,
    suites: Annotated[
        Path | None,
        typer.Option(help="Tests of which to say what each catches (default: suites, if it is)"),
    ] = None,
) -> None:
    """List the faults that the lab can have: where, what, why, and which tests catch them."""
    listing = importlib.import_module("pytest_fabric.cli.faults")
    usual = Path("suites")
    try:
        found = listing.listed(pattern, suites or (usual if usual.is_dir() else None))
    except ConfigError as error:
        typer.echo(error.lines[0], err=True)
        raise typer.Exit(EXIT_USAGE) from None
    typer.echo(listing.as_json(*found) if as_json else "\n".join(listing.as_lines(*found)))


lab_app = typer.Typer(no_args_is_help=True, help="Run a lab for hand use, and break it.")
app.add_typer(lab_app, name="lab")

At = Annotated[
    Path | None,
    typer.Option("--at", help="Folder of the running lab (default: one for each user)"),
]


@lab_app.command("up")
def lab_up(
    cluster: Annotated[Path, typer.Argument(help="Inventory of the lab")] = Path("cluster.yaml"),
    at: At = None,
) -> None:
    """Run a lab until Ctrl-C, and print how to reach its nodes."""
    labs = importlib.import_module("pytest_fabric.cli.lab")
    try:
        labs.up(cluster, (at or labs.usual_place()).absolute(), typer.echo)
    except ConfigError as error:
        for line in error.lines:
            typer.echo(line, err=True)
        raise typer.Exit(EXIT_CONFIG) from None


@lab_app.command("fault")
def lab_fault(
    fault: Annotated[str, typer.Argument(help="NAME@NODE or NAME@NODE:RAIL")], at: At = None
) -> None:
    """Break the running lab; what is measured already stays as it is."""
    _switch(f"fault {fault}", at)


@lab_app.command("mend")
def lab_mend(
    fault: Annotated[str, typer.Argument(help="A fault that is on")], at: At = None
) -> None:
    """Take a fault out of the running lab."""
    _switch(f"mend {fault}", at)


@lab_app.command("status")
def lab_status(at: At = None) -> None:
    """Print the faults that are on in the running lab, one a line."""
    _switch("status", at)


def _switch(line: str, at: Path | None) -> None:
    labs = importlib.import_module("pytest_fabric.cli.lab")
    try:
        faults_on = labs.ask((at or labs.usual_place()).absolute(), line)
    except ConfigError as error:
        typer.echo(error.lines[0], err=True)
        raise typer.Exit(EXIT_USAGE) from None
    typer.echo("\n".join(faults_on) or "no fault is on")


@app.command()
def schema() -> None:
    """Print the JSON schema of cluster.yaml, which gives completion in editors."""
    config = importlib.import_module("pytest_fabric.config")
    typer.echo(json.dumps(config.cluster_schema(), indent=2))


def main() -> None:
    """Run the command."""
    try:
        sys.exit(app(standalone_mode=False))
    except OSError as error:  # a full disk, a closed pipe
        sys.stderr.write(f"pytest-fabric: cannot write: {error.strerror}\n")
        os._exit(EXIT_USAGE)  # what is left in the buffer would fail once more at exit
    except Exception as error:
        # Its class is private in some versions of typer, and click's in others.
        if not hasattr(error, "format_message"):
            raise
        message = " ".join(error.format_message().split())
        if message:
            sys.stderr.write(f"pytest-fabric: {message} (see --help)\n")
        sys.exit(EXIT_USAGE)
