"""The summary of a run as Markdown, which CI shows on the page of a job."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from pytest_fabric.report import summary, text
from pytest_fabric.report.clean import clean, clean_line
from pytest_fabric.report.planned import OUTCOMES, terminal
from pytest_fabric.report.summary import Run
from pytest_fabric.results import Verdict

#: GitHub shows no more of the summary of a step (its documentation of workflow commands: 1 MiB).
MAX_BYTES = 1_000_000

#: So many checks are listed, and so much of a cell is shown.
ROWS, CELL = 100, 200

#: What Markdown could take for its own; HTML is escaped first.
SPECIAL = re.compile(r"[\\`*_{}\[\]()#+!|~@$^]|(?<=[a-zA-Z]):(?=//)|(?<=www)\.")


def cell(words: str) -> str:
    """Return a text on one line in which nothing is markup, a mention or a link."""
    line = clean_line(words)
    short = line if len(line) <= CELL else f"{line[: CELL - 3]}..."
    escaped = escape(short, quote=False)
    return SPECIAL.sub(lambda found: f"&#{ord(found[0])};", escaped)


def summary_of(run: Run, cluster: str) -> str:
    """Return the whole summary: counts by layer, what the terminal says, and what did not pass."""
    verdicts = [verdict for _, verdict in terminal(run.planned, run.verdicts)]
    return "\n".join(
        [
            _title(verdicts, cluster),
            "",
            *_counts(verdicts),
            "",
            "<pre>",
            *(escape(clean(line), quote=False) for line in summary.lines(run)),
            "</pre>",
            "",
            *_not_passed(verdicts),
            "",
        ]
    )


def append(path: Path, run: Run, cluster: str) -> None:
    """Add the summary to a file, or its first line where there is no room. Raises OSError."""
    whole = summary_of(run, cluster)
    taken = path.stat().st_size if path.exists() else 0
    for shown in (whole, whole.split("\n", 1)[0] + "\n"):
        data = shown.encode("utf-8", errors="replace")
        if taken + len(data) <= MAX_BYTES:
            # A pipe that nobody reads is an error, not a wait.
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK
            with os.fdopen(os.open(path, flags, 0o666), "ab") as file:
                file.write(data)
            return


def _title(verdicts: Sequence[Verdict], cluster: str) -> str:
    outcomes = {verdict.outcome for verdict in verdicts}
    if "failed" in outcomes:
        word = "failed"
    elif outcomes <= {"passed", "skipped", "waived"} and "passed" in outcomes:
        word = "passed with waivers" if "waived" in outcomes else "passed"
    else:
        word = "incomplete"
    return f"## {cell(cluster)}: {word}"


def _counts(verdicts: Sequence[Verdict]) -> Iterator[str]:
    layers: dict[str, Counter[str]] = defaultdict(Counter)
    for verdict in verdicts:
        outcome = verdict.outcome if verdict.outcome in OUTCOMES else "error"
        layers[verdict.layer][outcome] += 1
    shown = [name for name in OUTCOMES if any(counts[name] for counts in layers.values())]
    yield f"| layer | {' | '.join(shown)} |"
    yield f"|---|{'---:|' * len(shown)}"
    for layer, counts in layers.items():
        yield f"| {cell(layer)} | {' | '.join(f'{counts[name]:,}' for name in shown)} |"


def _not_passed(verdicts: Sequence[Verdict]) -> Iterator[str]:
    found = [v for v in verdicts if v.outcome not in ("passed", "skipped")]
    if not found:
        return
    found.sort(key=lambda v: OUTCOMES.index(v.outcome) if v.outcome in OUTCOMES else 1)
    yield "| check | target | outcome | value | limit | message |"
    yield "|---|---|---|---|---|---|"
    for verdict in found[:ROWS]:
        message = (verdict.message or "").strip().split("\n", 1)[0]
        words = (
            *(verdict.check, verdict.target, verdict.outcome),
            *(text.value(verdict), text.limit(verdict), message),
        )
        yield f"| {' | '.join(map(cell, words))} |"
    if len(found) > ROWS:
        yield ""
        yield f"and {len(found) - ROWS:,} more"
