"""From failures to the cables and parts that somebody has to put right."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pytest_fabric.judge.localise.signs import can_cause, is_at_once
from pytest_fabric.report.blame import own_failures
from pytest_fabric.report.places import fold, is_pair, mentioned, nodes_of, ports_of
from pytest_fabric.report.ran import Run
from pytest_fabric.report.suspects import Suspect
from pytest_fabric.results import Verdict

#: What a ticket can be about; `settings` of a port or node are no part, and yet to be put right.
#: `group` is a rail or the whole fabric, `undecided` are places that cannot be told apart.
KINDS = ("cable", "card", "settings", "node", "switch", "uplinks", "group", "undecided")

#: Kinds that are about one port.
OF_PORTS = ("cable", "card", "settings")

#: Metrics of a port that its cable, with both modules, answers for: whole names, or first words.
CABLE = frozenset(
    {
        "module",
        "wiring",
        "link.state",
        "link.physical_state",
        "link.speed",
        "link.width",
        "link.raw_ber",
        "link.effective_ber",
        "link.uncorrectable",
        "link.flaps",
        "switch.state",
        "switch.speed",
        "switch.misplaced",
        "switch.rx_errors",
        "switch.fec_uncorrected",
        "crc_errors.growth",
        "symbol_errors.growth",
        "link_downed.growth",
    }
)

#: Those that the card in its slot answers for.
CARD = frozenset(
    {
        "link.presence",
        "pcie.speed",
        "pcie.width",
        "pcie.slow_links",
        "pcie.aer_correctable",
        "pcie.aer_uncorrectable",
    }
)


@dataclass
class Part:
    """What fails because of one thing; `advice` is what would tell more, `note` why it is named."""

    kind: str
    place: str
    places: tuple[str, ...]
    failed: dict[str, Verdict] = field(default_factory=dict)
    confidence: float | None = None
    advice: str = ""
    note: str = ""

    def add(self, verdicts: Iterable[Verdict]) -> None:
        """Take in what fails because of it."""
        self.failed.update((v.nodeid, v) for v in verdicts)

    @property
    def metrics(self) -> frozenset[str]:
        """Return the metrics that are not as they should be."""
        return frozenset(v.metric for v in self.failed.values() if v.metric)


def parts_of(run: Run) -> list[Part]:
    """Return the parts of a run, those that explain pairs first, then by what fails of them."""
    return Parts(run).of(run)


def line(run: Run) -> str:
    """Return in one line how many tickets there are, and what to type next; nothing for none."""
    found = parts_of(run)
    if not found:
        return ""
    counts = Counter(part.kind for part in found)
    told = ", ".join(f"{counts[kind]:,} {kind}" for kind in KINDS if counts[kind])
    first = name_of(found[0])
    return f"tickets: {told} (tickets.json); once one is mended: pytest-fabric retest {first}"


def name_of(part: Part) -> str:
    """Return a name that is the same in every run, and can be typed: `cable-gpu002:rail0`."""
    whole = f"{part.kind}-{part.place}"
    plain = re.sub(r"[^\w.:@+-]+", "-", whole, flags=re.ASCII)
    if plain == whole and len(plain) <= 80:
        return plain
    digest = hashlib.sha256(part.place.encode("utf-8", "replace")).hexdigest()
    return f"{plain[:60]}-{digest[:6]}"


class Parts:
    """Takes the failures of a run, one after another, and sorts them by what they are due to."""

    def __init__(self, run: Run) -> None:
        self._found: dict[tuple[str, str], Part] = {}
        ports = run.declared
        self._ports = frozenset(ports)
        self._nodes = frozenset(port.partition(":")[0] for port in ports)
        self._rails = frozenset(port.partition(":")[2] for port in ports)
        self._leaves = frozenset(run.known.leaves.values())
        self._absent: set[str] = set()

    def of(self, run: Run) -> list[Part]:
        """Return the parts, the surest first."""
        own = own_failures(run.ended)
        self._absent = {v.target for v in own if v.metric == "link.presence"}
        for verdict in own:
            self._take(verdict)
        failed = {(v.check, v.target): v for v in run.ended if v.outcome == "failed"}
        for suspect in run.suspected:
            told = [failed[key] for key in suspect.explained if key in failed]
            if told:
                self._explain(suspect, told)
            elif not self._is_known(suspect.places):
                part = self._get(self._kind(suspect.places), suspect.places)
                part.note = suspect.explanation
                part.add(_errors_of(suspect.places, run.ended))
        self._fold_nodes()
        found = [part for part in self._found.values() if part.failed]
        order = {kind: place for place, kind in enumerate(KINDS)}
        return sorted(
            found, key=lambda one: (-(one.confidence or 0.0), order[one.kind], -len(one.failed))
        )

    def _take(self, verdict: Verdict) -> None:
        """Take a failure of a port, a node or the fabric itself."""
        if verdict.metric == "wiring.swapped":
            return  # each of the cables fails a check of its own
        if verdict.target in self._ports:
            kind = "card" if verdict.target in self._absent else kind_of(verdict.metric)
            self._get(kind, (verdict.target,)).add([verdict])
            return
        named = self._named(verdict)
        for port in named:
            self._get("cable", (port,)).add([verdict])
        if not named:
            places = (verdict.target,)
            self._get(self._kind(places), places).add([verdict])

    def _fold_nodes(self) -> None:
        """Let what all ports of a node show at once follow from the port that is broken itself."""
        for (kind, place), part in list(self._found.items()):
            own = [
                one
                for one in self._found.values()
                if one.kind in ("cable", "card") and one.place.partition(":")[0] == place
            ]
            if kind == "node" and own and all(map(is_at_once, part.metrics)):
                for one in own:
                    one.add(part.failed.values())
                part.failed.clear()

    def _named(self, verdict: Verdict) -> list[str]:
        """Return the ports of a node at which a counter of damage grew, by its message."""
        if verdict.metric not in CABLE:
            return []
        own = [port for port in self._ports if port.partition(":")[0] == verdict.target]
        return sorted(mentioned(own, verdict.message or ""))

    def _explain(self, suspect: Suspect, told: Sequence[Verdict]) -> None:
        part = self._existing(suspect, told) or self._get(
            self._kind(suspect.places), suspect.places
        )
        part.add(told)
        part.confidence, part.advice = suspect.confidence, suspect.advice
        part.note = suspect.explanation

    def _existing(self, suspect: Suspect, told: Sequence[Verdict]) -> Part | None:
        """Return what is known of the port already: best what can be the cause of its pairs."""
        if len(suspect.places) != 1:
            return None
        own = [self._found.get((kind, suspect.places[0])) for kind in OF_PORTS]
        known = [part for part in own if part is not None]
        causes = [
            part
            for part in known
            if any(can_cause(metric, v.metric) for metric in part.metrics for v in told)
        ]
        return next(iter((*causes, *known)), None)

    def _is_known(self, places: Sequence[str]) -> bool:
        """Return whether a part at a place, or at a port of it, is found already."""
        known = {place for part in self._found.values() for place in part.places}
        known |= {node for place in known for node in nodes_of(place)}
        return all(place in known for place in places)

    def _get(self, kind: str, places: tuple[str, ...]) -> Part:
        place = fold(places) if len(places) > 1 else places[0]
        return self._found.setdefault((kind, place), Part(kind, place, places))

    def _kind(self, places: Sequence[str]) -> str:
        if len(places) > 1 or is_pair(places[0]):
            return "undecided"
        place = places[0]
        if place in self._ports:
            return "cable"
        for kind, names in (("node", self._nodes), ("switch", self._leaves)):
            if place in names:
                return kind
        return "uplinks" if " - " in place else "group"


def kind_of(metric: str | None) -> str:
    """Return what answers for a metric of a port."""
    name = metric or ""
    if name in CABLE or name.partition(".")[0] in CABLE:
        return "cable"
    return "card" if name in CARD else "settings"


def _errors_of(places: Sequence[str], verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Return the errors of places themselves, or else of pairs that end there."""
    errors = [v for v in verdicts if v.outcome == "error"]
    own = [v for v in errors if v.target in places or set(nodes_of(v.target)) <= set(places)]
    return own or [v for v in errors if set(ports_of(v.target)) & set(places)]
