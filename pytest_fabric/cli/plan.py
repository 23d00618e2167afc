"""`pytest-fabric plan`: what a run would measure; nobody is contacted."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pytest_fabric.cli.refusals import refuse

EPILOG = """\
Examples:\n
  pytest-fabric plan\n
  pytest-fabric plan suites/test_4_pair.py --nodes 'gpu[001-016]' --pairs all\n
Exit status: 0 printed, 4 an option, a suite or cluster.yaml is wrong.
"""


def plan(
    suites: Annotated[list[Path] | None, typer.Argument(help="Default: suites")] = None,
    cluster: Annotated[Path | None, typer.Option(help="Inventory of the fabric")] = None,
    nodes: Annotated[str | None, typer.Option(help="Only these nodes, as a node set")] = None,
    pairs: Annotated[str | None, typer.Option(help="Another strategy for the pairs")] = None,
    load: Annotated[str | None, typer.Option(help="At most light, full or disruptive")] = None,
    select: Annotated[str | None, typer.Option("-k", help="Only tests that match, as -k")] = None,
    marks: Annotated[str | None, typer.Option("-m", help="Only layers that match, as -m")] = None,
    verbose: Annotated[bool, typer.Option("-v", help="List every target")] = False,
) -> None:
    """Print pairs, commands, minutes, data and coverage of a run; contact nobody.

    The same as `pytest suites/ --fabric-plan`.
    """
    from pytest_fabric.cli import collecting

    named = {
        "--fabric-cluster": cluster,
        "--fabric-nodes": nodes,
        "--fabric-pairs": pairs,
        "--fabric-load": load,
        "-k": select,
        "-m": marks,
    }
    words = [word for key, value in named.items() if value for word in (key, str(value))]
    folders = [str(path) for path in suites or [Path("suites")]]
    lacking = [folder for folder in folders if not Path(folder.partition("::")[0]).exists()]
    if lacking:
        raise refuse(f"plan: expected suites at {lacking[0]}, found none: pytest-fabric init")
    lines, problem = collecting.plan([*words, *folders], verbose)
    if problem is not None:
        for line in problem:
            typer.echo(line, err=True)
        raise typer.Exit(4)
    for line in lines:
        typer.echo(line)
