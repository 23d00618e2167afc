"""Which leaves are ready to be signed for, with their pages."""

from __future__ import annotations

from urllib.parse import quote

from pytest_fabric.report import papers
from pytest_fabric.report.sections import markup
from pytest_fabric.report.sections.record import RunRecord

#: So many leaves have a row.
SHOWN = 200


def section(record: RunRecord) -> list[str]:
    """Return a row for each leaf, with its page; nothing of a record that no run has made."""
    if record.about is None:
        return []
    rows = []
    for sheet, name in papers.named(record):
        said = sheet.conclusion
        state = "failed" if said == "NOT READY" else "passed"
        title = markup.safe(sheet.leaf or "without a leaf")
        link = f'<a href="{markup.safe(quote(name))}">{title}</a>'
        ports = f"{len(sheet.coverage.measured)} of {len(sheet.ports)} ports measured"
        reasons = [*sheet.reasons[:2], *(["..."] if len(sheet.reasons) > 2 else [])]
        cells = (markup.mark(state, said), link, *map(markup.safe, (ports, "; ".join(reasons))))
        rows.append(cells)
    left = len(rows) - SHOWN
    more = [f"<p>and {left:,} more in signoff/</p>"] if left > 0 else []
    head = ("", "page to sign", "ports", "why not")
    return ["<h2>Sign-off</h2>", markup.table(head, rows[:SHOWN]), *more]
