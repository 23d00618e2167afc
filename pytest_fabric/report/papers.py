"""What people act on and sign, written into the directory of a run: tickets and sign-off pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_fabric.report import atomic, signoff
from pytest_fabric.report.rundir import safe_name
from pytest_fabric.report.sections.growth import watched
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.report.signoff.proof import UNKNOWN, Proven, proven
from pytest_fabric.report.tickets import files, make

#: The folder of the pages to sign, and the page of ports without a leaf.
FOLDER, WITHOUT = "signoff", "~without-leaf"


def write(record: RunRecord, directory: Path) -> None:
    """Write tickets.json, tickets.csv and signoff/LEAF.html. Raises OSError."""
    files.write(directory, make.tickets_of(record))
    proof, seen = _proof(record), watched(record)
    for sheet, name in named(record):
        atomic.write(directory / name, signoff.page(sheet, proof, seen))


def named(record: RunRecord) -> Iterator[tuple[signoff.Sheet, str]]:
    """Yield the sheets of a run, each with the name of its file in the directory."""
    for sheet in signoff.sheets(record):
        name = WITHOUT if sheet.leaf is None else safe_name(sheet.leaf)
        yield sheet, f"{FOLDER}/{name}.html"


def _proof(record: RunRecord) -> Proven:
    if record.about is None or record.path is None:
        return Proven(None, UNKNOWN)
    judged = [v.nodeid for v in record.verdicts if v.outcome != "skipped"]
    return proven(record.about, judged, record.path.parent)
