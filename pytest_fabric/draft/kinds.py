"""The kind of each port: the builtin profile that fits it best, and what it has otherwise."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from pytest_fabric.config import Profile, builtin_profile
from pytest_fabric.draft.rails import Rails
from pytest_fabric.draft.seen import SeenNode
from pytest_fabric.results import Port, RdmaPort
from pytest_fabric.tools.printable import printable
from pytest_fabric.units import render

#: The builtin profiles of a kernel driver and link layer, where there are some for its cards; the
#: first is for cards whose speed none of them has.
BASES = {
    ("mlx5_core", "Ethernet"): ("cx7-400g-roce", "cx6-200g-roce", "cx5-100g-roce"),
    ("mlx5_core", "InfiniBand"): ("cx7-400g-ndr", "cx6-200g-hdr"),
    ("bnxt_en", "Ethernet"): ("thor2-400g-roce",),
    ("ionic", "Ethernet"): ("pollara-400g-roce",),
    ("ice", "Ethernet"): ("e810-100g-roce",),
    ("rdma_rxe", "Ethernet"): ("soft-roce",),
    # EFA's layer is Unspecified, which sysfs calls Unknown.
    **dict.fromkeys((("efa", "Unknown"), ("efa", "Unspecified")), ("efa-100g",)),
}

#: The one for cards of other drivers.
NEAREST = {"Ethernet": "cx7-400g-roce", "InfiniBand": "cx7-400g-ndr"}

Value = TypeVar("Value", float, int, str)
Key = tuple[str, str, str | None]


@dataclass
class Kind:
    """A profile to be written; `notes` are comments for whoever reads it."""

    base: str
    name: str = ""
    link: dict[str, str] = field(default_factory=dict)
    pcie: dict[str, str] = field(default_factory=dict)
    firmware: dict[str, str] = field(default_factory=dict)
    sudo: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


def sort(rails: Rails, nodes: Iterable[SeenNode]) -> tuple[list[Kind], dict[Port, Kind], list[str]]:
    """Return the kinds, the kind of each port, and what is odd about single ports."""
    alike: dict[Key, dict[Port, RdmaPort]] = defaultdict(dict)
    for node, ports in rails.ports.items():
        for rail, seen in ports.items():
            rdma = seen.rdma
            alike[rdma.driver, rdma.link_layer, rdma.psid][Port(node, rail)] = rdma
    sudo = {node.name: node.sudo for node in nodes}
    kinds: list[Kind] = []
    of: dict[Port, Kind] = {}
    odd: list[str] = []
    for key, members in alike.items():
        kind = _kind(key, members, odd)
        kind.sudo = _common([sudo[port.node] for port in members])
        same = next((known for known in kinds if _is_same(known, kind)), None)
        if same is None:
            kinds.append(kind)
        else:
            same.firmware.update(kind.firmware)
        of.update(dict.fromkeys(members, same or kind))
    _name(kinds)
    return kinds, of, odd


def _common(sets: Iterable[frozenset[str]]) -> tuple[str, ...]:
    listed = list(sets)
    return tuple(sorted(frozenset.intersection(*listed))) if listed else ()


def _is_same(one: Kind, other: Kind) -> bool:
    keys = ("base", "link", "pcie", "sudo", "notes")
    return all(getattr(one, key) == getattr(other, key) for key in keys)


def _kind(key: Key, members: Mapping[Port, RdmaPort], odd: list[str]) -> Kind:
    driver, layer, psid = key
    up = {port: rdma for port, rdma in members.items() if rdma.state == "ACTIVE"}
    kind = Kind(_base(driver, layer, _usual(up, "speed", _speed, str, [])))
    if (driver, layer) not in BASES:
        kind.notes.append(
            f"No builtin profile is for cards of {printable(driver)}: look at each of its limits."
        )
    base = builtin_profile(kind.base)
    for section, said, wanted, get, show in _declared(base):
        value = _usual(up, f"{section}.{said}", get, show, odd)
        if value is not None and value != wanted:
            getattr(kind, section)[said] = show(value)
    firmware = _usual(up, "firmware", lambda rdma: rdma.firmware, str, odd)
    if psid and firmware and base.why_not_available("firmware.running") is None:
        kind.firmware[printable(psid)] = printable(firmware)
    return kind


def _base(driver: str, layer: str, speed_bps: float | None) -> str:
    """Return the builtin profile for cards of a driver: that of their speed, where it has one."""
    names = BASES.get((driver, layer)) or (NEAREST[layer],)
    same = (name for name in names if builtin_profile(name).line_rate_bps == speed_bps)
    return next(same, names[0])


def _declared(
    base: Profile,
) -> Iterable[tuple[str, str, float, Callable[[RdmaPort], float | None], Callable[[float], str]]]:
    """Yield what a builtin profile declares of its hardware, and where a port shows the same."""
    if base.link.speed is not None:
        yield "link", "speed", base.link.speed.number, _speed, lambda v: render(v, "b/s")
    if base.link.width is not None:
        yield "link", "width", base.link.width, lambda rdma: rdma.width, _whole
    if base.link.mtu is not None:
        yield "link", "mtu", base.link.mtu, lambda rdma: rdma.active_mtu, _whole
    if base.pcie is not None and base.pcie.speed is not None:
        yield "pcie", "speed", base.pcie.speed.number, _slot_speed, lambda v: f"{v / 1e9:g} GT/s"
    if base.pcie is not None and base.pcie.width is not None:
        yield "pcie", "width", base.pcie.width, _slot_width, _whole


def _whole(value: float) -> str:
    return f"{value:.0f}"


def _speed(rdma: RdmaPort) -> float | None:
    return rdma.speed_bps


def _slot_speed(rdma: RdmaPort) -> float | None:
    return rdma.pcie[0].speed_tps if rdma.pcie else None


def _slot_width(rdma: RdmaPort) -> float | None:
    return rdma.pcie[0].width if rdma.pcie else None


def _usual(
    ports: Mapping[Port, RdmaPort],
    what: str,
    get: Callable[[RdmaPort], Value | None],
    show: Callable[[Value], str],
    odd: list[str],
) -> Value | None:
    """Return what most ports show, the largest of those that are equally common; note the rest."""
    values = {port: value for port, rdma in ports.items() if (value := get(rdma)) is not None}
    if not values:
        return None
    counts = Counter(values.values())
    best = max(counts, key=lambda value: (counts[value], value))
    for port, value in values.items():
        if value != best:
            others = f"{counts[best]} others of its kind {printable(show(best))}"
            odd.append(f"{port}: {what} is {printable(show(value))}, {others}")
    return best


def _name(kinds: list[Kind]) -> None:
    """Give each kind a name of its own: that of its builtin profile, or what it has otherwise."""
    taken: Counter[str] = Counter()
    for kind in kinds:
        card, _, rest = kind.base.partition("-")
        name = kind.base
        if "speed" in kind.link:
            layer = rest.partition("-")[2]
            name = f"{card}-{kind.link['speed'].partition(' ')[0]}g{layer and '-'}{layer}"
        taken[name] += 1
        kind.name = name if taken[name] == 1 else f"{name}-{taken[name]}"
