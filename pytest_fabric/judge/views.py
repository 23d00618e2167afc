"""What a test reads of a pair: fields of a record as values, and an error where there is none."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from pytest_fabric.counters import OVERTAKING, overtakes
from pytest_fabric.errors import CounterError, MeasurementError, MissingValueError
from pytest_fabric.judge import baseline, peers, reach, tcp
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.peers import Group
from pytest_fabric.judge.values import Value
from pytest_fabric.metrics import (
    BY_LOAD,
    MEANINGS,
    PROBES,
    REACH_STATISTICS,
    TCP_STATISTICS,
    TCP_TOOLS,
)
from pytest_fabric.results import Growth, Measurement
from pytest_fabric.units import render

#: Samples that a percentile needs: with fewer, perftest's P99 is the maximum (n <= 102) or rests on
#: a handful of samples; its P99.9 equals the maximum up to n = 1002 (perftest_resources.c, print of
#: the latency report).
SAMPLES = {"p99": 500, "p999": 10_000}

#: Where each name of a pair result stands in the record, and its unit.
FIELDS = {
    "min": ("latency", "min_s", "s"),
    "median": ("latency", "median_s", "s"),
    "mean": ("latency", "mean_s", "s"),
    "p99": ("latency", "p99_s", "s"),
    "p999": ("latency", "p999_s", "s"),
    "max": ("latency", "max_s", "s"),
    "average": ("bandwidth", "average_bps", "b/s"),
    "bidirectional": ("bandwidth", "average_bps", "b/s"),
    "peak": ("bandwidth", "peak_bps", "b/s"),
    "message_rate": ("bandwidth", "message_rate", "/s"),
}

LABELS = {"p99": "P99", "p999": "P99.9"}


def _unknown(kind: str, name: str, known: tuple[str, ...]) -> MissingValueError:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f", did you mean {close[0]}?" if close else f": it has {', '.join(known)}"
    return MissingValueError(f"{kind} has no value {name!r}{hint}")


def everything(metric: str) -> None:
    """Let every metric be read: for targets whose profile leaves nothing out."""


@dataclass(frozen=True)
class PairResult:
    """The result of one measurement on a pair: `result.p99`, `result.average`, `result.growth()`.

    Latency: min, median, mean, p99, p999, max. Bandwidth: average, peak, message_rate; of both
    directions at once only bidirectional. All of those: mtu, class_share. Ping: loss, rtt_min,
    rtt_median, rtt_max; of full size also mtu. TCP: throughput, retransmissions, rtt, rtt_max,
    fairness. Raises MissingValueError for what was not measured,
    and MeasurementError when the traffic did not go where it was sent. `available` is called with
    each metric before it is read, and skips what the profile says that this hardware cannot show.
    With adaptive `routing` counters that packets out of order let grow are left out. `alone`
    returns the same measurement made with nothing beside it; what a value misses under load, those
    decide. `group` returns the pair's peers, `past` what each run of the baseline has of it.
    `line_bps` is the declared speed of the slower end. `tolerant` is for ports that may be
    unstable: one repetition that holds is enough.
    """

    record: Measurement
    ledger: Ledger
    available: Callable[[str], None] = everything
    alone: Callable[[], tuple[Measurement, ...]] | None = None
    routing: str = "ecmp"
    group: Callable[[], Group] | None = None
    past: Callable[[], Sequence[baseline.Past]] | None = None
    line_bps: float | None = None
    tolerant: bool = False

    @property
    def title(self) -> str:
        """Return the tool and the message size, as people name a measurement."""
        row = self.record.latency or self.record.bandwidth
        if self.record.reach:
            return reach.title(self.record)
        if self.record.tool in TCP_TOOLS:
            return tcp.title(self.record)
        return f"{self.record.tool} {render(row.bytes, 'B')}" if row else self.record.tool

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.record.tool in PROBES:
            return self._reach(name)
        if self.record.tool in TCP_TOOLS:
            return self._tcp(name)
        if name not in FIELDS:
            raise _unknown(self.record.tool, name, (*FIELDS, "mtu", "class_share", "growth"))
        kind, field, unit = FIELDS[name]
        self.available(f"{self.record.tool}.{name}")
        self._refuse_doubts()
        both = self.record.settings.get("directions") == 2
        if kind == "bandwidth" and both != (name == "bidirectional"):
            ways = "both directions at once" if both else "one direction"
            raise MissingValueError(
                f"{self.record.target}: {self.title} measured {ways}, which has no {name}"
            )
        row = getattr(self.record, kind)
        number = getattr(row, field) if row is not None else None
        if number is None:
            raise MissingValueError(f"{self.record.target}: {self.title} did not measure {name}")
        if row.iterations < SAMPLES.get(name, 0):
            raise MissingValueError(
                f"{self.record.target}: {LABELS[name]} needs at least {SAMPLES[name]:,} "
                f"iterations, this run had {row.iterations:,}: raise traffic.iterations"
            )
        metric = f"{self.record.tool}.{row.bytes}.{name}"
        label = f"{self.title}: {LABELS.get(name, name)}"
        return self._value(metric, label, number, unit, again=lambda other: getattr(other, name))

    def _reach(self, name: str) -> Value:
        if name not in REACH_STATISTICS:
            raise _unknown(self.record.tool, name, (*REACH_STATISTICS, "mtu"))
        metric = f"{reach.family(self.record)}.{name}"
        self.available(metric)
        number, detail = reach.statistic(self.record, name), reach.lines(self.record)
        label, unit = f"{self.title}: {reach.LABELS[name]}", REACH_STATISTICS[name]
        if reach.is_silent(self.record):
            return self._value(metric, label, number, unit, detail)
        again = lambda other: getattr(other, name)  # noqa: E731 - as for the other values
        return self._value(metric, label, number, unit, detail, again)

    def _tcp(self, name: str) -> Value:
        if name not in TCP_STATISTICS:
            raise _unknown(self.record.tool, name, (*TCP_STATISTICS, "growth"))
        metric = f"tcp.{name}"
        self.available(metric)
        self._refuse_doubts()
        number = tcp.statistic(self.record, name)
        detail = tcp.why(self.record, self.line_bps) if name == "throughput" else ()
        label, unit = f"{self.title}: {tcp.LABELS[name]}", TCP_STATISTICS[name]
        again = lambda other: getattr(other, name)  # noqa: E731 - as for the other values
        return self._value(metric, label, number, unit, detail, again)

    @property
    def mtu(self) -> Value:
        """Return the RDMA MTU that both ends agreed on, or that a full ping passed, in bytes."""
        self.available("link.mtu")
        if self.record.tool in PROBES:
            mtu, detail = reach.mtu(self.record), reach.lines(self.record)
            return self._value("link.mtu", f"{self.title}: RDMA MTU", mtu, "B", detail)
        if self.record.mtu is None:
            raise MissingValueError(f"{self.record.target}: {self.title} did not print its MTU")
        return self._value("link.mtu", f"{self.title}: MTU", self.record.mtu, "B")

    @property
    def class_share(self) -> Value:
        """Return the least share of the traffic that an end moved on the declared priority."""
        self.available("class.share")
        traffic = self.record.traffic
        if traffic is None or traffic.class_share is None:
            raise MissingValueError(
                f"{self.record.target}: the drivers have no byte counter per priority, so the "
                "traffic class cannot be told: add `class` to not_available of the profile"
            )
        detail = (f"{traffic.class_port} moved the least of it there",)
        label = f"{self.title}: share of payload in the declared class"
        return self._value("class.share", label, round(traffic.class_share, 4), "", detail)

    def growth(self, meaning: str) -> Value:
        """Return by how much the counters of a meaning grew during the run, at both ends."""
        if meaning not in MEANINGS:
            raise _unknown("growth", meaning, MEANINGS)
        self.available(f"{meaning}.growth")
        self._refuse_doubts()
        if meaning in self.record.counter_errors:
            raise CounterError(self.record.counter_errors[meaning])
        grown = [growth for growth in self.record.growth if growth.meaning == meaning]
        if self.routing in OVERTAKING and grown:
            grown = [growth for growth in grown if not overtakes(growth.name)]
            if not grown:
                raise CounterError(
                    f"{self.record.target}: with fabric.routing {self.routing} every counter of "
                    f"{meaning} also counts packets out of order: add `{meaning}` to "
                    "not_available of the profile"
                )
        if not grown:
            raise CounterError(f"{self.record.target}: no counter says {meaning}")
        return self._growth_value(meaning, grown)

    def _growth_value(self, meaning: str, grown: list[Growth]) -> Value:
        detail = tuple(str(growth) for growth in grown if growth.delta)
        total = sum(growth.delta for growth in grown)
        label = f"{self.title}: growth of {meaning}"
        again = (lambda other: other.growth(meaning)) if meaning in BY_LOAD else None
        return self._value(f"{meaning}.growth", label, total, "", detail, again)

    def _refuse_doubts(self) -> None:
        if self.record.doubts:
            message = f"{self.title}: {'; '.join(self.record.doubts)}"
            raise MeasurementError(self.record.target, "doubt", message)

    def _value(
        self,
        metric: str,
        label: str,
        number: float,
        unit: str,
        detail: tuple[str, ...] = (),
        again: Callable[[PairResult], Value] | None = None,
    ) -> Value:
        """Return a value; `again` reads it from a repetition, for what load can change."""
        self.ledger.reads.append(metric)
        value = Value(number, unit, metric, label, self.ledger, detail)
        if again is None:
            return value
        return replace(
            value,
            tolerant=self.tolerant,
            alone=None if self.alone is None else lambda: self._alone(again),
            peers=None if self.group is None else lambda: self._peers(value, again),
            baseline=None if self.past is None else lambda: self._baseline(value, again),
        )

    def _alone(self, again: Callable[[PairResult], Value]) -> tuple[Value, ...]:
        records = self.alone() if self.alone is not None else ()
        return tuple(
            again(replace(self, record=record, ledger=Ledger(), alone=None)) for record in records
        )

    def _peers(self, value: Value, again: Callable[[PairResult], Value]) -> tuple[float, str]:
        """Return the median of a value's peers. Raises MissingValueError."""
        assert self.group is not None
        group = self.group()
        sample = group.others(self.record.target, value.metric, self._reader(again))
        return sample.median, peers.told(sample, float(value), value.unit, group.kind)

    def _baseline(self, value: Value, again: Callable[[PairResult], Value]) -> tuple[float, str]:
        """Return the median of what earlier runs have of a value. Raises MissingValueError."""
        assert self.past is not None
        past, read = self.past(), self._reader(again)
        numbers, alone = baseline.numbers(self.record, value.metric, past, read)
        return median(numbers), baseline.told(numbers, alone, value.unit)

    def _reader(self, again: Callable[[PairResult], Value]) -> Callable[[Measurement], float]:
        """Return what reads the number of this kind of value from another measurement."""

        def read(record: Measurement) -> float:
            if record.error is not None:
                raise MeasurementError(record.target, record.error.kind, record.error.message)
            return float(again(PairResult(record, Ledger(), routing=self.routing)))

        return read
