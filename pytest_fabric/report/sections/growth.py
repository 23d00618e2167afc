"""What counters say: what grew, at which port, and what all of it was looked at for how long."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_fabric.judge.soak import Link
from pytest_fabric.metrics import KEPT, MEANINGS
from pytest_fabric.report.places import fold, ports_of
from pytest_fabric.report.sections import markup
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.results import Growth, Measurement

#: So many ports stand in the table: those that grew most.
PORTS = 200

#: What a soak reads of each link between its windows; the first two must not grow.
COUNTED = {"flaps": "link_downed", "lost": "blocks beyond FEC"}
READ = {"flaps": "links lost", "lost": "blocks beyond FEC", "corrected": "bits that FEC corrected"}
SOAKED = "over the soak"

Kind = tuple[str, str]


@dataclass(frozen=True)
class Watched:
    """What was looked at at one port: meanings, windows and their length in seconds."""

    meanings: frozenset[str]
    windows: int
    seconds: float


def section(record: RunRecord) -> list[str]:
    """Return growth by port and meaning, what was looked at, and the exposure of error rates."""
    if record.kept.problem is not None:
        return ["<h2>Counters</h2>", f"<p>{markup.mark('error', record.kept.problem)}</p>"]
    seen = watched(record)
    parts = [*_grown(record), *_looked_at(record, seen), *_untold(record), *_rates(record)]
    return ["<h2>Counters</h2>", *parts] if seen or _links(record) or len(parts) > 1 else []


def windows(record: RunRecord) -> Iterator[Measurement]:
    """Yield everything that was measured, repetitions included."""
    for found in record.kept.measured:
        yield found.record
        yield from found.alone


def watched(record: RunRecord) -> dict[str, Watched]:
    """Return what was looked at, by port."""
    meanings: dict[str, set[str]] = defaultdict(set)
    count: Counter[str] = Counter()
    seconds: dict[str, float] = defaultdict(float)
    for window in windows(record):
        for port in dict.fromkeys(grown.port for grown in window.growth):
            count[port] += 1
            seconds[port] += window.duration
        for grown in window.growth:
            meanings[grown.port].add(grown.meaning)
    return {port: Watched(frozenset(meanings[port]), count[port], seconds[port]) for port in count}


def _grown(record: RunRecord) -> list[str]:
    sums: dict[str, Counter[Kind]] = defaultdict(Counter)
    for window in windows(record):
        for grown in window.growth:
            if grown.delta and grown.meaning in KEPT:
                sums[grown.port][_kind(grown)] += grown.delta
    for port, link in _links(record).items():
        counts = {(title, SOAKED): link.sums.get(name) for name, title in COUNTED.items()}
        sums[port].update({kind: count for kind, count in counts.items() if count})
    sums = defaultdict(Counter, {port: counts for port, counts in sums.items() if counts})
    found = {kind for counts in sums.values() for kind in counts}
    kinds = sorted(found, key=lambda kind: (_rank(kind), kind[1]))
    if not kinds:
        return ["<p>No counter that tells of errors or congestion grew.</p>"]
    bad = _failed(record)
    ports = sorted(sums, key=lambda port: (-_weight(sums[port]), port))
    rows = [
        [markup.safe(port), *(_cell(sums[port][kind], (port, kind[0]) in bad) for kind in kinds)]
        for port in ports[:PORTS]
    ]
    left = len(ports) - PORTS
    more = [f"<p>and {left:,} more ports, where less grew</p>"] if left > 0 else []
    return [
        "<p>Growth while something was measured, summed over all windows; empty is none. A "
        f"{markup.SIGNS['failed']} stands where a check failed because of it. Marks, notifications "
        "and pauses are how a congested fabric answers: incasts must make them grow.</p>",
        markup.table(("port", *(_title(kind) for kind in kinds)), rows),
        *more,
    ]


def _links(record: RunRecord) -> Mapping[str, Link]:
    """Return what a soak has seen of each link; nothing of a run without one."""
    return {} if record.run.soak is None else record.run.soak.links


def _rank(kind: Kind) -> int:
    return KEPT.index(kind[0]) if kind[0] in KEPT else len(KEPT)


def _kind(grown: Growth) -> Kind:
    """Return a meaning, and for pauses the direction: who sends them is slow, others wait."""
    word = {"tx": "sent", "rx": "received"}.get(grown.direction or "", "")
    return grown.meaning, word if grown.meaning.startswith("pause") else ""


def _title(kind: Kind) -> str:
    return " ".join(filter(None, (kind[0].replace("_", " "), kind[1])))


def _cell(delta: int, is_bad: bool) -> str:
    if not delta:
        return ""
    return markup.mark("failed", f"+{delta:,}") if is_bad else f"+{delta:,}"


def _weight(counts: Counter[Kind]) -> int:
    return sum(delta for (meaning, _), delta in counts.items() if meaning in MEANINGS)


def _failed(record: RunRecord) -> set[tuple[str, str]]:
    """Return ports and meanings for which a check of growth failed."""
    return {
        (port, v.metric.removesuffix(".growth"))
        for v in record.verdicts
        if v.outcome == "failed" and v.metric and v.metric.endswith(".growth")
        for port in ports_of(v.target)
    }


def _looked_at(record: RunRecord, seen: dict[str, Watched]) -> list[str]:
    """Return what was watched, alike ports in one row, and ports at which nothing was."""
    groups: dict[frozenset[str], list[str]] = defaultdict(list)
    for port, one in seen.items():
        groups[one.meanings].append(port)
    rows: list[tuple[str, ...]] = []
    for meanings, ports in groups.items():
        count = [seen[port].windows for port in ports]
        seconds = [seen[port].seconds for port in ports]
        names = [len(record.kept.counters.get(port, ())) for port in ports]
        missing = [word for word in KEPT if word not in meanings]
        rows.append(
            (
                markup.safe(fold(ports)),
                _span(min(names), max(names)),
                _span(min(count), max(count)),
                f"{_span(round(min(seconds), 1), round(max(seconds), 1))} s",
                markup.safe(_words([word for word in KEPT if word in meanings])),
                markup.safe(_words(missing) or "none"),
            )
        )
    rows += _soaked(_links(record))
    known = {*seen, *_links(record)}
    blind = [port for port in record.run.declared if port not in known]
    if blind:
        none = markup.mark("error", "nothing was read")
        rows.append((markup.safe(fold(blind)), none, "0", "0 s", "", ""))
    head = ("ports", "counters", "windows", "for", "looked at", "the driver has none for")
    return ["<h3>What was looked at</h3>", markup.table(head, rows)] if rows else []


def _soaked(links: Mapping[str, Link]) -> list[tuple[str, ...]]:
    """Return what was read of links before and after the windows of a soak, alike ones in a row."""
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = defaultdict(list)
    for port, link in links.items():
        read = [title for name, title in READ.items() if name in link.sums]
        if any(celsius == celsius for celsius in link.celsius):
            read.append("module temperature")
        problems = {**link.problems, **link.inapplicable}
        groups[tuple(read), tuple(dict.fromkeys(problems.values()))].append(port)
    return [
        (
            markup.safe(fold(ports)),
            "of the link",
            _span(min(links[p].windows for p in ports), max(links[p].windows for p in ports)),
            f"{min(links[p].seconds for p in ports):,.0f} s",
            markup.safe(", ".join(read) or "nothing"),
            markup.safe("; ".join(problems) or "none"),
        )
        for (read, problems), ports in groups.items()
    ]


def _untold(record: RunRecord) -> list[str]:
    reasons = Counter(
        f"{meaning.replace('_', ' ')}: {reason}"
        for window in windows(record)
        for meaning, reason in window.counter_errors.items()
        if meaning in KEPT
    )
    rows = [f"{count:,} x {markup.safe(reason)}" for reason, count in reasons.most_common(20)]
    return ["<h3>What could not be told</h3>", markup.listed(rows)] if rows else []


def _rates(record: RunRecord) -> list[str]:
    """Return the worst of each rate that has an exposure, and the least exposure of it."""
    found: dict[str, list[tuple[float, str, float, float]]] = defaultdict(list)
    for reading in record.kept.readings.values():
        for target, facts in reading.facts.items():
            for metric, fact in facts.items():
                if fact.exposure is not None and isinstance(fact.value, (int, float)):
                    seen = fact.exposure
                    found[metric].append((float(fact.value), target, seen.seconds, seen.floor))
    rows = []
    for metric, values in found.items():
        value, port = max(values)[:2]
        least, floor = min(v[2] for v in values), max(v[3] for v in values)
        cells = (
            metric,
            f"{len(values):,}",
            f"{value:.3g}",
            port,
            f"{least:,.0f} s",
            f"{floor:.2g}",
        )
        rows.append([markup.safe(cell) for cell in cells])
    head = ("rate", "ports", "worst", "at", "watched for at least", "lower rates cannot be told")
    return ["<h3>Exposure behind error rates</h3>", markup.table(head, rows)] if rows else []


def _span(low: float, high: float) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _words(names: list[str]) -> str:
    return ", ".join(name.replace("_", " ") for name in names)
