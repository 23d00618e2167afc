"""How the links of a soak are: read before its first window and after each, and what grew."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pytest_fabric.measure.end import End
from pytest_fabric.measure.topics import link, link_errors, uptime
from pytest_fabric.measure.topics.heard import Heard, Outcomes, heard, tree
from pytest_fabric.measure.topics.topic import Subject
from pytest_fabric.results import Fact, Health
from pytest_fabric.tools import mlxlink
from pytest_fabric.tools.ethtool_fec import Fec
from pytest_fabric.transport import Collect
from pytest_fabric.transport.jobs import Word

#: What is read of a port on Ethernet, and on InfiniBand, where the firmware's tool has the errors.
ETHERNET = ("fec", "oldfec", "module", "flaps")
INFINIBAND = ("mlxlink", "flaps")

#: Fields of `Health` that count from the first reading to the last.
COUNTS = ("flaps", "lost", "corrected")

NO_BITS = (
    "the driver shows no corrected bits (ethtool -I --show-fec: Linux 5.13 or newer): see "
    "not_available"
)
NO_BITS_HERE = "bits that FEC corrected are counted on Ethernet only: see not_available"


@dataclass(frozen=True)
class Seen:
    """What a port said at one moment: `counts` since whenever, by field of `Health`."""

    uptime_s: float | None
    speed_bps: float | None
    counts: Mapping[str, int | None] = field(default_factory=dict)
    celsius: float | None = None
    problems: Mapping[str, str] = field(default_factory=dict)
    inapplicable: Mapping[str, str] = field(default_factory=dict)


def job(subject: Subject) -> Collect:
    """Return the one job that asks a node about all its ports."""
    found: dict[str, tuple[Word, ...]] = {"uptime": uptime.COMMAND}
    for place, end in enumerate(subject.ends):
        wanted = ETHERNET if end.rdma.link_layer == "Ethernet" else INFINIBAND
        found |= {
            name: words
            for name, words in link.port_sections(subject, place, end)
            if name.partition("-")[0] in wanted
        }
    return Collect(found, link.DEADLINE_S)


def read(subject: Subject, outcomes: Outcomes) -> dict[str, Seen]:
    """Return what each port of a node says, by its id."""
    up = uptime.read(outcomes)
    return {
        str(end.port): _seen(subject, n, end, outcomes, up) for n, end in enumerate(subject.ends)
    }


def _seen(subject: Subject, place: int, end: End, outcomes: Outcomes, up: Heard[float]) -> Seen:
    tool = link.firmware_tool(subject)
    far = heard(outcomes, f"mlxlink-{place}", tool, link.first)
    count = len(link.wired(end.rdma))
    fecs = [link.fec(outcomes, f"{place}-{member}") for member in range(count)]
    facts = {
        "flaps": link_errors.flaps(end.rdma, tree(outcomes, f"flaps-{place}"), up.value),
        "lost": _lost(end, fecs, far),
        "corrected": _corrected(end, fecs),
        "celsius": link.modules(end.rdma, place, outcomes, far)["module.temperature"],
    }
    problems = {name: _problem(fact) for name, fact in facts.items() if fact.value is None}
    if up.value is None:
        problems |= dict.fromkeys(COUNTS, up.problem)
    celsius = facts["celsius"].value
    return Seen(
        up.value,
        end.rdma.speed_bps,
        {name: _whole(facts[name]) for name in COUNTS},
        celsius if isinstance(celsius, int | float) else None,
        problems,
        {name: fact.inapplicable for name, fact in facts.items() if fact.inapplicable},
    )


def _problem(fact: Fact) -> str:
    return fact.problem or fact.inapplicable or "it was not read"


def _whole(fact: Fact) -> int | None:
    return int(fact.value) if isinstance(fact.value, int | float) else None


def _lost(end: End, fecs: Iterable[Heard[list[Fec]]], far: Heard[mlxlink.Port]) -> Fact:
    """Return the blocks that FEC could not correct since whenever, over the members of a bond."""
    if end.rdma.link_layer == "Ethernet":
        found = [link_errors.blocks(one) for one in fecs]
    else:
        found = [link_errors.left_behind(far)]
    silent = next((one for one in found if one.value is None), None)
    if silent is not None or not found:
        return silent.nothing if silent is not None else Fact(None, "it has no network device")
    return Fact(sum(one.value or 0 for one in found))


def _corrected(end: End, fecs: list[Heard[list[Fec]]]) -> Fact:
    if end.rdma.link_layer != "Ethernet" or not fecs:
        return Fact(None, NO_BITS_HERE)
    silent = next((one for one in fecs if one.value is None), None)
    if silent is not None:
        return silent.nothing
    bits = [one.corrected_bits for found in fecs for one in found.value or ()]
    if None in bits or not bits:
        return Fact(None, NO_BITS)
    return Fact(sum(count or 0 for count in bits))


def between(port: str, before: Seen | str, after: Seen | str) -> Health:
    """Return what became of a port between two readings; a text says why there is none."""
    if isinstance(before, str) or isinstance(after, str):
        why = before if isinstance(before, str) else str(after)
        return Health(port, 0.0, None, problems=dict.fromkeys((*COUNTS, "celsius"), why))
    seconds = (after.uptime_s or 0.0) - (before.uptime_s or 0.0)
    problems = {**before.problems, **after.problems}
    counts: dict[str, int] = {}
    for name in COUNTS:
        then, now = before.counts[name], after.counts[name]
        if then is None or now is None or name in problems:
            continue
        if seconds <= 0:
            problems[name] = "the node was restarted meanwhile, and counts anew"
        elif now < then:
            problems[name] = f"the counter was cleared meanwhile: {then:,} before, {now:,} after"
        else:
            counts[name] = now - then
    return Health(
        port,
        round(max(0.0, seconds), 3),
        after.speed_bps,
        **counts,
        celsius=after.celsius,
        problems=problems,
        inapplicable=after.inapplicable,
    )
