"""What to do next about a part, by what speaks for it: a ladder, one rung after each retest.

The order is that of the field: what costs nothing comes first (reseat, clean), then what tells
cable and port apart (swap), and a part is sent back only once the others are ruled out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_fabric.report.tickets.parts import Part
from pytest_fabric.report.tickets.record import Action, End

#: What can be done next.
STEPS = (
    *("recable", "reseat", "clean", "cool", "swap", "rma"),
    *("configure", "measure", "investigate"),
)

#: Statistics that are the few late ones of many messages.
TAILS = frozenset({"p99", "p999", "max"})

#: Light weaker than this, in dBm, on every lane: no fibre, or nobody sends.
DARK_DBM = -30.0

DIRTY = frozenset({"module.rx_power_min", "module.lane_spread"})
WARM = frozenset({"module.temperature", "module.temperature_margin"})
ERRORS = frozenset(
    {
        "link.raw_ber",
        "link.effective_ber",
        "link.uncorrectable",
        "crc_errors.growth",
        "symbol_errors.growth",
    }
)


@dataclass(frozen=True)
class Scene:
    """What an action is chosen by: `swap` is a sound port nearby, `light_dbm` the weakest lane."""

    part: Part
    here: End | None
    there: End | None
    swap: str | None
    light_dbm: float | None
    planned: str | None


Rung = tuple[str, str]


def next_of(scene: Scene, tried: int) -> Action:
    """Return the rung of the ladder that comes after those tried; the last one stays."""
    why, ladder = _ladder(scene)
    step, words = ladder[min(tried, len(ladder) - 1)]
    return Action(step, words, why)


def _ladder(scene: Scene) -> tuple[str, list[Rung]]:
    """Return what speaks for an action, and the actions in their order."""
    part = scene.part
    chosen: Mapping[str, Callable[[Scene], tuple[str, list[Rung]]]] = {
        "cable": _cable,
        "card": _card,
        "settings": _settings,
        "node": _node,
        "undecided": _undecided,
    }
    return chosen.get(part.kind, _elsewhere)(scene)


def _cable(scene: Scene) -> tuple[str, list[Rung]]:
    metrics, place = scene.part.metrics, scene.part.place
    if any(name.startswith("wiring.") for name in metrics):
        where = scene.planned or "where the plan has it"
        held = f"{place} is not where the plan of the cables has it"
        return held, [("recable", f"plug the cable of {place} into {where}"), _rma(scene)]
    if "module.tx_power_min" in metrics:
        return "its own laser is weak: neither seat nor fibre changes that", [_rma_module(scene)]
    ends = _ends(scene)
    if metrics & DIRTY and not _is_dark(scene):
        clean = ("clean", f"clean the fibre's end faces and the modules at both ends: {ends}")
        return "little light arrives, and the link is up", [clean, _swap(scene), _rma(scene)]
    if metrics & WARM and not metrics & ERRORS:
        cool = ("cool", f"look at fans, dust and blind panels around {place}")
        return "the module is too warm", [cool, _swap(scene), _rma_module(scene)]
    own = sorted(name for name in metrics if name.partition(".")[0] in ("link", "switch", "module"))
    damage = sorted(name for name in metrics if name.endswith(".growth"))
    if not own and not damage and metrics and all(map(_is_tail, metrics)):
        return "only tails of its pairs say so", [_host(scene), _swap(scene), _rma(scene)]
    if not own and not metrics & (ERRORS | {"link_downed.growth"}):
        return "only its pairs say so, no fact of the port does", [_swap(scene), _rma(scene)]
    reseat = (
        "reseat",
        f"take the cable out at both ends, look at the contacts, plug it in: {ends}",
    )
    optical = [("clean", f"clean the fibre's end faces and the modules: {ends}")]
    why = f"signal: {', '.join([*own, *damage])}"
    ladder = [reseat, *(optical if scene.light_dbm is not None else []), _swap(scene), _rma(scene)]
    return why, ladder


def _is_tail(metric: str) -> bool:
    return metric.rpartition(".")[2] in TAILS


def _host(scene: Scene) -> Rung:
    """A cable that makes messages late damages some, which counters show: the host comes first."""
    node = scene.part.place.partition(":")[0]
    words = f"look at {node}: power saving, interrupts or other work on the core, hyperthreads"
    return "investigate", f"{words}; no counter speaks for the cable of {scene.part.place}"


def _is_dark(scene: Scene) -> bool:
    return scene.light_dbm is not None and scene.light_dbm <= DARK_DBM


def _ends(scene: Scene) -> str:
    found = [end.place for end in (scene.here, scene.there) if end is not None]
    return " and ".join(found) or f"the cable of {scene.part.place}"


def _swap(scene: Scene) -> Rung:
    place = scene.part.place
    if scene.swap is None:
        words = f"put a cable that is known to be sound on {place}: no sound port is nearby"
        return "swap", f"{words}; measure it again"
    return (
        "swap",
        f"swap the cables of {place} and {scene.swap}, measure both again: a fault that moves is "
        "the cable's, one that stays the port's",
    )


def _rma(scene: Scene) -> Rung:
    named = "the cable"
    if scene.here is not None and scene.here.module:
        named = f"the cable or module ({scene.here.module} at {scene.part.place})"
    return (
        "rma",
        f"send back {named} if the fault moved with it, else the card of {scene.part.place} or the "
        "port of the switch",
    )


def _rma_module(scene: Scene) -> Rung:
    named = scene.here.module if scene.here is not None and scene.here.module else "its module"
    return "rma", f"replace {named} at {scene.part.place}, and send it back"


def _card(scene: Scene) -> tuple[str, list[Rung]]:
    place = scene.part.place
    slot = scene.here.slot if scene.here is not None and scene.here.slot else "its slot"
    card = scene.here.card if scene.here is not None and scene.here.card else "the card"
    ladder = [
        ("reseat", f"power {place.partition(':')[0]} off, reseat the card in {slot} and its riser"),
        ("swap", f"put the card of {place} into another slot: a fault that moves is the card's"),
        ("rma", f"send back {card} of {place} if the fault moved with it, else the board"),
    ]
    own = sorted(name for name in scene.part.metrics if name.startswith("pcie."))
    return f"the slot says so: {', '.join(own) or 'its checks fail'}", ladder


def _settings(scene: Scene) -> tuple[str, list[Rung]]:
    names = ", ".join(sorted(scene.part.metrics)) or "its checks"
    words = f"set {names} of {scene.part.place} as declared: `by hand` of each failure shows it"
    return "no part is broken: it is set up otherwise than declared", [("configure", words)]


def _node(scene: Scene) -> tuple[str, list[Rung]]:
    part = scene.part
    if part.metrics and all(name.startswith("host.") for name in part.metrics):
        return _settings(scene)
    if part.metrics:
        words = f"look at {part.place} as a whole: CPUs, memory, PCIe, power; {part.advice}"
        return part.note or "it fails with all its ports", [("investigate", words.rstrip("; "))]
    words = f"log in to {part.place}: power, network, SSH, drivers"
    return part.note or "nothing could be measured", [("investigate", words)]


def _undecided(scene: Scene) -> tuple[str, list[Rung]]:
    part = scene.part
    words = part.advice or f"measure {', '.join(part.places)} with other ports"
    return part.note or "the pairs leave a choice", [("measure", words)]


def _elsewhere(scene: Scene) -> tuple[str, list[Rung]]:
    part = scene.part
    if part.metrics and all(name.startswith("firmware.") for name in part.metrics):
        names = ", ".join(sorted(part.metrics))
        words = f"make {names} alike on all of {part.place}: `by hand` of each failure shows which"
        return "no part is broken: they differ", [("configure", f"{words} differ")]
    places = {"switch": f"the switch {part.place}", "uplinks": f"the links between {part.place}"}
    what = places.get(part.kind, f"what all of {part.place} have in common")
    words = f"look at {what}: its counters, its settings, its other ports"
    also = f"; {part.advice}" if part.advice else ""
    return part.note or "what uses it fails", [("investigate", f"{words}{also}")]
