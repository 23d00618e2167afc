"""`pytest-fabric compare BEFORE... -- AFTER...`: what an upgrade has done to a fabric."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from pytest_fabric.cli.refusals import refusals

EPILOG = """\
Examples:\n
  pytest-fabric compare fabric-runs/20261129-* -- fabric-runs/20261130-*\n
  pytest-fabric compare A1 A2 A3 -- B1 B2 B3 --html upgrade.html\n
Exit status: 0 same or better, 1 something is worse, 4 runs that cannot be read or compared, 10
nothing at all can be told.
"""

#: Stands for the `--` between runs while options are read.
BETWEEN = "\0--"


class TwoSides(TyperCommand):
    """A command whose `--` stands between words, and does not end its options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - see below
        """Return what is left of the arguments; no word of a shell holds a NUL.

        The class of `ctx` is one of click, or of typer's own copy of it: that depends on typer.
        """
        return super().parse_args(ctx, [BETWEEN if word == "--" else word for word in args])


def compare(
    runs: Annotated[
        list[str] | None, typer.Argument(metavar="BEFORE... -- AFTER...", help="Run directories")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON")] = False,
    html: Annotated[Path | None, typer.Option(help="Write one HTML file as well")] = None,
) -> None:
    """Compare the runs before a change with those after it: three or more of each.

    Numbers are compared pair by pair, with confidence intervals; facts that changed stand beside.
    """
    from pytest_fabric.cli import comparing

    words = [word.removeprefix("\0") for word in runs or []]
    with refusals():
        found = comparing.compared(*comparing.sides(words))
        if html is not None:
            comparing.write_html(found, html)
    if as_json:
        typer.echo(comparing.as_json(found))
    else:
        comparing.show(found)
    raise typer.Exit(comparing.status(found))
