"""The verdicts of a run as evidence about places, for `judge.localise`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_fabric.judge.localise import Evidence, Seen, Sign
from pytest_fabric.judge.localise.outliers import outliers
from pytest_fabric.judge.localise.seen import flow_of
from pytest_fabric.judge.localise.signs import CAUSE, of_check, of_counters
from pytest_fabric.report.blame import named, own_failures, shown
from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.places import is_pair, mentioned, ports_of
from pytest_fabric.results import Growth, Verdict

#: How much likelier a port is that the failure of a pair names, and its other end is not; and one
#: that errors name, which say why there is no value.
NAMED, BLAMED = 3.0, 20.0


@dataclass(frozen=True)
class Known:
    """What a run knows besides its verdicts.

    `growth` of counters, the leaf of each port, and by port the facts that are not as declared.
    """

    growth: tuple[Growth, ...] = ()
    leaves: Mapping[str, str] = field(default_factory=dict)
    odd: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


#: What is known where nothing but verdicts is.
NOTHING = Known()


def evidence(verdicts: Sequence[Verdict], known: Known) -> Evidence:
    """Return what the verdicts and counters of a run say about places."""
    judged = [v for v in verdicts if is_pair(v.target) and v.outcome in ("passed", "failed")]
    broken = {(v.layer, v.check) for v in judged if v.outcome == "failed"}
    judged = [v for v in judged if (v.layer, v.check) in broken]  # others tell nothing apart
    far = _outliers(judged, known.leaves)
    seen = [_seen(verdict, verdict.nodeid in far) for verdict in judged]
    own = [
        of_check(v.target, v.metric, clean_line(f"it fails {shown(v)}"))
        for v in own_failures(verdicts)
    ]
    failing = {sign.place for sign in own}
    own += [
        Sign(port, line, CAUSE)
        for port, lines in known.odd.items()
        for line in lines[:1]
        if port not in failing
    ]
    counters = of_counters(known.growth)
    told = {sign.place for sign in counters}
    errors = [Sign(b.place, clean_line(f"named by {b.what}"), BLAMED) for b in named(verdicts)]
    signs = (*own, *counters, *_named(judged, told), *errors)
    return Evidence(tuple(seen), signs, known.leaves)


def seen_of(check: str, client: str, server: str, metric: str | None, failed: bool) -> Seen:
    """Return what a check says of a pair."""
    return Seen(check, client, server, flow_of(metric), failed)


def _seen(verdict: Verdict, is_far: bool) -> Seen:
    client, server = ports_of(verdict.target)
    check = f"{verdict.layer} {verdict.check}"
    one = seen_of(check, client, server, verdict.metric, verdict.outcome == "failed")
    return replace(one, counts=0.0) if is_far and not one.failed else one


def _outliers(judged: Iterable[Verdict], leaves: Mapping[str, str]) -> set[str]:
    """Return the ids of checks whose value is far on the bad side of those of its hop class."""
    groups: dict[tuple[str, bool, bool], dict[str, float]] = defaultdict(dict)
    for verdict in judged:
        signs = {"<": True, ">": False}
        high_is_bad = signs.get((verdict.limit or " ")[0])
        if high_is_bad is None or not isinstance(verdict.value, int | float):
            continue
        client, server = ports_of(verdict.target)
        is_near = leaves.get(client) == leaves.get(server)
        group = (f"{verdict.check} {verdict.metric}", is_near, high_is_bad)
        groups[group][verdict.nodeid] = float(verdict.value)
    return {name for key, values in groups.items() for name in outliers(values, key[2])}


def _named(judged: Iterable[Verdict], told: set[str]) -> list[Sign]:
    """Return the ports that failures name, unless counters say more of them."""
    found: dict[str, Sign] = {}
    for verdict in judged:
        if verdict.outcome != "failed":
            continue
        names = mentioned(ports_of(verdict.target), verdict.message or "")
        if len(names) == 1 and names[0] not in told:
            text = f"{verdict.check} names it"
            found.setdefault(names[0], Sign(names[0], text, NAMED))
    return list(found.values())
