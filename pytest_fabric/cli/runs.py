"""Commands that read a run directory: `export`; and `schema`, which says what is in one."""

from __future__ import annotations

import json
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from pytest_fabric.cli.refusals import refusals, refuse

Run = Annotated[Path, typer.Argument(help="The directory of a run; default: fabric-runs/latest")]

LATEST = Path("fabric-runs/latest")

SCHEMA_EPILOG = """\
Examples:\n
  pytest-fabric schema > cluster.schema.json\n
  pytest-fabric schema measurements\n
Exit status: 0 printed, 4 an unknown name.
"""

EXPORT_EPILOG = """\
Examples:\n
  pytest-fabric export --format csv > run.csv\n
  pytest-fabric export --format openmetrics fabric-runs/latest > /var/lib/node_exporter/rdma.prom\n
Exit status: 0 printed, 4 RUN is no run directory.
"""


class Format(str, Enum):
    """What `export` can write."""

    csv = "csv"
    openmetrics = "openmetrics"


def schema(
    name: Annotated[
        str,
        typer.Argument(
            help="cluster, run, plan, facts, readings, measurements, verdicts, audit, context, "
            "tickets, retest"
        ),
    ] = "cluster",
) -> None:
    """Print the JSON schema of cluster.yaml, or of a file of a run directory.

    That of cluster.yaml gives completion in editors. Of .jsonl files it is that of each line.
    """
    from pytest_fabric import config
    from pytest_fabric.config.wording import like
    from pytest_fabric.report import schema as schemas

    if name != "cluster" and name not in schemas.FILES:
        wanted = like("a file", name, ("cluster", *schemas.FILES))
        raise refuse(f"schema: expected {wanted}, got {name!r}")
    found = config.cluster_schema() if name == "cluster" else schemas.schema(name)
    typer.echo(json.dumps(found, indent=2))


def export(
    run: Run = LATEST,
    format: Annotated[Format, typer.Option(help="What to write")] = Format.csv,
) -> None:
    """Print the verdicts of a run for other programs, in base units (s, b/s, B).

    csv: a row per check. openmetrics: rdma_fabric_METRIC_UNIT by target, rdma_fabric_checks by
    layer and outcome, rdma_fabric_check_not_passed for each check that neither passed nor was
    skipped.
    """
    from pytest_fabric.report import export as forms
    from pytest_fabric.report import finished

    with refusals():
        found = finished.read("export", run)
    make = forms.to_csv if format is Format.csv else forms.to_openmetrics
    typer.echo(make(found), nl=False)
