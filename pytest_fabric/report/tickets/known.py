"""What a run knows of a port beside its verdicts: both ends of its cable, values, flaps, log."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from functools import cached_property

from pytest_fabric.metrics import FACT_UNITS, NOBODY
from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.sections.growth import windows
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.report.tickets.record import End, Flap, Value
from pytest_fabric.results import Fact, RdmaPort, Verdict
from pytest_fabric.units import render

#: Facts that belong into every ticket of a cable, judged or not.
OF_CABLE = (
    "link.raw_ber",
    "link.effective_ber",
    "link.uncorrectable",
    "link.flaps",
    "module.rx_power_min",
    "module.tx_power_min",
    "module.temperature",
)

#: Facts with a value for each lane.
LANES = ("link.raw_ber", "module.rx_power_min", "module.tx_power_min")

LOGS = (
    "host.log_mlx5",
    "host.log_aer",
    "host.log_aer_corrected",
    "host.log_link_down",
    "host.log_xid",
)

#: So many windows in which a link was lost are listed, and so many lines of a log.
FLAPS, LINES = 50, 40


class Known:
    """What a run knows, by place: a fabric has thousands of ports, and each is asked for often."""

    def __init__(self, record: RunRecord) -> None:
        self.record = record

    @property
    def facts(self) -> Mapping[str, Mapping[str, Fact]]:
        """Return all that was read, by port or node, and by metric."""
        return self.record.facts

    @cached_property
    def judged(self) -> Mapping[str, Sequence[Verdict]]:
        """Return the verdicts on each port or node itself, and on the pairs of each port."""
        found: dict[str, list[Verdict]] = defaultdict(list)
        for verdict in self.record.verdicts:
            for place in dict.fromkeys(verdict.target.split("..")):
                found[place].append(verdict)
        return dict(found)

    @cached_property
    def flaps(self) -> Mapping[str, Sequence[Flap]]:
        """Return the windows in which each port lost its link, in their order."""
        found: dict[str, list[Flap]] = defaultdict(list)
        for window in windows(self.record):
            counts: Counter[str] = Counter()
            for grown in window.growth:
                if grown.meaning == "link_downed":
                    counts[grown.port] += grown.delta
            begun = datetime.fromtimestamp(window.started, timezone.utc).isoformat()
            for port, count in counts.items():
                if count:
                    found[port].append(Flap(f"{begun[:19]}+00:00", window.duration, count))
        return {port: sorted(some, key=lambda one: one.begun) for port, some in found.items()}

    def own(self, place: str) -> list[Verdict]:
        """Return the verdicts on a port or node itself."""
        return [v for v in self.judged.get(place, ()) if v.target == place]

    def pairs(self, port: str) -> list[Verdict]:
        """Return the verdicts on the pairs of a port."""
        return [v for v in self.judged.get(port, ()) if v.target != port]


def host_end(known: Known, port: str) -> End:
    """Return the end of a cable at its node."""
    rdma, facts = known.record.device(port), known.facts.get(port, {})
    unknown = [] if rdma is not None else ["its node has not told of it"]
    names = ("module.vendor", "module.part", "module.serial")
    words = [_word(facts.get(name)) for name in names]
    if not any(words):
        unknown.append(f"module: {_why(facts.get('module.serial'))}")
    lanes = [
        f"{name.partition('.')[2].replace('_', ' ')}: {clean_line(line)}"
        for name in LANES
        for line in (facts[name].detail if name in facts else ())
        if "by lane" in line
    ]
    return End(
        place=port,
        slot=None if rdma is None else rdma.pci,
        device=None if rdma is None else f"{rdma.device} port {rdma.number}",
        netdevs=None if rdma is None else ",".join(rdma.netdevs) or None,
        card=None if rdma is None else _card(rdma),
        vendor=words[0],
        part=words[1],
        serial=words[2],
        state=None if rdma is None else clean_line(f"{rdma.state}, {rdma.physical_state}"),
        speed=None if rdma is None or not rdma.speed_bps else render(rdma.speed_bps, "b/s"),
        fec=_word(facts.get("link.fec")),
        lanes=tuple(lanes),
        unknown=tuple(unknown),
    )


def _card(rdma: RdmaPort) -> str:
    words = (rdma.psid, rdma.firmware and f"firmware {rdma.firmware}", rdma.driver)
    return clean_line(", ".join(word for word in words if word))


def switch_end(known: Known, port: str) -> End:
    """Return the other end of a port's cable: where it is, and else where the plan has it."""
    facts, about = known.facts.get(port, {}), known.record.about
    planned = None if about is None else about.cables.get(port)
    heard = [_word(facts.get(f"wiring.{name}")) for name in ("switch", "switch_port")]
    unknown = ["module: the switch end's is not read: look at the switch"]
    if all(heard) and NOBODY not in heard:
        place = f"{heard[0]} {heard[1]}"
        if planned is not None and (planned.switch, planned.switch_port) != tuple(heard):
            unknown.insert(0, f"the plan has it at {planned.switch} {planned.switch_port}")
    elif planned is not None:
        place = f"{planned.switch} {planned.switch_port}"
        unknown.insert(0, "the place is that of the plan: nothing was heard from there")
    else:
        place = known.record.leaves.get(port, "not known")
        unknown.insert(0, "which port of the switch: no plan of cables, and nothing was heard")
    speed = facts.get("switch.speed")
    is_speed = speed is not None and isinstance(speed.value, (int, float))
    return End(
        place=clean_line(place),
        state=_word(facts.get("switch.state")),
        speed=render(float(speed.value), "b/s") if is_speed and speed and speed.value else None,
        fec=_word(facts.get("switch.fec")),
        unknown=tuple(unknown),
    )


