"""The table of a proof: for a terminal, as Markdown, and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict

from rich.console import Console
from rich.table import Table

from pytest_fabric.prove.proof import Proof, Row
from pytest_fabric.report.clean import clean_line

#: How a mark is shown behind the name of a test; a plain failure needs no word.
SHOWN = {"failed": "", "error": " (error)", "told": " (contention)"}

#: So many tests are named that go red beside those that declare a fault.
OTHERS = 2

#: What is wanting, with the heading of each list.
WANTING = (
    ("uncaught", "uncaught faults"),
    ("unproven", "unproven tests"),
    ("broken_claims", "declared, and not caught by that test"),
    ("alarms", "false alarms"),
    ("troubles", "troubles"),
)


def print_table(proof: Proof, console: Console) -> None:
    """Print the table fault x test."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("fault", no_wrap=True)
    table.add_column("place", no_wrap=True)
    table.add_column("caught by", overflow="fold", min_width=30)
    table.add_column("also red", overflow="fold")
    for row in proof.rows:
        style = None if row.is_caught else "red"
        table.add_row(*(clean_line(cell) for cell in _cells(row)), style=style)
    console.print(table, markup=False)


def _cells(row: Row) -> tuple[str, str, str, str]:
    declared = _names(row.declared) if row.declared else "no test declares it"
    others = list(row.others)
    more = f" and {len(others) - OTHERS} more" if len(others) > OTHERS else ""
    also = ", ".join(_short(name) for name in others[:OTHERS]) + more
    return row.fault, row.places[0] if row.places else "-", declared, also


def _names(marks: Mapping[str, str]) -> str:
    return ", ".join(f"{_short(n)}{SHOWN.get(mark, f' ({mark})')}" for n, mark in marks.items())


def _short(name: str) -> str:
    return name.removeprefix("test_")


def wanting(proof: Proof) -> Iterator[str]:
    """Yield the lines of what is wanting, or that nothing is."""
    for name, heading in WANTING:
        found: Sequence[str] = getattr(proof, name)
        if found:
            yield f"{heading}:"
            yield from (f"  {clean_line(line)}" for line in found)
    if proof.skipped:
        yield f"skipped by the profile, not proven: {', '.join(proof.skipped)}"
    yield conclusion(proof)


def conclusion(proof: Proof) -> str:
    """Return in one line what a proof comes to."""
    caught = sum(row.is_caught for row in proof.rows)
    counts = ", ".join(f"{len(getattr(proof, name))} {heading}" for name, heading in WANTING[:2])
    return (
        f"{caught} of {len(proof.rows)} faults caught, {counts}, {len(proof.alarms)} false alarms"
    )


def markdown(proof: Proof) -> str:
    """Return the proof as a page of Markdown."""
    rows = [
        "| " + " | ".join(clean_line(cell).replace("|", "\\|") for cell in _cells(row)) + " |"
        for row in proof.rows
    ]
    head = ["| fault | place | caught by | also red |", "|---|---|---|---|"]
    return "\n".join(["# Proof", "", *head, *rows, "", *wanting(proof), ""])


def document(proof: Proof, waves: Sequence[Mapping[str, object]], of: Mapping[str, object]) -> str:
    """Return the proof as JSON, with how long each wave took, and of what it is a proof."""
    found = {**of, **asdict(proof)}
    found["is_whole"] = proof.is_whole
    found["waves"] = list(waves)
    return json.dumps(found, indent=2)
