"""What a test reads of all pairs at once: hop classes against each other, and contention."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from pytest_fabric.errors import MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.localise.outliers import PEERS, outliers
from pytest_fabric.judge.places_of_load import Loaded, gathered
from pytest_fabric.judge.topics import refuse
from pytest_fabric.judge.values import Value
from pytest_fabric.judge.views import everything
from pytest_fabric.metrics import TOGETHER_METRICS
from pytest_fabric.results import Measured, Pair
from pytest_fabric.units import render

#: Names of what is asked for, by the last word of its metric, and what people call it.
NAMES = {
    "unexplained": ("hops.unexplained", "latency across leaves that hops do not explain"),
    "odd": ("hops.odd", "leaf pairs whose latency stands out"),
    "contention_share": ("contention.share", "share of pairs that only load made miss"),
    "contention_places": ("contention.places", "places at which contention gathers"),
}

#: Stands for the leaf of a port of which none is declared: all of them may share uplinks.
ANY = "?"

#: So many lines are told of what stands out.
TOLD = 6


@dataclass(frozen=True)
class Path:
    """The leaves of a pair, and what it has in common with its peers; `step_s` is what two more
    switches take by its profile, None where that is not declared.
    """

    leaves: tuple[str, str]
    kind: str
    step_s: float | None

    @property
    def is_across(self) -> bool:
        """Return whether it goes from leaf to leaf."""
        return self.leaves[0] != self.leaves[1]

    @property
    def name(self) -> str:
        """Return its leaves, whichever end is which."""
        return " - ".join(sorted(self.leaves)) if self.is_across else self.leaves[0]


@dataclass(frozen=True)
class TogetherResult:
    """The result of all pairs: `unexplained`, `odd`, `contention_share`, `contention_places`.

    `paths` are those of all pairs of which both leaves are known, whether they were measured or
    not; `missed` are the pairs that missed a limit beside others and held alone. `lost` tells why
    a pair has no value. `skip` is called with the reason for what the fabric cannot show.
    """

    tool: str
    measured: Mapping[str, Measured]
    lost: Mapping[str, str]
    paths: Mapping[str, Path]
    missed: frozenset[str]
    ledger: Ledger
    available: Callable[[str], None] = everything
    skip: Callable[[str], None] = refuse

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in NAMES:
            raise MissingValueError(f"{self.tool} over the fabric has no {name!r}: it has {KNOWN}")
        metric, label = NAMES[name]
        self.available(metric)
        number, detail = getattr(self, f"_{name}")()
        self.ledger.reads.append(metric)
        unit = TOGETHER_METRICS[metric]
        return Value(number, unit, metric, label, self.ledger, tuple(detail[:TOLD]))

    def _unexplained(self) -> tuple[float, list[str]]:
        """Return the largest difference of medians that hops do not explain, of all kinds."""
        found: list[tuple[float, str]] = []
        short: list[str] = []
        for kind in dict.fromkeys(path.kind for path in self.paths.values()):
            classes = [self._class(kind, is_across) for is_across in (False, True)]
            few = [len(names) for names in classes if len(names) < PEERS]
            if few:
                same, across = map(len, classes)
                short.append(f"{same} pairs on a leaf and {across} across leaves ({kind})")
                continue
            same_s, across_s = (median(self._medians(names).values()) for names in classes)
            found.append(self._step(classes, same_s, across_s, kind))
        if not found:
            self.skip(
                f"expected {PEERS} pairs on one leaf and {PEERS} across leaves, found "
                f"{'; '.join(short) or 'no leaf declared'}: hop classes cannot be compared"
            )
        worst = max(found, key=lambda it: it[0], default=(0.0, ""))
        return worst[0], [text for _, text in sorted(found, reverse=True)]

    def _step(
        self, classes: Sequence[Sequence[str]], same_s: float, across_s: float, kind: str
    ) -> tuple[float, str]:
        """Return by how much two classes differ beside what hops take, and what is told of it."""
        steps = [self.paths[name].step_s for names in classes for name in names]
        known = [step for step in steps if step is not None]
        if len(known) < len(steps):
            raise MissingValueError(
                f"hops.unexplained: {kind}: expected `latency: {{switch: ..., fec: ...}}` in the "
                "profile, found none: what two more switches take is not known"
            )
        expected = median(known)
        worst = max(self._medians(classes[1]).items(), key=lambda it: it[1])
        text = (
            f"{worst[0]} {_time(worst[1])} is the slowest across leaves; median across leaves "
            f"{_time(across_s)}, on a leaf {_time(same_s)}; two more switches explain "
            f"{_time(expected)} ({kind})"
        )
        return abs(across_s - same_s - expected), text

    def _odd(self) -> tuple[float, list[str]]:
        """Return how many leaf pairs, or leaves, stand out among those of their hop class."""
        lines: list[str] = []
        counts: list[int] = []
        for kind in dict.fromkeys(path.kind for path in self.paths.values()):
            for is_across in (False, True):
                groups = self._by_leaves(self._class(kind, is_across))
                counts.append(len(groups))
                if len(groups) > PEERS:
                    lines += _standing_out(self._middles(groups), groups, kind)
        if max(counts, default=0) <= PEERS:
            self.skip(
                f"expected more than {PEERS} leaf pairs, or leaves, of one kind, found "
                f"{max(counts, default=0)}: the median of so few says nothing about one of them"
            )
        return len(lines), lines

    def _class(self, kind: str, is_across: bool) -> list[str]:
        return [
            name
            for name, path in self.paths.items()
            if path.kind == kind and path.is_across == is_across
        ]

    def _by_leaves(self, names: Iterable[str]) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = defaultdict(list)
        for name in names:
            groups[self.paths[name].name].append(name)
        return groups

    def _middles(self, groups: Mapping[str, Sequence[str]]) -> dict[str, float]:
        """Return the median of each leaf pair that was measured. Raises MissingValueError."""
        members = [name for names in groups.values() for name in names]
        known = self._medians(members)
        middles = {
            leaves: median(known[name] for name in names if name in known)
            for leaves, names in groups.items()
            if any(name in known for name in names)
        }
        if len(middles) <= PEERS:
            self._refuse(members, f"more than {PEERS} leaf pairs", len(middles))
        return middles

    def _medians(self, names: Sequence[str]) -> dict[str, float]:
        """Return the median of each measured pair, in seconds; of one made again, the last.

        Raises MissingValueError where fewer than five of them have one.
        """
        found: dict[str, float] = {}
        for name in names:
            measured = self.measured.get(name)
            records = () if measured is None else (measured.record, *measured.alone)
            rows = [one.latency for one in records if one.latency is not None]
            if rows and rows[-1].median_s is not None:
                found[name] = rows[-1].median_s
        if len(found) < PEERS:
            self._refuse(names, f"{PEERS} pairs", len(found))
        return found

    def _refuse(self, names: Iterable[str], wanted: str, count: int) -> None:
        why = next((f": {self.lost[name]}" for name in names if name in self.lost), "")
        raise MissingValueError(f"{self.tool}: expected a value of {wanted}, found {count}{why}")

    def _loaded(self) -> list[Loaded]:
        """Return the pairs that were measured beside others. Raises MissingValueError for none."""
        if not self.measured:
            self._refuse(self.lost, "a pair", 0)
        found = []
        for name, measured in self.measured.items():
            if measured.record.company > 0:
                pair, leaves = Pair.parse(name), self._uplinks(name)
                nodes = (pair.client.node, pair.server.node)
                places = dict(zip(nodes, leaves, strict=True))
                places |= {leaf: leaf for leaf in leaves if leaf not in ("", ANY)}
                start = measured.record.started
                window = (start, start + measured.record.duration)
                found.append(Loaded(name, places, name in self.missed, *window))
        if not found:
            self.skip(f"nothing ran beside {self.tool}: what load does was not seen")
        return found

    def _uplinks(self, name: str) -> tuple[str, str]:
        """Return the leaf whose uplinks each end of a pair needs, "" for none.

        `ANY` for both where either is not declared.
        """
        path = self.paths.get(name)
        if path is None:
            return (ANY, ANY)
        return path.leaves if path.is_across else ("", "")

    def _contention_share(self) -> tuple[float, list[str]]:
        loaded = self._loaded()
        missed = [one for one in loaded if one.is_missed]
        lines = [f"{one.pair} missed beside {self._beside(one.pair)}, held alone" for one in missed]
        return round(len(missed) / max(1, len(loaded)), 4), lines

    def _contention_places(self) -> tuple[float, list[str]]:
        """Return at how many places pairs missed at more moments than chance lets."""
        loaded = self._loaded()
        found = gathered(loaded)
        return len(found), [
            f"{one.example}, and {one.missed - 1} more of the {one.count} pairs of {one.name}, "
            f"missed beside others, at {one.events} of {one.turns} moments, and held alone; "
            f"elsewhere {one.elsewhere}"
            for one in found
        ]

    def _beside(self, name: str) -> str:
        beside = self.measured[name].record.beside
        return f"{beside[0]} and {len(beside) - 1} more" if len(beside) > 1 else "".join(beside)


KNOWN = ", ".join(NAMES)


def _standing_out(
    middles: Mapping[str, float], groups: Mapping[str, Sequence[str]], kind: str
) -> list[str]:
    """Return a line for each leaf pair that is slower than all others, the slowest first."""
    usual = f"median {_time(median(middles.values()))} of {len(middles)} ({kind})"
    slow = sorted(outliers(middles, high_is_bad=True), key=lambda name: -middles[name])
    return [f"{groups[name][0]}: {name} {_time(middles[name])}, {usual}" for name in slow]


def _time(seconds: float) -> str:
    return render(float(f"{seconds:.3g}"), "s")
