"""Run directories as comparisons take them, and how a run stands beside its baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from pytest_fabric.judge.compare.against import Against, against
from pytest_fabric.judge.compare.effect import BETTER, SAME, WORSE
from pytest_fabric.judge.compare.run import Run
from pytest_fabric.report.places import fold
from pytest_fabric.report.stored import Stored
from pytest_fabric.units import render

#: So many kinds of values are named in the summary of a run; the rest is counted.
NAMED = 3


def run_of(stored: Stored) -> Run:
    """Return what a comparison needs of a run. Raises ConfigError."""
    about = stored.about
    return Run(
        name=stored.path.name,
        setup={
            "cluster": about.cluster,
            "transport": about.transport,
            "pairs.strategy": about.strategy,
            "--fabric-load": about.options.load,
        },
        ports=about.ports,
        measured=stored.measured,
        facts=stored.facts,
        readings=stored.readings,
        counters=stored.counters,
        leaves=about.leaves,
        routing=about.routing,
    )


def lines(now: Stored, baseline: Sequence[Stored]) -> list[str]:
    """Return in few lines how much of a run is worse or better than its baseline."""
    found = against(run_of(now), [run_of(stored) for stored in baseline])
    runs = f"{len(baseline)} run{'' if len(baseline) == 1 else 's'}"
    if not found:
        return [f"compared with baseline ({runs}): no value of this run is in it"]
    counts = Counter(one.verdict for one in found)
    told = ", ".join(f"{counts[word]:,} {word}" for word in (WORSE, BETTER, SAME))
    head = f"compared with baseline ({runs}): {len(found):,} values: {told}"
    return [head, *_named(found, WORSE), *_named(found, BETTER)]


def _named(found: Sequence[Against], verdict: str) -> list[str]:
    groups: dict[str, list[Against]] = {}
    for one in found:
        if one.verdict == verdict:
            groups.setdefault(str(one.kind), []).append(one)
    rows = []
    for name, group in list(groups.items())[:NAMED]:
        far = max(group, key=lambda one: abs(one.after / one.before - 1))
        unit = far.kind.unit
        values = f"{render(far.before, unit)} -> {render(far.after, unit)}"
        places = fold([one.target for one in group])
        rows.append(f"  {verdict}: {len(group):,} x {name}  {places[:70]} (at most {values})")
    left = len(groups) - NAMED
    return [*rows, f"  {verdict}: and {left:,} more kinds of values"] if left > 0 else rows
