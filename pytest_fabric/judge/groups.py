"""What a test reads of a group: sums and shares of its pairs, growth, and how congestion showed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from pytest_fabric.config import Profile
from pytest_fabric.errors import CounterError, FabricError, MeasurementError, MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.limits import Limits
from pytest_fabric.judge.values import Value
from pytest_fabric.judge.views import PairResult, everything
from pytest_fabric.metrics import GROUP_METRICS
from pytest_fabric.results import Growth, Measurement, Member, Pair, Port
from pytest_fabric.units import render

#: What the values of a group and of its repetition are called where both are told.
MOMENTS = ("at first", "when made again")

#: What the first word of its metrics is, by tool.
FAMILIES = {
    "node_bandwidth": "node",
    "gpu_bandwidth": "gpu",
    "incast": "incast",
    "bisection": "bisection",
}

#: The families of groups that are made on a node.
ON_NODES = frozenset({"node", "gpu"})

#: So many pairs are named in the detail of a value, the slowest first.
NAMED = 4


@dataclass(frozen=True)
class GroupResult:
    """The result of a group: `result.bandwidth`, `result.reaction`, `result.growth("discards")`.

    Of a node, and of its GPUs: bandwidth (of all ports and directions), slowest. Of an incast:
    bandwidth (what the receiver takes in), slowest, fastest, reaction, cnp_sent, cnp_handled,
    paused. Of a bisection: mean, slowest. `rates` are the payload rates of its pairs in bits per
    second, where they are declared. `again` returns the same group measured once more: what it
    misses at first, that decides. Raises MissingValueError for what was not measured,
    MeasurementError for values that must not be judged, CounterError for what no counter can tell.
    """

    record: Measurement
    ledger: Ledger
    available: Callable[[str], None] = everything
    again: Callable[[], tuple[Measurement, ...]] | None = None
    routing: str = "ecmp"
    rates: Mapping[str, float] = field(default_factory=dict)

    @property
    def family(self) -> str:
        """Return the first word of its metrics."""
        return FAMILIES[self.record.tool]

    @property
    def title(self) -> str:
        """Return what was measured, as people say it."""
        count, senders = len(self.record.members), self.record.settings.get("senders")
        if senders:
            return f"incast {senders}:1"
        if self.family in ON_NODES:
            of_gpus = " from GPU memory" if self.family == "gpu" else ""
            return f"all {count} ports at once{of_gpus}"
        return f"bisection of {count} pairs"

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__"):
            raise AttributeError(name)
        metric = f"{self.family}.{name}"
        if metric not in GROUP_METRICS:
            known = [one for one in GROUP_METRICS if one.startswith(f"{self.family}.")]
            names = ", ".join(one.partition(".")[2] for one in known)
            raise MissingValueError(f"{self.record.tool} has no value {name!r}: it has {names}")
        self.available(metric)
        if self.record.doubts:
            message = f"{self.title}: {'; '.join(self.record.doubts)}"
            raise MeasurementError(self.record.target, "doubt", message)
        number, detail = self._number(name)
        label = f"{self.title}: {LABELS[name]}"
        return self._value(metric, label, number, detail, lambda other: getattr(other, name))

    def growth(self, meaning: str) -> Value:
        """Return by how much the counters of a meaning grew, at all ports of the group.

        Of a node only its own ports count: those of its partners are judged with their own nodes.
        """
        record = self.record
        if self.family in ON_NODES:
            own = [one for one in record.growth if Port.parse(one.port).node == record.target]
            record = replace(record, growth=tuple(own))
        single = PairResult(record, self.ledger, self.available, None, self.routing)
        value = single.growth(meaning)
        label = f"{self.title}: growth of {meaning}"
        again = None if self.again is None else lambda: self._again(lambda it: it.growth(meaning))
        return replace(value, label=label, alone=again, moments=MOMENTS)

    def _number(self, name: str) -> tuple[float, tuple[str, ...]]:
        """Return a value, and what it is made of."""
        rates = [member.bandwidth.average_bps for member in self.record.members]
        if not rates:
            raise MissingValueError(f"{self.record.target}: {self.title} has no pairs")
        if name == "bandwidth":
            return sum(rates), self._by_share()
        if name == "mean":
            return sum(rates) / len(rates), self._by_share()
        if name == "slowest" and self.family == "bisection":
            return min(rates), self._by_share()
        if name in ("slowest", "fastest"):
            shares = [self._share(member) for member in self.record.members]
            one = min(shares) if name == "slowest" else max(shares)
            return round(one * len(shares) / sum(shares), 4), self._by_share(name == "fastest")
        if name == "paused":
            return self._paused()
        return self._reaction(name)

    def _share(self, member: Member) -> float:
        """Return what a pair reached of its own payload rate, or its rate where none is known."""
        return member.bandwidth.average_bps / self.rates.get(member.pair, 1.0)

    def _by_share(self, fastest_first: bool = False) -> tuple[str, ...]:
        """Return what the pairs reached, the slowest first unless asked otherwise."""
        members = sorted(self.record.members, key=self._share, reverse=fastest_first)
        left = len(members) - NAMED
        more = (f"and {left} more pairs",) if left > 0 else ()
        return (*map(self._told, members[:NAMED]), *more)

    def _told(self, member: Member) -> str:
        """Return what a pair reached; where one end is the same for all, by the other one."""
        rate = render(member.bandwidth.average_bps, "b/s")
        pair = Pair.parse(member.pair)
        if self.family in ON_NODES:
            return f"{pair.client} {rate} (with {pair.server})"
        return f"{pair.client if self.family == 'incast' else member.pair} {rate}"

    def _reaction(self, name: str) -> tuple[float, tuple[str, ...]]:
        """Return how often the fabric or its ports said that there was congestion.

        A port that no counter of a kind can show is no proof of silence: it must have one of them.
        """
        kinds = {
            "reaction": ("ecn_marked", "cnp_sent", "pause", "waited"),
            "cnp_sent": ("cnp_sent",),
            "cnp_handled": ("cnp_handled",),
        }[name]
        grown = self._grown(kinds)
        if not grown:
            raise CounterError(
                f"{self.record.target}: expected a counter of {' or '.join(kinds)}, found none: "
                f"the driver cannot tell whether the fabric reacts: add `{self.family}.{name}` to "
                "not_available of the profile, with the reason"
            )
        if name == "cnp_handled":
            return self._least(grown)
        return sum(one.delta for one in grown), tuple(str(one) for one in grown if one.delta)

    def _least(self, grown: Sequence[Growth]) -> tuple[float, tuple[str, ...]]:
        """Return what the sender counted that counted least: each of them must slow down."""
        senders = [str(Pair.parse(member.pair).client) for member in self.record.members]
        blind = [name for name in senders if all(one.port != name for one in grown)]
        if blind:
            raise CounterError(
                f"{blind[0]}: expected a counter of notifications, found none: nobody can tell "
                "whether it slows down"
            )
        counts = {
            sender: sum(one.delta for one in grown if one.port == sender) for sender in senders
        }
        return min(counts.values()), tuple(f"{name} {count:,}" for name, count in counts.items())

    def _grown(self, kinds: Collection[str]) -> list[Growth]:
        return [one for one in self.record.growth if one.meaning in kinds]

    def _paused(self) -> tuple[float, tuple[str, ...]]:
        """Return the largest share of the run in which a port was told to pause."""
        seconds = self.record.settings.get("duration_s")
        grown = [one for one in self._grown(("pause_duration",)) if one.direction == "rx"]
        if not grown or not isinstance(seconds, int | float):
            raise CounterError(
                f"{self.record.target}: expected counters of how long ports were paused, found "
                f"none: add `{self.family}.paused` to not_available of the profile"
            )
        longest = max(grown, key=lambda one: one.delta)
        return round(longest.delta / 1e6 / seconds, 4), (str(longest),)

    def _value(
        self,
        metric: str,
        label: str,
        number: float,
        detail: tuple[str, ...],
        read: Callable[[GroupResult], Value],
    ) -> Value:
        self.ledger.reads.append(metric)
        again = None if self.again is None else lambda: self._again(read)
        unit = GROUP_METRICS[metric]
        return Value(number, unit, metric, label, self.ledger, detail, again, moments=MOMENTS)

    def _again(self, read: Callable[[GroupResult], Value]) -> tuple[Value, ...]:
        records = self.again() if self.again is not None else ()
        return tuple(
            read(replace(self, record=record, ledger=Ledger(), again=None)) for record in records
        )


LABELS = {
    "bandwidth": "bandwidth",
    "mean": "mean of the pairs",
    "slowest": "the slowest",
    "fastest": "the fastest",
    "reaction": "marks, notifications and pauses",
    "cnp_sent": "congestion notifications that were sent",
    "cnp_handled": "congestion notifications that senders obeyed",
    "paused": "share of the time in which a port was paused",
}


def rates_of(pairs: Iterable[tuple[Pair, Profile, Profile]]) -> dict[str, float]:
    """Return the payload rates of pairs, by the slower end, where both declare one."""
    found = {}
    for pair, client, server in pairs:
        rates = [one.payload_rate_bps for one in (client, server)]
        known = [rate for rate in rates if rate is not None]
        if len(known) == len(rates):
            found[str(pair)] = min(known)
    return found


def budget(
    tool: str, directions: int, profiles: Mapping[str, tuple[Profile, Profile]]
) -> dict[str, float]:
    """Return what shares of a rate refer to: of a node the sum of its ports and directions.

    `profiles` are those of both ends, by pair. An incast has its receiver's line, and each pair of
    a bisection its own; empty where a profile declares no speed.
    """
    found = {}
    for of in ("payload rate", "line rate"):
        rates = [min(_rate(one, of) for one in ends) for ends in profiles.values()]
        if rates and min(rates) > 0:
            is_node = FAMILIES.get(tool) in ON_NODES
            found[of] = sum(rates) * directions if is_node else min(rates)
    return found


def _rate(profile: Profile, of: str) -> float:
    rate = profile.payload_rate_bps if of == "payload rate" else profile.line_rate_bps
    return rate or 0.0


def misses(result: GroupResult, limits: Limits) -> bool:
    """Return whether a value of a group is outside a declared limit, which then is made again."""
    names = dict.fromkeys(name for profile in limits.profiles for name in profile.limits)
    for metric in names:
        family, _, name = metric.partition(".")
        if family != result.family:
            continue
        with suppress(FabricError):  # told by the test
            if getattr(result, name) not in limits[metric]:
                return True
    return False
