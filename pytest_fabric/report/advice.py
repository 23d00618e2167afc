"""What would tell more about a finding: pairs to measure, or a cable to swap."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_fabric.judge.localise import Evidence, Finding, Seen, next_pairs
from pytest_fabric.judge.localise.candidates import rail_of
from pytest_fabric.judge.localise.followup import partners

#: So many pairs are named.
PAIRS = 2


def of(finding: Finding, seen: Evidence, is_known: bool) -> str:
    """Return what to do next, or nothing where the place's own facts say what is wrong."""
    if len(finding.places) > 1:
        chosen = next_pairs(finding.chances, possible(finding, seen), seen.leaves, PAIRS)
        if chosen:
            return f"measure {' and '.join(one.target for one in chosen)} to tell them apart"
        return "measure each of them with another port to tell them apart: none was left"
    if is_known or finding.kind != "port":
        return ""
    other = _sound(seen, finding.places)
    if other is None:
        return ""
    return (
        f"swap cables of {finding.places[0]} and {other}, measure both again: a fault that moves "
        "is the cable's"
    )


def possible(finding: Finding, seen: Evidence) -> list[Seen]:
    """Return the pairs that could be measured, of the ports of a finding's failed pairs."""
    check, target = finding.explained[0]
    flow = next(s.flow for s in seen.seen if (s.check, s.target) == (check, target))
    measured = {one.target for one in seen.seen if one.check == check}
    ends = list(dict.fromkeys(end for pair in finding.pairs for end in pair.split("..")))
    clean = [port for port in _clean(seen) if port not in ends]
    return partners(
        ends,
        [*clean, *ends],
        lambda one, other: rail_of(one) == rail_of(other) and one != other,
        measured,
        lambda client, server: Seen(check, client, server, flow, False),
    )


def _clean(seen: Evidence) -> list[str]:
    """Return the ports in pairs of which none failed."""
    failed = {end for one in seen.seen if one.failed for end in (one.client, one.server)}
    ports = dict.fromkeys(end for one in seen.seen for end in (one.client, one.server))
    return [port for port in ports if port not in failed]


def _sound(seen: Evidence, places: Sequence[str]) -> str | None:
    """Return a sound port to swap cables with: on the same leaf, or else of the same rail."""
    port = places[0]
    sound = [one for one in _clean(seen) if one not in places]
    leaf = seen.leaves.get(port)
    near = [one for one in sound if leaf is not None and seen.leaves.get(one) == leaf]
    alike = [one for one in sound if rail_of(one) == rail_of(port)]
    return next(iter((*near, *alike)), None)
