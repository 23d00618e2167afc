"""What somebody signs for: one leaf, with all that was and was not shown of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pytest_fabric.metrics import BANDWIDTH_TOOLS, LATENCY_TOOLS
from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.covered import KINDS, Coverage, kind_of
from pytest_fabric.report.places import fold, ports_of
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.results import Verdict

MEASURED = ("passed", "failed", "waived")

READY, WITH_WAIVERS, NOT_READY = "READY", "READY WITH WAIVERS", "NOT READY"

#: Metrics of tools, where any statistic of the tool stands for all of them.
BY_TOOL = frozenset((*LATENCY_TOOLS, *BANDWIDTH_TOOLS, "ping", "tcp"))

#: So many names of checks are told in one reason.
NAMED = 3


@dataclass(frozen=True)
class Sheet:
    """One leaf, or the ports without one (`leaf` is None); `ports` are those of excluded nodes too.

    `index` has the verdicts by port, node and, under an empty name, of the fabric.
    """

    record: RunRecord
    leaf: str | None
    ports: tuple[str, ...]
    index: Mapping[str, Sequence[Verdict]]

    @cached_property
    def concerned(self) -> list[Verdict]:
        """Return the verdicts on its ports, their pairs and nodes, and on the whole fabric."""
        places = ["", *self.ports, *dict.fromkeys(port.partition(":")[0] for port in self.ports)]
        found = {v.nodeid: v for place in places for v in self.index.get(place, ())}
        return list(found.values())

    @cached_property
    def own(self) -> list[Verdict]:
        """Return the verdicts on its ports themselves, and on their pairs."""
        wanted = set(self.ports)
        return [v for v in self.concerned if wanted.intersection(v.target.split(".."))]

    @property
    def excluded(self) -> list[str]:
        """Return the ports of excluded nodes."""
        left_out = self.record.run.excluded
        return [port for port in self.ports if port.partition(":")[0] in left_out]

    @property
    def seen(self) -> list[str]:
        """Return the ports that their nodes have."""
        return [port for port in self.ports if port in self.record.devices]

    @cached_property
    def unmeasured(self) -> dict[str, list[str]]:
        """Return what was not measured, with the ports of which it was not."""
        kinds: dict[str, set[str]] = {name: set() for name in KINDS}
        for verdict in self.own:
            kind = kind_of(verdict)
            if kind is not None and verdict.outcome in MEASURED and verdict.value is not None:
                kinds[kind].update(verdict.target.split(".."))
        missing = {name: [p for p in self.ports if p not in seen] for name, seen in kinds.items()}
        return {name: ports for name, ports in missing.items() if ports}

    @cached_property
    def coverage(self) -> Coverage:
        """Return its part of what the whole run has measured."""
        whole, own = self.record.coverage, set(self.ports)
        measured, missing = (
            tuple(port for port in ports if port in own)
            for ports in (whole.measured, whole.missing)
        )
        return Coverage(measured, missing, whole.unasked)

    def outcomes(self, *names: str) -> list[Verdict]:
        """Return the verdicts that concern it with one of some outcomes."""
        return [v for v in self.concerned if v.outcome in names]

    @cached_property
    def reasons(self) -> list[str]:
        """Return why it is not ready; nothing where it is."""
        return [
            *self._unfit_run(),
            *([f"excluded: {fold(self.excluded)}"] if self.excluded else []),
            *(f"{name} not measured: {fold(ports)}" for name, ports in self.unmeasured.items()),
            *self._bad(),
            *self._unjudged(),
            *self._unchecked_cables(),
        ]

    @property
    def conclusion(self) -> str:
        """Return READY, READY WITH WAIVERS or NOT READY; nothing is ready by nothing."""
        if self.reasons or not any(v.outcome == "passed" for v in self.own):
            return NOT_READY
        return WITH_WAIVERS if self.outcomes("waived") else READY

    def _unfit_run(self) -> list[str]:
        about, kept = self.record.about, self.record.kept
        found = [kept.problem] if kept.problem is not None else []
        if about is None or about.ended is None:
            found.append("the run has not ended: it goes on, or was killed")
        elif about.interrupted:
            found.append("the run was interrupted")
        if not self.ports:
            found.append("no port is declared")
        return found

    def _bad(self) -> list[str]:
        known = (*MEASURED, "skipped", "not run")
        groups = (
            ("failed", self.outcomes("failed")),
            ("could not be told", [v for v in self.concerned if v.outcome not in known]),
            ("not run", self.outcomes("not run")),
        )
        return [_counted(word, found) for word, found in groups if found]

    def _unjudged(self) -> list[str]:
        """Return the limits of its ports that no check has judged."""
        about = self.record.about
        if about is None:
            return []
        if not about.limits:
            return ["which limits are declared is not known: an older version made the run"]
        judged = self._judged()
        wanted: dict[str, list[str]] = {}
        for port in self.ports:
            for metric in about.limits.get(about.profiles.get(port, ""), ()):
                if port not in judged.get(_family(metric), ()):
                    wanted.setdefault(metric, []).append(port)
        left = [m for m, ports in wanted.items() if not self._is_inapplicable(m, ports)]
        shown = ", ".join(left[:6]) + (f" and {len(left) - 6} more" if len(left) > 6 else "")
        places = fold(dict.fromkeys(port for metric in left for port in wanted[metric]))
        return [f"limits that no check has judged: {shown} ({places})"] if left else []

    def _judged(self) -> dict[str, set[str]]:
        """Return the ports of which each metric was judged: what is said of a node holds for all.

        A check over the whole fabric has looked at all ports.
        """
        found: dict[str, set[str]] = {}
        for verdict in self.concerned:
            if not verdict.metric or verdict.value is None or verdict.outcome not in MEASURED:
                continue
            ends = ports_of(verdict.target)
            if not ends:
                own = [p for p in self.ports if p.partition(":")[0] == verdict.target]
                ends = tuple(own) or self.ports
            found.setdefault(_family(verdict.metric), set()).update(ends)
        return found

    def _is_inapplicable(self, metric: str, ports: Iterable[str]) -> bool:
        """Return whether every port says that it has no such thing: copper has no light."""
        facts = [self.record.facts.get(port, {}).get(metric) for port in ports]
        return bool(facts) and all(fact is not None and fact.inapplicable for fact in facts)

    def _unchecked_cables(self) -> list[str]:
        about = self.record.about
        planned = [] if about is None else [port for port in self.ports if port in about.cables]
        told = {v.target for v in self.own if v.layer == "wiring" and v.value is not None}
        left = [port for port in planned if port not in told]
        return [f"cables that were not held against their plan: {fold(left)}"] if left else []


def sheets(record: RunRecord) -> list[Sheet]:
    """Return a sheet for each leaf, in the order of the inventory, those without one last."""
    groups: dict[str | None, list[str]] = {}
    for port in record.run.declared:
        groups.setdefault(record.leaves.get(port), []).append(port)
    index = _index(record)
    ordered = sorted(groups, key=lambda leaf: leaf is None)
    return [Sheet(record, leaf, tuple(groups[leaf]), index) for leaf in ordered]


def _index(record: RunRecord) -> dict[str, list[Verdict]]:
    """Return the verdicts by port and node; those that have neither under an empty name."""
    nodes = {port.partition(":")[0] for port in record.run.declared}
    found: dict[str, list[Verdict]] = {}
    for verdict in record.verdicts:
        ends = ports_of(verdict.target)
        places = ends or (verdict.target if verdict.target in nodes else "",)
        for place in dict.fromkeys(places):
            found.setdefault(place, []).append(verdict)
    return found


def _family(metric: str) -> str:
    """Return what of a metric must have been judged: of a tool any of its statistics."""
    words = metric.split(".")
    if words[0] not in BY_TOOL:
        return metric
    return ".".join(words[:2]) if words[:2] == ["ping", "full"] else words[0]


def _counted(word: str, found: Sequence[Verdict]) -> str:
    names = Counter(v.check for v in found).most_common()
    shown = ", ".join(f"{name} x {count}" if count > 1 else name for name, count in names[:NAMED])
    more = f" and {len(names) - NAMED} more checks" if len(names) > NAMED else ""
    places = fold([v.target for v in found if ":" in v.target][:40])
    return clean_line(f"{len(found):,} {word}: {shown}{more} ({places or 'fabric'})")
