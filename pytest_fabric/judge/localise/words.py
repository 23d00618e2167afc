"""What speaks for a finding, in words."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_fabric.judge.localise.findings import Finding
from pytest_fabric.judge.localise.seen import Seen

#: So many signs are told.
SIGNS = 2


def evidence(finding: Finding, failed: Iterable[str], seen: Iterable[Seen]) -> str:
    """Return why a place is suspected; `failed` are all pairs that failed anything."""
    whole, known = len(set(failed)), tuple(seen)
    pairs = finding.pairs
    count = f"{len(pairs):,} of {whole:,} failing pair{'' if whole == 1 else 's'}"
    told = [_pattern(finding, count), *_clean(finding, known)]
    if finding.cleared:
        passed = len({one.target for one in finding.cleared} - set(pairs))
        told.append(f"{passed:,} that use it pass")
    told += [sign.text for sign in finding.signs if sign.ratio != 1][:SIGNS]
    told += [sign.text for sign in finding.signs if sign.ratio == 1][:1]
    return "; ".join(told)


def _pattern(finding: Finding, count: str) -> str:
    many = len(finding.pairs) != 1
    if finding.kind == "fabric":
        return f"{count}, everywhere: no single place explains them"
    if len(finding.places) > 1:
        return f"{count} {'use' if many else 'uses'} each of them"
    if finding.kind == "port":
        verb = {"tx": "start", "rx": "end", None: "end"}[finding.direction]
        place = "there" if finding.direction else "at it"
        return f"{count} {verb}{'' if many else 's'} {place}"
    ways = {
        "node": ("end on it", "ends on it"),
        "rail": ("are on it", "is on it"),
        "leaf": ("use it", "uses it"),
        "path": ("cross it", "crosses it"),
        "pair": ("are it", "is it"),
    }
    return f"{count} {ways[finding.kind][not many]}"


def _clean(finding: Finding, seen: tuple[Seen, ...]) -> list[str]:
    """Return that the other direction of a port is clean, or that both ends of a pair are."""
    checks = {check for check, _ in finding.explained}
    passed = [one for one in seen if one.check in checks and not one.failed]
    place = finding.places[0]
    if finding.direction == "tx" and any(place in one.receivers for one in passed):
        return ["its receive direction is clean"]
    if finding.direction == "rx" and any(place in one.senders for one in passed):
        return ["its transmit direction is clean"]
    if finding.kind in ("pair", "path"):
        ends = {end for pair in finding.pairs for end in pair.split("..")}
        clean = {end for one in passed for end in (one.client, one.server)}
        return ["its ports pass with other partners"] if ends <= clean else []
    return []
