"""What the slowest port costs a training step: shown where `workload:` says what is trained."""

from __future__ import annotations

from pytest_fabric.report import training
from pytest_fabric.report.sections import markup
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.units import render

TITLE = "<h2>Training cost (a model)</h2>"

#: What a reader must know before believing a number of a model.
SOURCES = (
    "Nothing here was measured with GPUs. Ring: Patarasuk and Yuan 2009; two trees: Sanders, Speck "
    "and Traeff 2009; network steps as in NCCL's src/graph/tuning.cc. Every NIC carries an equal "
    "part, so the slowest port sets the pace; NVLink, kernels and what else is the same in both "
    "columns is left out. Only the difference is meant."
)


def section(record: RunRecord) -> list[str]:
    """Return the cost as a table, why there is none, or nothing without a workload."""
    work = record.run.workload
    if work is None:
        return []
    line = f"<p>{markup.safe(training.line(work, record.verdicts))}</p>"
    found = training.model(work, record.verdicts)
    if found is None or work.nodes < 2:
        return [TITLE, line]
    told, _ = found
    head = ("", "as measured", f"{told.slowest} like most", "difference")
    cells = [[markup.safe(cell) for cell in row] for row in training.rows(work, told)]
    given = (
        f"{work.gpus} GPUs on {work.nodes} nodes with {work.nics_per_node} NICs each, gradients of "
        f"{render(work.gradients_bytes, 'B')}, {render(work.compute_s, 's')} of computing, "
        f"{100 * work.overlap:g}% of it beside gradients."
    )
    return [
        TITLE,
        line,
        markup.table(head, cells),
        f"<p>{markup.safe(given)} {markup.safe(SOURCES)}</p>",
    ]
