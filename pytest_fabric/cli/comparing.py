"""Runs before and after a change: read, compared, and shown."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from pytest_fabric.errors import ConfigError
from pytest_fabric.judge.compare.comparison import Comparison, compare
from pytest_fabric.judge.compare.effect import BETTER, UNKNOWN, WORSE
from pytest_fabric.judge.compare.run import Run
from pytest_fabric.report import comparison_html, records
from pytest_fabric.report.comparable import run_of
from pytest_fabric.report.comparison import lines
from pytest_fabric.report.stored import open_run

#: What stands between the runs before and those after.
BETWEEN = "--"

STYLES = {WORSE: "bold red", BETTER: "bold green", UNKNOWN: "yellow"}

#: Exit statuses, as those of a run: worse is a failure, and where nothing at all could be told,
#: nothing was shown to be the same.
EXIT_OK, EXIT_WORSE, EXIT_UNTOLD = 0, 1, 10


def sides(words: Sequence[str]) -> tuple[list[Path], list[Path]]:
    """Return the runs before and after. Raises ConfigError."""
    if words.count(BETWEEN) != 1:
        raise ConfigError(
            f"compare: expected BEFORE... {BETWEEN} AFTER..., found {words.count(BETWEEN)} "
            f"`{BETWEEN}`: put it once between the runs before and those after"
        )
    place = list(words).index(BETWEEN)
    before, after = list(words[:place]), list(words[place + 1 :])
    for name, side in (("before", before), ("after", after)):
        if not side:
            raise ConfigError(
                f"compare: expected a run {name} `{BETWEEN}`, found none: give the directories of "
                "runs, as fabric-runs/20261129-152031"
            )
    return [Path(word) for word in before], [Path(word) for word in after]


def compared(before: Sequence[Path], after: Sequence[Path]) -> Comparison:
    """Return what has changed between runs. Raises ConfigError for what cannot be compared."""
    return compare(*([_run(path) for path in side] for side in (before, after)))


def show(found: Comparison) -> None:
    """Print a comparison for people."""
    console = Console()
    for line in lines(found):
        told = line.removeprefix("verdict").strip()
        word = next((word for word in STYLES if told.startswith(word)), "")
        console.print(Text(line, style=STYLES.get(word, "")), soft_wrap=True)


def as_json(found: Comparison) -> str:
    """Return a comparison as JSON, with all text cleaned."""
    return json.dumps(json.loads(records.dumps(comparison_html.document(found))), indent=2)


def write_html(found: Comparison, path: Path) -> None:
    """Write a comparison as one HTML file. Raises ConfigError."""
    try:
        path.write_text(comparison_html.page(found), "utf-8")
    except OSError as error:
        raise ConfigError(f"--html: cannot write {path}: {error.strerror}") from None


def status(found: Comparison) -> int:
    """Return the exit status."""
    return {WORSE: EXIT_WORSE, UNKNOWN: EXIT_UNTOLD}.get(found.verdict, EXIT_OK)


def _run(path: Path) -> Run:
    return run_of(open_run("compare", path))
