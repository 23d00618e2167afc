"""What stands behind everything that does not hold: readable without scripts, linked to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from pytest_fabric.report import text
from pytest_fabric.report.sections import markup
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.results import Verdict

#: So much evidence stands in a page; `verdicts.jsonl` has all of it.
CHECKS = 1000

#: So many raw files are named for one check.
FILES = 12

#: So long is a message at most; a traceback of a broken test may be endless.
LONG = 6000


def section(record: RunRecord) -> list[str]:
    """Return the message of each check that failed or could not be told, with its raw files."""
    bad = [v for v in record.verdicts if v.outcome not in ("passed", "skipped", "not run")]
    bad.sort(key=lambda v: v.outcome != "failed")
    if not bad:
        return []
    left = len(bad) - CHECKS
    more = [f"<p>and {left:,} more in verdicts.jsonl</p>"] if left > 0 else []
    return ["<h2>Evidence</h2>", *(_one(record, v) for v in bad[:CHECKS]), *more]


def _one(record: RunRecord, v: Verdict) -> str:
    values = " ".join(filter(None, (text.value(v), f"limit {text.limit(v)}" if v.limit else "")))
    title = f"{markup.mark(v.outcome)} {markup.safe(f'{v.check} {v.target}')} {markup.safe(values)}"
    message = v.message or "no message"
    cut = f"{message[:LONG]}\n..." if len(message) > LONG else message
    links = _files(record, v)
    raw = f"<p>raw text: {', '.join(links)}</p>" if links else ""
    return markup.folded(title, markup.block(cut) + raw, name=markup.anchor(v.nodeid))


def _files(record: RunRecord, v: Verdict) -> list[str]:
    """Return links to what the tools printed, as far as it belongs to what was judged."""
    found = record.kept.files.get(v.target, ())
    wanted = _wanted(v, found) or list(found)
    links = [
        f'<a href="{markup.safe(name)}">{markup.safe(PurePath(name).name)}</a> ({markup.safe(key)})'
        for key, name in wanted[:FILES]
        if re.fullmatch(r"raw/[0-9]{1,9}\.txt", name)
    ]
    left = len(wanted) - FILES
    return [*links, f"and {left} more in raw/"] if left > 0 else links


def _wanted(v: Verdict, files: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    tool, _, rest = (v.metric or "").partition(".")
    size = rest.partition(".")[0]
    of_tool = [found for found in files if found[0].split(" ", 1)[0] == tool]
    return [f for f in of_tool if f"size={size}" in f[0].split()] or of_tool
