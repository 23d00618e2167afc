"""`pytest-fabric sudoers`: what visudo lacks for the tools that profiles let run as root."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from pytest_fabric.cli.refusals import EXIT_NO, refusals

EPILOG = """\
Examples:\n
  pytest-fabric sudoers\n
  pytest-fabric sudoers --all | ssh root@gpu001 'visudo -cf -'\n
Exit status: 0 nothing is missing (which is said on standard error), 1 lines are missing or a node
did not answer, 4 cluster.yaml is wrong.
"""


def sudoers(
    cluster: Annotated[Path, typer.Argument(help="Inventory of the fabric")] = Path("cluster.yaml"),
    everything: Annotated[
        bool, typer.Option("--all", help="Also the lines that are not missing")
    ] = False,
) -> None:
    """Print the lines of sudoers that `check` misses, with the nodes that miss them, for visudo.

    Only tools that a profile names under `sudo:` are run as root, and only to read.
    """
    from pytest_fabric.cli import asking
    from pytest_fabric.measure import sudo

    with refusals():
        found = asking.each(cluster, "sudoers", sudo.rules)
    lines, problems = sudo.folded(found, missing_only=not everything)
    for line in lines:
        typer.echo(line)
    for problem in problems:
        typer.echo(problem, err=True)
    if not lines and not problems:
        typer.echo(_nothing(found), err=True)
    is_missing = any(rule.is_missing for rules in found.values() for rule in asking.good(rules))
    raise typer.Exit(EXIT_NO if is_missing or problems else 0)


def _nothing(found: Mapping[str, object]) -> str:
    """Return why there is no line: a redirection that is empty must not look like a failure."""
    nodes = f"{len(found)} node{'' if len(found) == 1 else 's'}"
    return f"sudoers: nothing is missing on {nodes}: every tool under `sudo:` may run, or none is"
