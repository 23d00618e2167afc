"""The errors of a port: bits before and after FEC, links lost, and what its slot reports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pytest_fabric.measure.topics.heard import Heard
from pytest_fabric.results import Exposure, Fact, RdmaPort
from pytest_fabric.tools import mlxlink
from pytest_fabric.tools.ethtool_fec import Fec
from pytest_fabric.tools.sysfs import Tree

#: mlxlink has long names for codes: what `ethtool --show-fec` calls them. IB's low-latency code
#: over lanes of 50G and more is an RS code like the others.
FEC_WORDS = (
    (re.compile(r"(?i)^no[ _-]?fec"), "Off"),
    (re.compile(r"(?i)fire ?code|base-?r"), "BaseR"),
    (re.compile(r"(?i)\bLL[_-]RS|LLRS"), "LLRS"),
    (re.compile(r"(?i)RS[_-]?FEC|\bRS\b"), "RS"),
)

#: Totals of the kernel's AER counters (Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats).
AER_FILES = ("aer_dev_correctable", "aer_dev_nonfatal", "aer_dev_fatal")
AER_TOTAL = re.compile(r"TOTAL_ERR_(?:COR|NONFATAL|FATAL) ([0-9]{1,20})")
AER_COUNT = re.compile(r"([A-Za-z]\w{0,40}) ([0-9]{1,20})")

DOWN = "the link is down, so that nothing crosses it: see the port's state"


def fec(port: RdmaPort, ethtool: Sequence[Heard[list[Fec]]], link: Heard[mlxlink.Port]) -> Fact:
    """Return the FEC that this end has on; of a bond whose members differ, each of them."""
    if port.physical_state != "LinkUp":
        return Fact(None, DOWN)
    asked = [one.value for one in ethtool]
    if ethtool and all(asked):
        words = ["+".join(each.active) for found in asked if found for each in found]
        lines = tuple(
            f"configured: {' '.join(f.configured)}" for found in asked for f in found or ()
        )
        return Fact(",".join(dict.fromkeys(words)), detail=lines)
    if link.value is not None and link.value.fec is not None:
        said = link.value.fec
        word = next((word for pattern, word in FEC_WORDS if pattern.search(said)), said)
        return Fact(word, detail=(f"mlxlink: {said}",))
    first = next((one for one in ethtool if one.value is None), None)
    return first.nothing if first is not None else _without(link, "FEC")


def _without(link: Heard[mlxlink.Port], what: str) -> Fact:
    if link.value is None:
        return link.nothing
    return Fact(None, f"mlxlink shows no {what} of this port: see not_available")


def exposure(port: RdmaPort, link: mlxlink.Port) -> Exposure | None:
    """Return how many bits the port has seen since its error counters were cleared."""
    if port.speed_bps is None or link.time_since_last_clear_min is None:
        return None
    return Exposure(link.time_since_last_clear_min * 60, port.speed_bps)


def ber(port: RdmaPort, link: Heard[mlxlink.Port], name: str) -> Fact:
    """Return a bit error rate: `raw_physical_ber` or `effective_physical_ber` of mlxlink."""
    if port.physical_state != "LinkUp":
        return Fact(None, DOWN)
    what = name.replace("_", " ").replace("ber", "BER")
    if link.value is None or getattr(link.value, name) is None:
        return _without(link, what)
    seen = exposure(port, link.value)
    if seen is None:
        return Fact(None, f"mlxlink does not say since when it counts, so that no {what} is shown")
    detail = [f"counted for {seen.seconds / 60:g} min, in which {seen.floor:.2g} or more shows"]
    lanes = link.value.raw_physical_ber_per_lane if name.startswith("raw") else None
    if lanes:
        told = ("?" if lane is None else f"{lane:g}" for lane in lanes)
        detail.append(f"by lane: {', '.join(told)}")
    return Fact(getattr(link.value, name), detail=tuple(detail), exposure=seen)


def uncorrectable(
    port: RdmaPort, before: Sequence[Heard[int]], after: Sequence[Heard[int]], seconds: float
) -> Fact:
    """Return the blocks that FEC could not correct within a window, over the members of a bond.

    The window is between two readings: what a link lost while it came up is no fault of today.
    """
    if port.physical_state != "LinkUp":
        return Fact(None, DOWN)
    silent = next((one for one in (*before, *after) if one.value is None), None)
    if silent is not None or not before:
        return silent.nothing if silent is not None else Fact(None, "it was not read")
    then, now = (sum(one.value or 0 for one in ends) for ends in (before, after))
    if now < then:
        return Fact(None, f"the counter was cleared meanwhile: {then:,} before, {now:,} after")
    return Fact(now - then, detail=(f"in {seconds:g} s; {now:,} since the counters were cleared",))


def blocks(found: Heard[list[Fec]]) -> Heard[int]:
    """Return the uncorrectable blocks that ethtool shows."""
    counts = [one.uncorrectable_blocks for one in found.value or ()]
    if found.value is None:
        return Heard(None, found.problem, found.kind)
    if None in counts or not counts:
        return Heard(
            None,
            "the driver shows no FEC statistics: they take ethtool 5.13 and Linux 5.13 or newer; "
            "see not_available",
        )
    return Heard(sum(count for count in counts if count is not None))


def left_behind(link: Heard[mlxlink.Port]) -> Heard[int]:
    """Return the errors that FEC left behind on InfiniBand, as mlxlink shows them."""
    if link.value is None:
        return Heard(None, link.problem, link.kind)
    if link.value.effective_physical_errors is None:
        return Heard(None, "mlxlink shows no effective physical errors: see not_available")
    return Heard(link.value.effective_physical_errors)


def flaps(port: RdmaPort, tree: Tree, uptime_s: float | None) -> Fact:
    """Return how often the link went down, as the kernel counts it, or the PMA on InfiniBand."""
    wanted = [f"/sys/class/net/{netdev}/carrier_down_count" for netdev in port.netdevs]
    if port.link_layer != "Ethernet" or not wanted:
        wanted = [f"/sys/class/infiniband/{port.device}/ports/{port.number}/counters/link_downed"]
    counts = [_count(tree.get(path)) for path in wanted]
    known = [count for count in counts if count is not None]
    if len(known) != len(counts):
        place = wanted[counts.index(None)].rpartition("/")[2]
        return Fact(None, f"the node has no readable {place} of this port: see not_available")
    since = f"up for {uptime_s / 3600:.1f} h" if uptime_s else "since boot"
    return Fact(sum(known), detail=(f"{since}; a load of the driver and a pulled cable count too",))


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,20}", text) else None


def aer(tree: Tree, uptime_s: float | None) -> Mapping[str, Fact]:
    """Return the errors that both ends of the card's slot have reported, since boot."""
    totals: dict[str, int] = {}
    lines: list[str] = []
    for path, text in tree.items():
        name = path.rpartition("/")[2]
        if name not in AER_FILES:
            continue
        total = AER_TOTAL.search(text)
        if total is None:
            return _no_aer(f"expected a total in {name}, found none: the kernel speaks otherwise")
        totals[name] = totals.get(name, 0) + int(total[1])
        end = "the slot" if "/../" in path else "the card"
        kinds = [f"{kind} {count}" for kind, count in AER_COUNT.findall(text) if count != "0"]
        kinds = [kind for kind in kinds if not kind.startswith("TOTAL_")]
        lines += [f"{end}: {name}: {', '.join(kinds)}"] if kinds else []
    if set(totals) != set(AER_FILES):
        return _no_aer(
            "the kernel shows no AER counters (virtual machine, or firmware keeps them): "
            "see not_available"
        )
    bad = totals["aer_dev_nonfatal"] + totals["aer_dev_fatal"]
    correctable = totals["aer_dev_correctable"]
    if not uptime_s:
        rate = Fact(None, "the node does not say for how long it is up (/proc/uptime)")
    else:
        told = f"{correctable:,} in {uptime_s / 3600:.1f} h"
        rate = Fact(round(correctable * 3600 / uptime_s, 3), detail=(told, *lines))
    return {
        "pcie.aer_correctable": rate,
        "pcie.aer_uncorrectable": Fact(bad, detail=tuple(lines)),
    }


def _no_aer(problem: str) -> Mapping[str, Fact]:
    return dict.fromkeys(("pcie.aer_correctable", "pcie.aer_uncorrectable"), Fact(None, problem))
