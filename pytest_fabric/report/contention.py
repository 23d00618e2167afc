"""What load did to pairs that are sound alone: a finding about the fabric, no failure of a pair."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.places import nodes_of, ports_of
from pytest_fabric.results import Verdict


def lines(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the checks that missed under load and held alone, and where they meet."""
    groups: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        if verdict.outcome == "passed" and verdict.contention:
            groups[verdict.check].append(verdict)
    return [_line(check, group) for check, group in groups.items()]


def _line(check: str, group: Sequence[Verdict]) -> str:
    example = f"{clean_line(group[0].contention or '')} on {group[0].target}"
    return f"{len(group):,} x {check}{_common(group)}: {example}"


def _common(group: Sequence[Verdict]) -> str:
    """Return the port or node that all of them have, if there is more than one of them."""
    if len(group) < 2:
        return ""
    for places in (ports_of, nodes_of):
        counts = Counter(
            place for verdict in group for place in dict.fromkeys(places(verdict.target))
        )
        common = [place for place, count in counts.items() if count == len(group)]
        if common:
            return f", all with {' and '.join(common[:2])}"
    return ""
