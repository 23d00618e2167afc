"""From what was seen to findings: places, how sure each is, and what speaks for it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fabric.judge.localise.candidates import Candidate, covers
from pytest_fabric.judge.localise.search import Choice, Search
from pytest_fabric.judge.localise.seen import Evidence, Seen, Sign

#: What is at least so likely as this part of the likeliest cannot be told apart from it.
ALIKE = 1 / 3

#: Signs make a place so much likelier at most: they are no measurement of the pairs.
SIGNS_MOST = 200.0

#: Never surer than this: the model does not know everything.
SUREST = 0.99


@dataclass(frozen=True)
class Finding:
    """Places that explain failures, the likeliest first: several where they cannot be told apart.

    `confidence` is the chance of the first place. `direction` is tx or rx where only what the port
    sends or receives is spoilt. `explained` are the failures, by check and pair, `cleared` the
    pairs that use the place and passed all the same. `chances` are those of all candidates.
    """

    places: tuple[str, ...]
    kind: str
    direction: str | None
    confidence: float
    explained: tuple[tuple[str, str], ...]
    cleared: tuple[Seen, ...]
    signs: tuple[Sign, ...]
    chances: Mapping[Candidate, float]

    @property
    def pairs(self) -> tuple[str, ...]:
        """Return the failed pairs that it explains, each once."""
        return tuple(dict.fromkeys(pair for _, pair in self.explained))


def localise(evidence: Evidence) -> list[Finding]:
    """Return what explains the failed checks of pairs, what explains most of them first."""
    names = _alike(_checks(evidence.seen))
    seen = [one for checks in names.values() for one in checks[0]]
    if not seen:
        return []
    uses = covers(seen, evidence.leaves)
    signs: dict[str, list[Sign]] = defaultdict(list)
    for sign in evidence.signs:
        signs[sign.place].append(sign)
    search = Search(seen, uses, {c: _odds(c, signs[c.place]) for c in uses})
    numbered = list(dict.fromkeys(one.check for one in seen))
    alike = {checks[0][0].check: [one[0].check for one in checks] for checks in names.values()}
    found = []
    for choice in search.run():
        explained = [seen[n] for n in search.explained(choice.candidate, choice.checks)]
        if not explained:
            continue  # its own signs make it likely, and no pair needs it
        cleared = [seen[n] for n in search.cleared(choice.candidate, choice.checks)]
        also = {name: alike[name] for name in numbered}
        own = tuple(signs[choice.candidate.place])
        found.append(_finding(choice, _all_names(explained, also), cleared, own))
    return sorted(found, key=lambda one: (-len(one.pairs), -round(one.confidence, 6), one.places))


def _checks(seen: Iterable[Seen]) -> list[list[Seen]]:
    """Return what each check with a failure said of each pair: failed if it ever failed there."""
    checks: dict[str, dict[str, Seen]] = defaultdict(dict)
    for one in seen:
        known = checks[one.check].get(one.target)
        if known is None or not known.failed:
            checks[one.check][one.target] = one
    return [
        list(pairs.values())
        for pairs in checks.values()
        if any(one.failed for one in pairs.values())
    ]


def _alike(
    checks: Iterable[list[Seen]],
) -> dict[tuple[str, frozenset[str]], list[list[Seen]]]:
    """Return checks that failed on the same pairs together: they are one symptom, not several."""
    found: dict[tuple[str, frozenset[str]], list[list[Seen]]] = defaultdict(list)
    for check in checks:
        failed = frozenset(one.target for one in check if one.failed)
        found[check[0].flow, failed].append(check)
    for same in found.values():
        same.sort(key=len, reverse=True)
    return found


def _all_names(explained: Sequence[Seen], alike: Mapping[str, Sequence[str]]) -> list[Seen]:
    return [replace(one, check=name) for one in explained for name in alike[one.check]]


def _odds(candidate: Candidate, signs: Sequence[Sign]) -> float:
    """Return the log odds that a candidate is broken, from its kind and signs of its place."""
    ratio = math.prod(sign.ratio for sign in signs if _speaks_for(sign, candidate))
    odds = candidate.prior / (1 - candidate.prior)
    return math.log(odds) + math.log(min(ratio, SIGNS_MOST))


def _speaks_for(sign: Sign, candidate: Candidate) -> bool:
    return sign.direction is None or candidate.kind in ("port", sign.direction)


def _finding(
    choice: Choice, explained: Sequence[Seen], cleared: Sequence[Seen], signs: tuple[Sign, ...]
) -> Finding:
    chances: dict[str, float] = defaultdict(float)
    for candidate, chance in choice.instead.items():
        chances[candidate.place] += chance
    ordered = sorted(chances, key=lambda place: (-chances[place], place))
    best = choice.candidate.place
    places = [best, *(p for p in ordered if p != best and chances[p] >= ALIKE * chances[best])]
    kind = choice.candidate.kind
    return Finding(
        places=tuple(places),
        kind="port" if kind in ("tx", "rx") else kind,
        direction=kind if kind in ("tx", "rx") else None,
        confidence=min(SUREST, chances[best]),
        explained=tuple((one.check, one.target) for one in explained),
        cleared=tuple(cleared),
        signs=signs,
        chances=choice.instead,
    )
