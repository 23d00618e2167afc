"""What the module of a port says: who made it, how warm it is, how much light its lanes have."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_fabric.results import Fact
from pytest_fabric.tools import ethtool_module, mlxlink

#: No light at all: what a module counts power in is 0.1 uW (SFF-8636, CMIS), which is -40 dBm.
DARK_DBM = -40.0

#: Less than this is a lane that is switched off.
OFF_DBM = -30.0

COPPER = re.compile(r"(?i)copper|passive|\bbase-?CR|\bCR[0-9]*\b")

WITHOUT_LIGHT = "a copper cable has no light and tells no power: nothing to judge"
WITHOUT_DIAGNOSTICS = "the module has no diagnostics (passive copper cable): nothing to judge"
WITHOUT_THRESHOLDS = "the module names no warning threshold of its own: nothing to judge"

NAMES = (
    "module.vendor",
    "module.part",
    "module.serial",
    "module.temperature",
    "module.temperature_margin",
    "module.rx_power_min",
    "module.tx_power_min",
    "module.lane_spread",
)

Lanes = Sequence[float | None]


@dataclass(frozen=True)
class Optics:
    """A module as one of the tools reads it; None is what it does not say.

    Powers are by lane in dBm; a lane that is None is one that the tool could not read.
    """

    source: str
    vendor: str | None
    part: str | None
    serial: str | None
    is_copper: bool
    has_diagnostics: bool
    temperature_c: float | None
    warm_c: float | None
    rx_dbm: Lanes | None
    tx_dbm: Lanes | None

    @property
    def title(self) -> str:
        """Return the module as a ticket names it."""
        named = (self.vendor, self.part, self.serial and f"serial {self.serial}")
        return " ".join(word for word in named if word) or "a module without a name"


def from_ethtool(module: ethtool_module.Module) -> Optics:
    """Return a module that ethtool has read; a power without dBm is no light."""
    types = module.transceiver_types or []
    words = " ".join(filter(None, [module.connector, module.transmitter_technology, *types]))
    warm = module.thresholds.get("temperature_high_warning_c")
    is_copper = COPPER.search(words) is not None
    return Optics(
        source="ethtool -m",
        vendor=module.vendor,
        part=module.part_number,
        serial=module.serial_number,
        is_copper=is_copper,
        has_diagnostics=module.has_diagnostics is not False,
        temperature_c=module.temperature_c,
        warm_c=warm or None,
        rx_dbm=_lit(module.rx_power_dbm, is_copper),
        tx_dbm=_lit(module.tx_power_dbm, is_copper),
    )


def _lit(lanes: Sequence[float | None] | None, is_copper: bool) -> Lanes | None:
    """Return powers by lane; ethtool prints no light for copper, which has none to tell."""
    if not lanes or (is_copper and all(lane is None for lane in lanes)):
        return None
    return [DARK_DBM if lane is None else lane for lane in lanes]


def from_mlxlink(port: mlxlink.Port) -> Optics | None:
    """Return the module that mlxlink has read, None where it shows none."""
    if port.module_identifier is None:
        return None
    words = " ".join(filter(None, [port.module_cable_type, port.module_cable_technology]))
    return Optics(
        source="mlxlink -m",
        vendor=port.module_vendor,
        part=port.module_part_number,
        serial=port.module_serial_number,
        is_copper=COPPER.search(words) is not None,
        has_diagnostics=port.module_has_diagnostics is not False,
        temperature_c=port.temperature_c,
        warm_c=port.temperature_high_c,
        rx_dbm=port.rx_power_dbm,
        tx_dbm=port.tx_power_dbm,
    )


def facts(modules: Sequence[Optics], width: int | None) -> Mapping[str, Fact]:
    """Return what the modules of a port say; a bond has several. `width` is the port's lanes."""
    titles = tuple(f"{module.title} ({module.source})" for module in modules)
    lanes = [_own_lanes(module, width) for module in modules]
    rx, tx = [pair[0] for pair in lanes], [pair[1] for pair in lanes]
    return {
        "module.vendor": _words(modules, "vendor"),
        "module.part": _words(modules, "part"),
        "module.serial": _words(modules, "serial"),
        "module.temperature": _temperature(modules, titles),
        "module.temperature_margin": _margin(modules, titles),
        "module.rx_power_min": _power(modules, rx, "received", titles, _weakest),
        "module.tx_power_min": _power(modules, tx, "sent", titles, _weakest),
        "module.lane_spread": _power(modules, rx, "received", titles, _spread),
    }


