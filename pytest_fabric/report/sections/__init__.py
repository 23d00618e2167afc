"""The sections of a report: each is a pure function of the record of a run."""

from __future__ import annotations

from collections.abc import Callable

from pytest_fabric.report.sections import (
    distributions,
    evidence,
    figures,
    growth,
    inventory,
    markup,
    matrix,
    missing,
    signoff,
    soak,
    tickets,
    training,
    verdict,
    wiring,
)
from pytest_fabric.report.sections.record import RunRecord

#: All sections in their order: what to act on comes first, what explains it after.
SECTIONS: tuple[Callable[[RunRecord], list[str]], ...] = (
    verdict.section,
    tickets.section,
    signoff.section,
    soak.section,
    matrix.section,
    growth.section,
    inventory.section,
    wiring.section,
    distributions.section,
    training.section,
    missing.section,
    evidence.section,
)


def page(record: RunRecord) -> list[str]:
    """Return all sections as HTML with the style and the scripts they need, and no more."""
    parts = [part for section in SECTIONS for part in section(record)]
    return [
        f"<style>{markup.STYLE}</style>",
        '<div class="fabric">',
        *parts,
        "<h2>Results</h2>",
        *_results(len(record.verdicts)),
        "</div>",
        *figures.scripts(parts),
    ]


def _results(count: int) -> list[str]:
    """Return what is said of the results below, and the script that keeps a browser responsive."""
    if count <= figures.MANY:
        return []
    told = "Passed results are not shown at first, there are too many: check their box below."
    return [f"<p>{told}</p>", f"<script>{figures.HIDE}</script>"]
