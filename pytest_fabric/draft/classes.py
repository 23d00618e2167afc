"""The class of RDMA traffic as most ports of a kind have it, as lines of their profile.

What was not found is never written as if it were: the builtin profile keeps it, and a comment says
why. What is off on most nodes is not taken over either, since nobody may have set it up yet.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pytest_fabric.config import Profile, Roce, fold
from pytest_fabric.draft.seen_class import DSCPS
from pytest_fabric.results import Fact, Port
from pytest_fabric.tools.printable import printable

WIDTH = 92

#: What each key may be, as its fact says it.
WORDS = {
    "lossless": re.compile(r"none|[0-7](?:,[0-7])*"),
    "trust": re.compile(r"dscp|pcp"),
    "priority": re.compile(r"[0-7]"),
    "dscp": re.compile(r"[0-9]|[1-5][0-9]|6[0-3]"),
    "ecn": re.compile(r"on|off"),
    "cnp.dscp": re.compile(r"[0-9]|[1-5][0-9]|6[0-3]"),
    "cnp.priority": re.compile(r"[0-7]"),
}

#: What is off on most nodes, in words, and what to write where that is meant.
OFF = {"none": ("PFC is on for no priority", "lossless: []"), "off": ("it is off", "ecn: false")}

#: So many reasons are told of a key. Those of two ports may differ by the names of devices only.
SHOWN = 3
DEVICE = re.compile(r"\b[a-z]+[0-9]\w*")

Seen = Mapping[Port, Mapping[str, Fact]]
Get = Callable[[Mapping[str, Fact]], Fact]


@dataclass(frozen=True)
class Found:
    """What most ports say of a key, and the comment beside it; None where it is not taken over.

    `reasons` are lines for what could not be read; keys may have the same.
    """

    key: str
    value: str | None
    comment: str
    reasons: tuple[str, ...] = ()


def adopt(base: str, profile: Profile, seen: Seen) -> list[Found]:
    """Return what ports of a kind show of their class, key by key; `profile` is its builtin one."""
    roce = profile.roce
    if not seen or roce is None or profile.why_not_available("roce") is not None:
        return []
    kind = _Kind(base, profile, seen)
    lossless = kind.take("lossless", "roce.lossless", lambda facts: facts["roce.lossless"])
    trust = kind.take("trust", "roce.trust", lambda facts: facts["roce.trust"])
    if lossless.value is None and trust.value == "pcp":  # as cards are delivered
        trust = kind.kept("trust", f"pcp {trust.comment}, and no lossless priority beside it")
    several = lossless.value is not None and "," in lossless.value
    single = None if lossless.value is None or several else int(lossless.value)
    dscp = kind.dscp(single, trust.value)
    used = roce.dscp if dscp.value is None else int(dscp.value)
    found = [lossless, trust, dscp]
    if several and used is not None and trust.value != "pcp":
        found.append(kind.priority(used, (lossless.value or "").split(",")))
        single = used >> 3 if found[-1].value is None else int(found[-1].value)
    priority = roce.class_priority if single is None else single
    found.append(kind.take("ecn", "roce.ecn", lambda facts: facts[f"roce.ecn.{priority}"]))
    found.append(kind.take("cnp.dscp", "roce.cnp_dscp", lambda facts: facts["roce.cnp_dscp"]))
    name = "roce.cnp_priority"
    return [*found, kind.take("cnp.priority", name, lambda facts: facts[name])]


def lines(found: Sequence[Found]) -> Iterator[str]:
    """Yield the section `roce` of a profile, and comments for what it does not have."""
    known = [one for one in found if one.value is not None]
    if known:
        yield "roce:"
    for one in known:
        if not one.key.startswith("cnp."):
            yield f"  {one.key}: {_yaml(one)} # {one.comment}"
    cnps = [one for one in known if one.key.startswith("cnp.")]
    if cnps:
        yield "  cnp:"
        yield from (f"    {one.key[4:]}: {_yaml(one)} # {one.comment}" for one in cnps)
    kept = [one.comment for one in found if one.value is None]
    reasons = [f"not read on {line}" for one in found for line in one.reasons]
    for text in dict.fromkeys((*kept, *reasons)):
        first, *rest = textwrap.wrap(text, WIDTH, break_on_hyphens=False)
        yield from (f"# {first}", *(f"#   {line}" for line in rest))


def _yaml(one: Found) -> str:
    value = one.value or ""
    if one.key == "lossless":
        return f"[{', '.join(value.split(','))}]"
    return "true" if one.key == "ecn" else value


class _Kind:
    """The ports of a kind, and what their builtin profile says."""

    def __init__(self, base: str, profile: Profile, seen: Seen) -> None:
        self.base = base
        self.profile = profile
        self.seen = seen
        self.nodes = len({port.node for port in seen})

    def kept(self, key: str, why: str, reasons: tuple[str, ...] = ()) -> Found:
        """Return that the value of the builtin profile stays."""
        value = _builtin(self.profile.roce, key)
        text = f"{key}: {value} of builtin/{self.base} stays" if value else f"no {key} is declared"
        return Found(key, None, f"{text}: {why}", reasons)

    def take(self, key: str, metric: str, get: Get) -> Found:
        """Return what most ports say of a key, or why the builtin value stays."""
        reason = self.profile.why_not_available(metric)
        if reason is not None:
            return self.kept(key, f"it cannot be read: {reason}")
        values, hidden = _sorted(key, {port: get(facts) for port, facts in self.seen.items()})
        reasons = tuple(self._reasons(hidden))
        if not values:
            return self.kept(key, f"not read on {self._places(hidden)}", reasons)
        wanted = _builtin(self.profile.roce, key)
        best = _usual(values, _word(key, wanted))
        told = f"{self._count(values, best)}{self._others(values, best, hidden)}"
        if best in OFF:
            said, meant = OFF[best]
            return self.kept(key, f"{said} {told}: where that is meant, say {meant}", reasons)
        if wanted and best != _word(key, wanted):
            told += f"; builtin/{self.base} has {wanted}"
        return Found(key, best, f"as found {told}", reasons)

    def dscp(self, priority: int | None, trust: str | None) -> Found:
        """Return the DSCP that leads to the lossless priority, where nodes leave no choice."""
        wanted = self.profile.roce.dscp if self.profile.roce else None
        if trust == "pcp":
            return self.kept("dscp", "where PCP is trusted, a DSCP decides nothing")
        if priority is None or wanted is None:
            return self.kept("dscp", "no single lossless priority was found that it could lead to")
        found = self.take(
            "dscp", "roce.dscp_priority", lambda facts: _leading(facts, priority, wanted)
        )
        ways = [facts[f"roce.dscp.{wanted}"].value for facts in self.seen.values()]
        led = [way for way in ways if isinstance(way, (int, float))]
        if found.value is None and led and priority not in led:
            more = f", and {wanted} leads to priority {led[0]:g}: say here which one jobs use"
            return replace(found, comment=found.comment + more)
        return found

    def priority(self, dscp: int, lossless: Sequence[str]) -> Found:
        """Return which of several lossless priorities is that of RDMA: where its DSCP leads."""
        led = self.take("priority", "roce.dscp_priority", lambda facts: facts[f"roce.dscp.{dscp}"])
        if led.value is None or led.value in lossless:
            where = "" if led.value is None else f"where DSCP {dscp} leads, "
            return replace(led, comment=where + led.comment)
        return self.kept("priority", f"DSCP {dscp} leads to {led.value}, {led.comment}")

    def _count(self, values: Mapping[Port, str], best: str) -> str:
        """Return on how many nodes every port says so; where it is none, on how many ports."""
        other = {port.node for port in self.seen if values.get(port) != best}
        if len(other) == self.nodes:
            return f"on {sum(said == best for said in values.values())} of {len(self.seen)} ports"
        return f"on {self.nodes - len(other)} of {self.nodes} nodes"

    def _others(self, values: Mapping[Port, str], best: str, hidden: Mapping[Port, str]) -> str:
        """Return the ports that say something else, or nothing, with what they say."""
        odd: dict[str, list[Port]] = defaultdict(list)
        for port, value in values.items():
            if value != best:
                odd[value].append(port)
        told = [f"; {value} on {self._places(ports)}" for value, ports in sorted(odd.items())]
        if hidden:
            told.append(f"; not read on {self._places(hidden)}")
        return "".join(told)

    def _reasons(self, hidden: Mapping[Port, str]) -> Iterator[str]:
        """Yield where nothing could be read, and why: each reason once, whatever the device."""
        alike: dict[str, list[Port]] = defaultdict(list)
        for port, why in hidden.items():
            alike[DEVICE.sub("", why)].append(port)
        for ports in list(alike.values())[:SHOWN]:
            yield f"{self._places(ports)}: {hidden[ports[0]]}"
        if len(alike) > SHOWN:
            yield f"others: {len(alike) - SHOWN} more reasons, which `pytest suites/ -m qos` tells"

    def _places(self, ports: Iterable[Port]) -> str:
        """Return ports as few words: whole nodes, or rails of them."""
        rails: dict[str, list[str]] = defaultdict(list)
        for port in ports:
            rails[port.node].append(port.rail)
        whole = Counter(port.node for port in self.seen)
        alike: dict[str, list[str]] = defaultdict(list)
        for node, own in rails.items():
            alike["" if len(own) == whole[node] else f":{fold(own)}"].append(node)
        return " and ".join(f"{fold(nodes)}{own}" for own, nodes in alike.items())


def _sorted(key: str, facts: Mapping[Port, Fact]) -> tuple[dict[Port, str], dict[Port, str]]:
    """Return what ports say, and why the others do not; what no profile may hold is no value."""
    values: dict[Port, str] = {}
    hidden: dict[Port, str] = {}
    for port, fact in facts.items():
        text = f"{fact.value:g}" if isinstance(fact.value, (int, float)) else fact.value
        if text is not None and WORDS[key].fullmatch(text):
            values[port] = text
        elif text is not None:
            hidden[port] = f"it says {printable(text)[:40]!r}"
        else:
            hidden[port] = printable(fact.problem or "it was not read")
    return values, hidden


def _usual(values: Mapping[Port, str], wanted: str) -> str:
    """Return what most ports say; of what is equally common what the builtin profile has."""
    counts = Counter(values.values())
    return max(counts, key=lambda value: (counts[value], value == wanted, value))


def _leading(facts: Mapping[str, Fact], priority: int, wanted: int) -> Fact:
    """Return the DSCP of RDMA on a port: that which the node gives it, or the only one."""
    ways = {one: facts[f"roce.dscp.{one}"] for one in DSCPS if f"roce.dscp.{one}" in facts}
    fits = [one for one, fact in ways.items() if fact.value == priority]
    told = facts.get("roce.told")
    if told is not None and told.value in fits:
        return told
    if len(fits) == 1:
        return Fact(fits[0])
    if fits:
        shown = f"{_ranges(fits)} lead to priority {priority}"
        return Fact(None, f"the DSCP of RDMA: {shown}, and jobs choose among them")
    if all(fact.value is None for fact in ways.values()):
        asked = ways.get(wanted, Fact(None))
        return Fact(None, asked.problem)
    return Fact(None, f"no DSCP leads to priority {priority}")


def _ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers in few words: `24-31, 46`."""
    starts = [one for one in numbers if one - 1 not in numbers]
    ends = [one for one in numbers if one + 1 not in numbers]
    runs = zip(starts, ends, strict=True)
    return ", ".join(f"{low}-{high}" if high > low else f"{low}" for low, high in runs)


def _builtin(roce: Roce | None, key: str) -> str:
    """Return what a builtin profile declares, as YAML; nothing where it does not."""
    model: object = roce
    for part in key.split("."):
        model = getattr(model, part, None)
    if model is None:
        return ""
    if isinstance(model, tuple):
        return f"[{', '.join(map(str, model))}]"
    return str(model).lower()


def _word(key: str, written: str) -> str:
    """Return a value of YAML as its fact says it."""
    if key == "lossless":
        return written.strip("[]").replace(" ", "") or "none"
    return {"true": "on", "false": "off"}.get(written, written)
