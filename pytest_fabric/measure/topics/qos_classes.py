"""Trust, PFC, the priority of a DSCP, ECN, CNPs and global pause of a port's network devices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pytest_fabric.config import Roce
from pytest_fabric.measure.topics.heard import Outcomes, heard
from pytest_fabric.results import Fact
from pytest_fabric.tools import dcb_app, dcb_pfc, ethtool_pause, mlnx_qos
from pytest_fabric.tools.dcb_app import Rule
from pytest_fabric.tools.dcb_pfc import Pfc
from pytest_fabric.tools.ethtool_pause import Pause
from pytest_fabric.tools.mlnx_qos import Qos
from pytest_fabric.tools.sysfs import NET

T = TypeVar("T")

#: Drivers whose firmware may hold other settings than the kernel shows, and what shows those.
OWN_TOOLS = {
    "bnxt_en": "niccli",
    "ionic": "nicctl show qos",
    "ionic_rdma": "nicctl show qos",
}

#: ECN of a priority: the notification point answers marks, the reaction point slows down.
POINTS = ("roce_np", "roce_rp")


@dataclass(frozen=True)
class Netdev:
    """What the tools say about a network device, or in one line why they say nothing."""

    name: str
    driver: str
    qos: Qos | str
    pfc: Pfc | str
    rules: list[Rule] | str
    pause: list[Pause] | str

    @classmethod
    def of(cls, name: str, here: str, driver: str, outcomes: Outcomes) -> Netdev:
        """Return the network device whose sections end with `here`."""
        return cls(
            name=name,
            driver=driver,
            qos=_said(outcomes, f"qos-{here}", "mlnx_qos", mlnx_qos.parse),
            pfc=_said(outcomes, f"pfc-{here}", "dcb", dcb_pfc.parse),
            rules=_said(outcomes, f"app-{here}", "dcb", dcb_app.parse),
            pause=_said(outcomes, f"pause-{here}", "ethtool", ethtool_pause.parse),
        )

    def hidden(self, *problems: object) -> Fact:
        """Return the fact that nothing shows, with the reasons of the tools that were asked."""
        told = "; ".join(
            dict.fromkeys(str(one) for one in problems if isinstance(one, str) and one)
        )
        own = OWN_TOOLS.get(self.driver)
        asked = f"ask `{own}` on the node and " if own else ""
        return Fact(
            None,
            f"{self.name}, driver {self.driver or 'unknown'}: {told}: {asked}see not_available",
        )

    def seen(self, tool: str) -> tuple[str, ...]:
        """Return where a value was read, and what may know better."""
        own = OWN_TOOLS.get(self.driver)
        lines = [f"{self.name}: read with {tool}"]
        if own:
            lines.append(f"{self.name}: firmware of {self.driver} may differ: `{own}` shows it")
        if isinstance(self.qos, Qos) and self.qos.mode == "firmware":
            lines.append(f"{self.name}: DCBX in firmware: the switch may change it")
        if isinstance(self.qos, Qos) and self.qos.lldpad:
            lines.append(f"{self.name}: lldpad is running, and may change it")
        return tuple(lines)


def _said(outcomes: Outcomes, section: str, tool: str, parse: Callable[[str], T]) -> T | str:
    """Return what a tool printed, or why that is nothing; an empty reason where nobody asked."""
    if section not in outcomes:
        return ""
    found = heard(outcomes, section, tool, parse)
    return found.problem if found.value is None else found.value


def files(netdev: str, priority: int | None) -> tuple[str, ...]:
    """Return the files of congestion control, which NVIDIA's own driver has, for a priority."""
    ecn = f"{NET}/{netdev}/ecn"
    points = () if priority is None else POINTS
    return (
        *(f"{ecn}/{point}/enable/{priority}" for point in points),
        *(f"{ecn}/roce_np/{name}" for name in ("cnp_dscp", "cnp_802p_prio")),
    )


def facts(netdevs: Sequence[Netdev], roce: Roce | None, tree: Mapping[str, str]) -> dict[str, Fact]:
    """Return what all network devices of a port say alike."""
    dscp = roce.dscp if roce else None
    priority = roce.class_priority if roce else None
    each: dict[str, Callable[[Netdev], Fact]] = {
        "roce.trust": _trust,
        "roce.lossless": _lossless,
        "roce.cnp_dscp": lambda one: _cnp(one, "cnp_dscp", tree),
        "roce.cnp_priority": lambda one: _cnp(one, "cnp_802p_prio", tree),
        "roce.global_pause": _global_pause,
    }
    return {
        **{name: agreed([read(one) for one in netdevs]) for name, read in each.items()},
        "roce.dscp_priority": dscp_priority(netdevs, dscp),
        "roce.ecn": ecn(netdevs, priority, tree),
    }


def dscp_priority(netdevs: Sequence[Netdev], dscp: int | None) -> Fact:
    """Return the priority that a DSCP leads to, on all network devices of a port."""
    return agreed([_dscp_priority(one, dscp) for one in netdevs])


def ecn(netdevs: Sequence[Netdev], priority: int | None, tree: Mapping[str, str]) -> Fact:
    """Return whether ECN of a priority is on, on all network devices of a port."""
    return agreed([_ecn(one, priority, tree) for one in netdevs])