def _word(fact: Fact | None) -> str | None:
    if fact is None or fact.value is None:
        return None
    return clean_line(str(fact.value)) or None


def _why(fact: Fact | None) -> str:
    if fact is None:
        return "was not asked for in this run"
    return clean_line(fact.problem or fact.inapplicable or "says nothing")


def values(known: Known, port: str, metrics: Iterable[str]) -> tuple[Value, ...]:
    """Return what was judged, and what was only read, of metrics of one port or node."""
    facts = known.facts.get(port, {})
    judged = {v.metric: v for v in known.own(port) if v.metric}
    found = []
    for metric in dict.fromkeys(metrics):
        fact, verdict = facts.get(metric), judged.get(metric)
        if verdict is not None:
            found.append(of_verdict(verdict, fact))
        elif fact is not None and fact.value is not None:
            found.append(_with(fact, port, metric, fact.value, FACT_UNITS[metric], None, "read"))
    return tuple(found)


def of_verdict(verdict: Verdict, fact: Fact | None = None) -> Value:
    """Return what was judged, with what stands behind it."""
    said = (verdict.value, verdict.unit or "", verdict.limit, verdict.outcome)
    return _with(fact, verdict.target, verdict.metric or verdict.check, *said)


def _with(
    fact: Fact | None,
    target: str,
    metric: str,
    value: float | str | None,
    unit: str,
    limit: str | None,
    outcome: str,
) -> Value:
    seen = None if fact is None else fact.exposure
    return Value(
        target,
        metric,
        clean_line(value) if isinstance(value, str) else value,
        unit,
        limit,
        outcome,
        None if seen is None else seen.seconds,
        None if seen is None else seen.floor,
        () if fact is None else tuple(clean_line(line) for line in fact.detail),
    )


def flaps(known: Known, port: str) -> tuple[Flap, ...]:
    """Return the first windows of a run in which a port lost its link."""
    return tuple(known.flaps.get(port, ())[:FLAPS])


def log(known: Known, place: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines of the kernel's log that are about a port or node, and what is not known."""
    node = place.partition(":")[0]
    said = known.facts.get(node, {})
    asked = [name for name in LOGS if name in said]
    if not asked:
        return (), (f"the kernel's log of {node} was not asked for in this run",)
    names = _names(known.record.device(place)) if ":" in place else ()
    lines = [line for name in asked for line in said[name].detail if _is_about(line, names)]
    problems = dict.fromkeys(_why(said[n]) for n in asked if said[n].value is None)
    return (
        tuple(clean_line(line) for line in dict.fromkeys(lines))[:LINES],
        tuple(f"the kernel's log of {node}: {problem}" for problem in problems),
    )


def _names(rdma: RdmaPort | None) -> Sequence[str]:
    if rdma is None:
        return ()
    return [name for name in (rdma.device, rdma.pci, *rdma.netdevs) if name]


def _is_about(line: str, names: Sequence[str]) -> bool:
    return not names or any(name in line for name in names)


def worst(verdicts: Iterable[Verdict]) -> Mapping[str, Verdict]:
    """Return of each metric the verdict with the worst value, as its limit has it."""
    found: dict[str, Verdict] = {}
    for one in verdicts:
        if one.metric is None or not isinstance(one.value, (int, float)):
            continue
        known = found.get(one.metric)
        if known is None or _is_worse(one, known):
            found[one.metric] = one
    return found


def _is_worse(one: Verdict, other: Verdict) -> bool:
    a, b = one.value, other.value
    assert isinstance(a, (int, float))
    assert isinstance(b, (int, float))
    return a < b if (one.limit or "").startswith(">") else a > b
