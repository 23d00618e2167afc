"""Where each cable ends, once it was judged."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fabric.metrics import NOBODY
from pytest_fabric.report.sections import markup
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.results import Fact, Verdict

#: The layer of the checks of cables.
LAYER = "wiring"


def section(record: RunRecord) -> list[str]:
    """Return a row for each port that was held against the plan, those that are wrong first."""
    judged = [v for v in record.verdicts if v.layer == LAYER and v.outcome != "skipped"]
    ports = {v.target: v for v in judged if ":" in v.target}
    if not ports:
        return []
    seen = {
        port: facts
        for (topic, _), reading in record.kept.readings.items()
        if topic == LAYER
        for port, facts in reading.facts.items()
    }
    rows = [
        _row(port, v, seen.get(port, {}))
        for port, v in sorted(
            ports.items(), key=lambda found: (found[1].outcome == "passed", found)
        )
    ]
    good = sum(v.outcome == "passed" for v in ports.values())
    head = ("", "port", "switch", "its port", "described as", "what is wrong")
    told = f"{good:,} of {len(ports):,} cables are where the plan has them"
    swapped = [v for v in judged if ":" not in v.target and v.outcome != "passed"]
    return [
        "<h2>Wiring</h2>",
        *(f"<p>{markup.mark(v.outcome, v.message or v.check)}</p>" for v in swapped),
        markup.folded(told, markup.table(head, rows), good < len(ports)),
    ]


def _row(port: str, v: Verdict, facts: Mapping[str, Fact]) -> list[str]:
    words = [facts.get(f"wiring.{name}") for name in ("switch", "switch_port", "port_description")]
    told = ["" if w is None else str(w.value or w.problem or "") for w in words]
    shown = [markup.mark("odd", word) if word == NOBODY else markup.safe(word) for word in told]
    reason = "" if v.outcome == "passed" else (v.message or "").strip().split("\n", 1)[0]
    sign = markup.mark(v.outcome)
    if v.outcome != "passed":
        sign = f'<a href="#{markup.anchor(v.nodeid)}">{sign}</a>'
    return [sign, markup.safe(port), *shown, markup.safe(reason)]
