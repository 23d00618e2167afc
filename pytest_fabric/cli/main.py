"""The companion command `pytest-fabric`."""

from __future__ import annotations

import importlib
import json
import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from pytest_fabric.cli import (
    compare,
    explain,
    init,
    lab_command,
    plan,
    report,
    retest,
    runs,
    sudoers,
)
from pytest_fabric.cli.parse import parse_text
from pytest_fabric.errors import ConfigError
from pytest_fabric.tools import TOOLS
from pytest_fabric.tools.printable import printable

EPILOG = """\
Examples:\n
  pytest-fabric init 'gpu[001-064]' --user ops\n
  pytest-fabric check\n
  pytest-fabric report fabric-runs/latest\n
Exit status of all: 0 done, 1 what was asked does not hold, 4 the call or cluster.yaml is wrong,
which is one line on standard error. The tests themselves: pytest suites/
"""

app = typer.Typer(
    add_completion=True,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Companion of pytest-fabric: describe a fabric, check its nodes, read what runs left.",
    epilog=EPILOG,
)

#: Commands with a module of their own, and what ends their help: what takes long to import is
#: imported when they run.
COMMANDS = (
    (init.init, init.EPILOG),
    (explain.explain, explain.EPILOG),
    (plan.plan, plan.EPILOG),
    (sudoers.sudoers, sudoers.EPILOG),
    (runs.schema, runs.SCHEMA_EPILOG),
    (report.report, report.EPILOG),
    (retest.retest, retest.EPILOG),
    (runs.export, runs.EXPORT_EPILOG),
)
for command, epilog in COMMANDS:
    app.command(epilog=epilog)(command)
app.command(epilog=compare.EPILOG, cls=compare.TwoSides)(compare.compare)
app.add_typer(lab_command.app, name="lab")

#: Exit statuses: wrong configuration as pytest has it, and a node that is not ready.
EXIT_CONFIG, EXIT_NOT_READY, EXIT_USAGE = 4, 1, 4


CHECK_EPILOG = """\
Examples:\n
  pytest-fabric check\n
  pytest-fabric check site/cluster.yaml\n
"""

FAULTS_EPILOG = """\
Examples:\n
  pytest-fabric faults\n
  pytest-fabric faults 'pcie_*'\n
  pytest-fabric faults latency --json\n
Exit status: 0 listed, 4 no fault has such a name, or there are no tests.
"""

PARSE_EPILOG = """\
Examples:\n
  ssh gpu001 ethtool -S ens1f0np0 | pytest-fabric parse ethtool-S\n
  pytest-fabric parse perftest output.txt\n
"""


@app.command(epilog=CHECK_EPILOG)
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


@app.command(epilog=PARSE_EPILOG)
def parse(
    tool: Annotated[str, typer.Argument(help=f"One of: {', '.join(TOOLS)}")],
    file: Annotated[Path | None, typer.Argument(help="Default: standard input")] = None,
) -> None:
    """Print as JSON what a tool printed.

    Exit status 0 for a recognised result, 1 when the tool reported an error, 2 when the text is not
    recognised, 4 for a wrong call. Warnings in the text are repeated on standard error.
    """
    if tool not in TOOLS:
        like = importlib.import_module("pytest_fabric.config.wording").like  # slow, and for errors
        wanted = like("a tool", tool, TOOLS)
        typer.echo(f"parse: expected {wanted}, got {tool!r} (see --help for all)", err=True)
        raise typer.Exit(EXIT_USAGE)
    try:
        data = file.read_bytes() if file else sys.stdin.buffer.read()
    except OSError as error:
        typer.echo(f"parse: {file}: {error.strerror}", err=True)
        raise typer.Exit(EXIT_USAGE) from None
    document, status = parse_text(tool, data.decode(errors="replace"))
    typer.echo(json.dumps(document, indent=2))
    for note in TOOLS[tool].notes(data.decode(errors="replace")):
        typer.echo(f"parse: note: {printable(note)}", err=True)
    raise typer.Exit(status)


@app.command(epilog=FAULTS_EPILOG)
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


def main() -> None:
    """Run the command."""
    try:
        sys.exit(app(prog_name="pytest-fabric", standalone_mode=False))
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
