"""The numbers of a sheet: worst, P1 and median of each metric, exposure, versions."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fabric.judge.soak import span
from pytest_fabric.report import text
from pytest_fabric.report.places import fold
from pytest_fabric.report.sections.growth import COUNTED, Watched
from pytest_fabric.report.sections.series import hop_class, series
from pytest_fabric.report.signoff.sheet import MEASURED, Sheet
from pytest_fabric.report.soak import claim
from pytest_fabric.results import Exposure, Fact, Verdict
from pytest_fabric.units import alike

#: Facts of ports that have a row, with how people call them.
FACTS = {
    "link.raw_ber": "BER before FEC",
    "link.effective_ber": "BER after FEC",
    "link.uncorrectable": "uncorrectable blocks",
    "link.flaps": "links lost since boot",
    "module.rx_power_min": "received light",
    "module.tx_power_min": "sent light",
    "module.temperature": "module temperature",
}


@dataclass(frozen=True)
class Row:
    """One metric of one hop class; values are for people, `outcome` is the worst of all."""

    title: str
    hops: str
    count: int
    worst: str
    p1: str
    median: str
    limit: str
    outcome: str


def rows(sheet: Sheet) -> list[Row]:
    """Return the metrics of pairs by hop class, then those of ports."""
    found = []
    for one in series(sheet.own):
        groups: dict[str, list[Verdict]] = {}
        for verdict in one.verdicts:
            groups.setdefault(hop_class(verdict.target, sheet.record.leaves), []).append(verdict)
        for hops, verdicts in sorted(groups.items()):
            found.append(_row(one.title, hops, verdicts, one.is_worse_high))
    for metric, title in FACTS.items():
        verdicts = [v for v in sheet.own if v.metric == metric]
        if verdicts:
            is_high = not any((v.limit or "").startswith(">") for v in verdicts)
            found.append(_row(title, "port", verdicts, is_high))
    return found


def _row(title: str, hops: str, verdicts: Sequence[Verdict], is_worse_high: bool) -> Row:
    valued = [v for v in verdicts if isinstance(v.value, (int, float)) and v.outcome in MEASURED]
    values = sorted((float(v.value or 0) for v in valued), reverse=is_worse_high)
    outcomes = [v.outcome for v in verdicts]
    order = ("failed", "error", "not run", "waived", "passed")
    worst = next((name for name in order if name in outcomes), "error")
    texts = dict.fromkeys(v.limit for v in verdicts if v.limit)
    # A failure tells the clause that it misses, a pass all of them: one is part of the other.
    limits = [one for one in texts if not any(one in other for other in texts if other != one)]
    plain = [replace(verdicts[0], limit=one, limit_source=None) for one in limits]
    limit = " or ".join(text.limit(one) for one in plain)
    if not values:
        return Row(title, hops, 0, "none", "none", "none", limit, "error")
    model = valued[0]
    p1 = values[math.ceil(0.01 * len(values)) - 1]  # the nearest rank, from the worse side
    shown = (values[0], p1, statistics.median(values))
    worst_of, p1_of, median_of = alike(shown, model.unit or "")
    return Row(title, hops, len(values), worst_of, p1_of, median_of, limit, worst)


def growth(sheet: Sheet) -> str:
    """Return in one line what counters say that must not grow under load."""
    judged = [v for v in sheet.own if v.metric and v.metric.endswith(".growth")]
    told = [v for v in judged if isinstance(v.value, (int, float)) and v.outcome in MEASURED]
    if not told:
        return "no counter was judged"
    names = dict.fromkeys((v.metric or "").removesuffix(".growth").replace("_", " ") for v in told)
    grown = Counter({v.metric or "": 0 for v in told})
    for verdict in told:
        grown[verdict.metric or ""] += int(verdict.value or 0)
    bad = [f"{name.removesuffix('.growth')} +{count:,}" for name, count in grown.items() if count]
    what = ", ".join(bad) if bad else "none grew"
    return f"{what}, in {len(told):,} checks ({', '.join(names)})"


def exposures(sheet: Sheet, watched: Mapping[str, Watched]) -> list[tuple[str, str]]:
    """Return what stands behind each claim about bit errors and lost links."""
    found = []
    for metric in ("link.raw_ber", "link.effective_ber"):
        seen = _seen(sheet, metric)
        words = "not told: nothing says for how long errors were counted"
        if seen:
            least, floor = min(s.seconds for s in seen), max(s.floor for s in seen)
            words = f"counted for {least:,.0f} s or more, rates of {floor:.2g} and more show"
            words += _without(sheet, len(seen))
        found.append((FACTS[metric], words))
    details = _details(sheet, "link.uncorrectable")
    found.append((FACTS["link.uncorrectable"], _first(details, "not told")))
    details = _details(sheet, "link.flaps")
    found.append((FACTS["link.flaps"], _first(details, "not told")))
    windows = [watched[port] for port in sheet.ports if port in watched]
    windows = [one for one in windows if "link_downed" in one.meanings]
    words = "in no window of this run"
    if windows:
        least = min(one.seconds for one in windows)
        words = f"in windows of {least:,.0f} s or more per port" + _without(sheet, len(windows))
    found.append(("links lost under load", words))
    return [*found, *_soaked(sheet)]


def _soaked(sheet: Sheet) -> list[tuple[str, str]]:
    """Return what a soak has shown of the links of a sheet; nothing of a run without one."""
    soak = sheet.record.run.soak
    links = {} if soak is None else {p: soak.links[p] for p in sheet.ports if p in soak.links}
    if soak is None or not links:
        return []
    flaps, lost = (sum(link.sums.get(name, 0) for link in links.values()) for name in COUNTED)
    told = f"{span(min(link.seconds for link in links.values()))} or more per port: {flaps:,} links"
    told += f" lost, {lost:,} blocks beyond FEC"
    clean = [link for link in links.values() if link.sums.get("lost") == 0]
    if len(clean) == len(links):
        told += f"; BER behind FEC below {claim(clean):.2g} at each"
    return [
        ("soak", told + _without(sheet, len(links)) + (f"; {soak.short}" if soak.short else ""))
    ]


def _without(sheet: Sheet, count: int) -> str:
    left = len(sheet.ports) - count
    return f"; not of {left} of {len(sheet.ports)} ports" if left > 0 else ""


def _seen(sheet: Sheet, metric: str) -> list[Exposure]:
    return [fact.exposure for fact in _facts(sheet, metric) if fact.exposure is not None]


def _details(sheet: Sheet, metric: str) -> list[str]:
    return [f.detail[0] for f in _facts(sheet, metric) if f.value is not None and f.detail]


def _facts(sheet: Sheet, metric: str) -> list[Fact]:
    """Return a fact of each port of a sheet that tells it."""
    facts = sheet.record.facts
    return [facts[port][metric] for port in sheet.ports if metric in facts.get(port, ())]


def _first(details: Sequence[str], otherwise: str) -> str:
    counts = Counter(details).most_common()
    if not counts:
        return otherwise
    more = f" (and {len(counts) - 1} other answers)" if len(counts) > 1 else ""
    return f"{counts[0][0]}{more}"


def versions(sheet: Sheet) -> list[tuple[str, str]]:
    """Return what runs on nodes, cards and the switch: alike ones with their number."""
    record = sheet.record
    nodes = dict.fromkeys(port.partition(":")[0] for port in sheet.ports)
    facts = [record.kept.facts[node] for node in nodes if node in record.kept.facts]
    cards: Counter[str] = Counter()
    drivers: Counter[str] = Counter()
    told_by = {port: record.facts.get(port, {}).get("firmware.driver") for port in sheet.ports}
    for port in sheet.ports:
        rdma = record.device(port)
        if rdma is not None:
            cards[f"{rdma.psid or 'no PSID'}: {rdma.firmware or 'not told'}"] += 1
            said = told_by[port]
            drivers[str(said.value) if said is not None and said.value else rdma.driver] += 1
    silent = [node for node in nodes if node not in record.kept.facts]
    told = [
        ("firmware by board", _counts(cards)),
        ("driver", _counts(drivers)),
        ("kernel", _counts(Counter(one.kernel for one in facts))),
        ("perftest", _counts(Counter(one.perftest or "not there" for one in facts))),
        ("switch OS", _switch(sheet)),
    ]
    return [*told, *([("not known", fold(silent))] if silent else [])]


def _counts(counted: Counter[str]) -> str:
    told = [f"{name} ({count})" for name, count in counted.most_common(4)]
    return ", ".join(told) or "not told"


def _release(sheet: Sheet, switch: str) -> str | None:
    """Return what a switch says that it runs, None where nobody has read it."""
    reading = sheet.record.kept.readings.get(("switch", switch))
    told = (facts.get("switch.version") for facts in reading.facts.values()) if reading else ()
    return next((str(fact.value) for fact in told if fact is not None and fact.value), None)


def _switch(sheet: Sheet) -> str:
    about = sheet.record.about
    if about is None:
        return "not asked"
    places = (about.cables[port].switch for port in sheet.ports if port in about.cables)
    names = dict.fromkeys((*places, *([sheet.leaf] if sheet.leaf else [])))
    declared = {name.casefold(): name for name in about.switches}
    found = [declared[name.casefold()] for name in names if name.casefold() in declared]
    told = [
        f"{name}: {_release(sheet, name) or about.switches[name] + ', version not read'}"
        for name in found
    ]
    return "; ".join(told) or "not asked: `switches:` of cluster.yaml does not have it"