def _own_lanes(module: Optics, width: int | None) -> tuple[Lanes | None, Lanes | None]:
    """Return received and sent power of the port's own lanes.

    A module with more lanes than the port has serves two: those that are on are the port's, if
    there are as many as it has. Else all are looked at, so that a dead laser is not left out.
    """
    rx, tx = module.rx_dbm, module.tx_dbm
    if width is None or rx is None or tx is None or len(rx) != len(tx) or len(rx) <= width:
        return rx, tx
    on = [place for place, lane in enumerate(tx) if lane is not None and lane > OFF_DBM]
    if len(on) != width:
        return rx, tx
    return [rx[place] for place in on], [tx[place] for place in on]


def _words(modules: Sequence[Optics], name: str) -> Fact:
    found = [getattr(module, name) for module in modules]
    if not all(found):
        return Fact(None, f"{modules[0].source} shows no {name} of the module: see not_available")
    return Fact(",".join(dict.fromkeys(found)))


def _missing(module: Optics, what: str, why: str) -> Fact:
    """Return why a module does not say something that most do."""
    if module.is_copper or not module.has_diagnostics:
        return Fact(None, inapplicable=why)
    return Fact(
        None, f"{module.source} shows no {what} of {module.title}: reseat it, or see not_available"
    )


def _temperature(modules: Sequence[Optics], titles: tuple[str, ...]) -> Fact:
    warmth = [module.temperature_c for module in modules]
    found = [celsius for celsius in warmth if celsius is not None]
    if len(found) != len(warmth):
        silent = modules[warmth.index(None)]
        return _missing(silent, "temperature", WITHOUT_DIAGNOSTICS)
    return Fact(max(found), detail=titles)


def _margin(modules: Sequence[Optics], titles: tuple[str, ...]) -> Fact:
    """Return by how many degrees the warmest module is below its own threshold for a warning."""
    warmest = _temperature(modules, titles)
    if warmest.value is None:
        return warmest
    bounds = [(module.temperature_c, module.warm_c) for module in modules]
    margins = [warm - now for now, warm in bounds if warm is not None and now is not None]
    if len(margins) != len(modules):
        return Fact(None, inapplicable=WITHOUT_THRESHOLDS)
    told = tuple(f"{now:g} C now, warns at {warm:g} C" for now, warm in bounds)
    return Fact(round(min(margins), 2), detail=(*told, *titles))


def _power(
    modules: Sequence[Optics],
    powers: Sequence[Lanes | None],
    what: str,
    titles: tuple[str, ...],
    sum_up: Callable[[Sequence[float]], float],
) -> Fact:
    values, lines = [], []
    for module, lanes in zip(modules, powers, strict=True):
        if not lanes:
            return _missing(module, f"{what} power", WITHOUT_LIGHT)
        known = [lane for lane in lanes if lane is not None]
        if len(known) != len(lanes):
            dumb = [str(place) for place, lane in enumerate(lanes, 1) if lane is None]
            return Fact(None, f"{module.source} cannot read {what} power of lane {', '.join(dumb)}")
        values.append(round(sum_up(known), 2))
        lines.append(f"{what}, by lane: {', '.join(f'{lane:g}' for lane in known)} dBm")
    worst = max(values) if sum_up is _spread else min(values)
    return Fact(worst, detail=(*lines, *titles))


def _weakest(lanes: Sequence[float]) -> float:
    return min(lanes)


def _spread(lanes: Sequence[float]) -> float:
    return max(lanes) - min(lanes)