def agreed(said: Sequence[Fact]) -> Fact:
    """Return what all members of a bond say; words that differ are joined, numbers are none."""
    if not said:
        return Fact(None, "the port has no network device: check the driver")
    for fact in said:
        if fact.value is None:
            return fact
    detail = tuple(line for fact in said for line in fact.detail)
    values = list(dict.fromkeys(fact.value for fact in said))
    if len(values) == 1:
        return Fact(values[0], detail=detail)
    shown = " and ".join(map(str, values))
    if all(isinstance(value, str) for value in values):
        return Fact("+".join(map(str, values)), detail=detail)
    return Fact(None, f"the members of the bond differ, {shown}: set them alike", detail)


def _trust(one: Netdev) -> Fact:
    """Return the trust; for dcb it is DSCP where rules of DSCPs exist (mlx5, ice: that sets it)."""
    if isinstance(one.qos, Qos) and one.qos.trust:
        return Fact(one.qos.trust, detail=one.seen("mlnx_qos"))
    if isinstance(one.rules, str):
        return one.hidden(one.qos, one.rules)
    count = sum(rule.selector == "dscp" for rule in one.rules)
    return Fact(
        "dscp" if count else "pcp",
        detail=(*one.seen("dcb"), f"{one.name}: dcb shows {count} rules of DSCPs"),
    )


def _lossless(one: Netdev) -> Fact:
    """Return the priorities with PFC; the rest of the text may be missing on old releases."""
    tool, found = ("mlnx_qos", one.qos.pfc) if isinstance(one.qos, Qos) else ("dcb", None)
    if found is None:
        if isinstance(one.pfc, str):
            return one.hidden(one.qos, one.pfc)
        found = one.pfc.pfc_priorities
    return Fact(",".join(map(str, found)) or "none", detail=one.seen(tool))


def _dscp_priority(one: Netdev, dscp: int | None) -> Fact:
    if dscp is None:
        return Fact(None, "the profile declares no DSCP: add roce.dscp, or see not_available")
    if isinstance(one.qos, Qos) and one.qos.dscps:
        return Fact(one.qos.dscps[dscp], detail=one.seen("mlnx_qos"))
    trust = _trust(one)
    if trust.value == "pcp":
        return Fact(
            None,
            f"{one.name} trusts PCP, so that DSCP {dscp} decides nothing: set trust to dscp, or "
            "see not_available",
        )
    if isinstance(one.rules, str):
        return one.hidden(one.qos, one.rules)
    found = {rule.priority for rule in one.rules if (rule.selector, rule.key) == ("dscp", dscp)}
    if len(found) != 1:
        shown = " and ".join(map(str, sorted(found))) or "no priority"
        return Fact(None, f"{one.name}: expected one priority for DSCP {dscp}, found {shown}")
    return Fact(found.pop(), detail=one.seen("dcb"))


def _ecn(one: Netdev, priority: int | None, tree: Mapping[str, str]) -> Fact:
    """Return whether a port answers marks, and slows down when it is told so."""
    if priority is None:
        return Fact(None, "the profile declares no priority: add roce.dscp or roce.priority")
    flags = [tree.get(f"{NET}/{one.name}/ecn/{point}/enable/{priority}") for point in POINTS]
    if not all(flag in ("0", "1") for flag in flags):
        return _without_sysfs(one, "ECN")
    detail = tuple(
        f"{one.name}: {point} {'on' if flag == '1' else 'off'} on priority {priority}"
        for point, flag in zip(POINTS, flags, strict=True)
    )
    return Fact("on" if set(flags) == {"1"} else "off", detail=detail)


def _cnp(one: Netdev, name: str, tree: Mapping[str, str]) -> Fact:
    text = tree.get(f"{NET}/{one.name}/ecn/roce_np/{name}", "")
    if not (text.isascii() and text.isdigit() and len(text) <= 2):
        return _without_sysfs(one, "the class of CNPs")
    return Fact(int(text), detail=(f"{one.name}: {name} {text}",))


def _without_sysfs(one: Netdev, what: str) -> Fact:
    """Return why congestion control cannot be read: only NVIDIA's own mlx5 driver shows it."""
    if one.driver == "mlx5_core":
        remedy = "install the driver of DOCA-Host or MLNX_OFED (the kernel's own hides it), or "
        return Fact(
            None,
            f"{one.name}: mlx5_core shows no {NET}/{one.name}/ecn, so that {what} "
            f"cannot be told: {remedy}see not_available",
        )
    return one.hidden(f"it shows nothing of {what} in sysfs")


def _global_pause(one: Netdev) -> Fact:
    """Return whether 802.3x pause is on; it stops every priority, lossless or not."""
    if isinstance(one.pause, str):
        return one.hidden(one.pause)
    if len(one.pause) != 1 or None in (one.pause[0].rx, one.pause[0].tx):
        return one.hidden("ethtool -a does not say RX and TX")
    rx, tx = one.pause[0].rx, one.pause[0].tx
    shown = f"{one.name}: rx {'on' if rx else 'off'}, tx {'on' if tx else 'off'}"
    return Fact("on" if rx or tx else "off", detail=(shown,))
