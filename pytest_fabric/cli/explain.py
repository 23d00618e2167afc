"""`pytest-fabric explain`: what holds for a target, and where each of it was said."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pytest_fabric.cli.refusals import refusals

EPILOG = """\
Examples:\n
  pytest-fabric explain gpu001\n
  pytest-fabric explain gpu001:rail0..gpu002:rail0\n
  pytest-fabric explain ib_write_lat.p99 --cluster site/cluster.yaml\n
Exit status: 0 explained, 4 an unknown target, or cluster.yaml is wrong.
"""


def explain(
    target: Annotated[
        str, typer.Argument(help="A node, a port NODE:RAIL, a pair PORT..PORT, or a metric")
    ],
    cluster: Annotated[Path, typer.Option(help="Inventory of the fabric")] = Path("cluster.yaml"),
) -> None:
    """Show every limit that holds for a target, with the line it stands on; contact nobody.

    Limits come with the profile's chain of extends, what they replace in a builtin profile, and
    shares of a rate as a rate; besides that what is declared, not available, waived and excluded.
    """
    from pytest_fabric import config
    from pytest_fabric.config.lineage import lineages
    from pytest_fabric.report import explain as report

    with refusals():
        known = report.Known(config.load(cluster), lineages(cluster))
        found = report.lines(known, target)
    for line in found:
        typer.echo(line)
