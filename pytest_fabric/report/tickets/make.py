"""The tickets of a run: what has to be put right, with all that is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.places import ports_of
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.report.tickets import action, known
from pytest_fabric.report.tickets.known import Known
from pytest_fabric.report.tickets.parts import OF_PORTS, Part, name_of, parts_of
from pytest_fabric.report.tickets.record import SCHEMA, Control, End, Failed, Ticket, Tickets, Value
from pytest_fabric.results import Verdict

#: So many sound ports stand beside a bad one.
CONTROLS = 3

#: So many ports of a ticket without a port of its own are told of.
ENDS = 8

#: Outcomes that a sound port may have.
SOUND = ("passed", "skipped")


def tickets_of(record: RunRecord) -> Tickets:
    """Return the tickets of a run."""
    parts = parts_of(record.run)
    seen = Known(record)
    bad = {place for part in parts for place in part.places}
    about = record.about
    return Tickets(
        schema=SCHEMA,
        run="" if record.path is None else record.path.name,
        cluster="" if about is None else about.cluster,
        inventory_sha256="" if about is None else about.inventory_sha256,
        tickets=tuple(_ticket(seen, part, bad) for part in parts),
    )


def _ticket(seen: Known, part: Part, bad: AbstractSet[str]) -> Ticket:
    tried = seen.record.tried.get(name_of(part), ())
    port = part.place if part.kind in OF_PORTS and ":" in part.place else None
    ports = [port] if port else [end for place in part.places for end in ports_of(place)]
    controls = controls_of(seen, port, bad) if port else []
    here = known.host_end(seen, port) if port else None
    there = known.switch_end(seen, port) if port else None
    lines, untold = known.log(seen, part.place) if _has_log(part) else ((), ())
    metrics = _metrics(part)
    light, planned = _light(seen, port), _planned(seen, port)
    scene = action.Scene(part, here, there, _first(controls), light, planned)
    return Ticket(
        id=name_of(part),
        kind=part.kind,
        place=part.place,
        places=part.places,
        summary=_summary(part),
        confidence=part.confidence,
        action=action.next_of(scene, len(tried)),
        tried=tuple(tried),
        ends=_ends(seen, part, here, there, ports),
        failed=tuple(_failed(v) for v in part.failed.values()),
        values=_values(seen, part, metrics),
        flaps=tuple(flap for one in ports for flap in known.flaps(seen, one)),
        log=lines,
        controls=tuple(_control(seen, one, metrics, bad) for one in controls),
        unknown=(*untold, *_too_few(port, controls)),
    )


def _has_log(part: Part) -> bool:
    return part.kind in (*OF_PORTS, "node") and part.place != "fabric"


def _first(controls: Sequence[str]) -> str | None:
    return controls[0] if controls else None


def _light(seen: Known, port: str | None) -> float | None:
    fact = seen.facts.get(port or "", {}).get("module.rx_power_min")
    return float(fact.value) if fact is not None and isinstance(fact.value, (int, float)) else None


def _planned(seen: Known, port: str | None) -> str | None:
    about = seen.record.about
    cable = None if about is None or port is None else about.cables.get(port)
    return None if cable is None else clean_line(f"{cable.switch} {cable.switch_port}")


def _summary(part: Part) -> str:
    """Return in one line what fails, those checks that fail most first."""
    counts: dict[str, int] = {}
    for verdict in part.failed.values():
        counts[verdict.check] = counts.get(verdict.check, 0) + 1
    names = sorted(counts, key=lambda name: -counts[name])
    told = [f"{name} x {counts[name]}" if counts[name] > 1 else name for name in names[:3]]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return clean_line(f"{part.kind} {part.place}: {', '.join(told)}{more}")


def _ends(
    seen: Known, part: Part, here: End | None, there: End | None, ports: Sequence[str]
) -> tuple[End, ...]:
    if here is not None and there is not None:
        return (here, there)
    if part.kind == "node":
        ports = [p for p in seen.record.run.declared if p.partition(":")[0] == part.place]
    return tuple(known.host_end(seen, port) for port in dict.fromkeys(ports[:ENDS]))


def _failed(verdict: Verdict) -> Failed:
    message = clean_line((verdict.message or "").strip().split("\n", 1)[0])
    return Failed(
        verdict.nodeid, verdict.check, verdict.target, verdict.layer, verdict.outcome, message
    )


def _metrics(part: Part) -> list[str]:
    """Return what is told of a part and of its controls."""
    own = [v.metric for v in part.failed.values() if v.metric]
    return list(dict.fromkeys([*own, *(known.OF_CABLE if part.kind == "cable" else ())]))


def _values(seen: Known, part: Part, metrics: Sequence[str]) -> tuple[Value, ...]:
    own = known.values(seen, part.place, metrics)
    rest = [v for v in part.failed.values() if v.target != part.place and v.metric]
    return (*own, *(known.of_verdict(v) for v in known.worst(rest).values()))


def controls_of(seen: Known, port: str, bad: AbstractSet[str]) -> list[str]:
    """Return sound ports that are alike: on the same leaf, or of the same rail without leaves."""
    record = seen.record
    leaf, rail = record.leaves.get(port), port.partition(":")[2]
    near = [
        one
        for one in record.run.declared
        if (record.leaves.get(one) == leaf if leaf is not None else one.partition(":")[2] == rail)
    ]
    # Those of the same rail do the same work, and a port in a failed pair is less surely sound.
    near.sort(key=lambda one: (one.partition(":")[2] != rail, _has_failed(seen, one)))
    return [one for one in near if one != port and is_sound(seen, one, bad)][:CONTROLS]


def _has_failed(seen: Known, port: str) -> bool:
    return any(v.outcome == "failed" for v in seen.pairs(port))


def is_sound(seen: Known, port: str, bad: AbstractSet[str]) -> bool:
    """Return whether everything of a port holds but what the fault of another explains."""
    if port in bad or port.partition(":")[0] in bad:
        return False
    own = seen.own(port)
    others = [v for v in seen.pairs(port) if bad.isdisjoint(v.target.split(".."))]
    checked = [*own, *others]
    has_value = any(v.outcome == "passed" and v.value is not None for v in checked)
    return has_value and all(v.outcome in SOUND for v in checked)


def _control(seen: Known, port: str, metrics: Sequence[str], bad: AbstractSet[str]) -> Control:
    own = known.values(seen, port, metrics)
    rest = [
        v for v in seen.pairs(port) if v.metric in metrics and bad.isdisjoint(v.target.split(".."))
    ]
    return Control(port, (*own, *(known.of_verdict(v) for v in known.worst(rest).values())))


def _too_few(port: str | None, controls: Sequence[str]) -> tuple[str, ...]:
    if port is None or len(controls) >= CONTROLS:
        return ()
    return (f"{len(controls)} of {CONTROLS} controls: no more ports nearby are sound and measured",)
