"""`pytest-fabric report`: the reports of a run again, from its directory alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pytest_fabric.cli.refusals import refusals, refuse

EPILOG = """\
Examples:\n
  pytest-fabric report\n
  pytest-fabric report fabric-runs/20261129-213418 --html /tmp/report.html\n
Exit status: 0 written, 4 RUN is no run directory, or a file cannot be written.
"""


def report(
    run: Annotated[Path, typer.Argument(help="The directory of a run")] = Path(
        "fabric-runs/latest"
    ),
    html: Annotated[
        Path | None, typer.Option(help="Default: report.html in the directory of the run")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(help="Default: junit.xml in the directory of the run")
    ] = None,
    group: Annotated[str, typer.Option(help="What a suite of JUnit is: node or layer")] = "node",
) -> None:
    """Write the reports of a run again, and print its summary, as the run has left it.

    These are report.html and junit.xml, tickets.json and tickets.csv, and signoff/LEAF.html.

    Nothing is measured or judged: `pytest --fabric-replay RUN` judges anew. A run that was killed
    is reported as far as it came: what has no verdict is an error, `not run`.
    """
    from pytest_fabric.cli import rendering
    from pytest_fabric.report import finished, papers
    from pytest_fabric.report import junit as xml

    with refusals():
        if group not in xml.GROUPS:
            raise refuse(f"--group: expected {' or '.join(xml.GROUPS)}, got {group!r}")
        found = finished.read("report", run)
        shown = rendering.Shown(found)
        said = {"cluster": found.about.cluster, "run": found.path.name}
        try:
            xml.write(junit or found.path / "junit.xml", found.planned, found.verdicts, said, group)
            rendering.html(shown, html or found.path / "report.html")
            papers.write(shown.record(), found.path)
        except OSError as error:
            raise refuse(f"report: cannot write {error.filename}: {error.strerror}") from None
    for line in shown.summary():
        typer.echo(line)
