"""What tests read of a soak: of the link of a port, and of all bandwidths."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from pytest_fabric.errors import MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.soak import LEAST, Link, Soak, p1, span
from pytest_fabric.judge.values import Value
from pytest_fabric.judge.views import everything
from pytest_fabric.metrics import SOAK_METRICS
from pytest_fabric.results import Exposure
from pytest_fabric.units import render

#: A port whose median is below so much of the usual one is slow by itself, whoever its partner is.
SLOW = 0.9

#: So many ports are named in the detail of a value, the worst first.
NAMED = 4


@dataclass(frozen=True)
class SoakPort:
    """What a soak shows of a port's link.

    `result.flaps`, `uncorrectable`, `effective_ber`, `raw_ber`, `raw_ber_growth` and
    `temperature_drift`. Raises MissingValueError for what was not read, and for a port that was in
    no window.
    """

    target: str
    soak: Soak
    ledger: Ledger
    available: Callable[[str], None] = everything
    skip: Callable[[str], None] = lambda reason: None

    @property
    def flaps(self) -> Value:
        """Return how often the link went down since the first window."""
        return self._value("flaps", self._sum("flaps", "soak.flaps"))

    @property
    def uncorrectable(self) -> Value:
        """Return the blocks that FEC could not correct since the first window."""
        return self._value("uncorrectable", self._sum("lost", "soak.uncorrectable"))

    @property
    def effective_ber(self) -> Value:
        """Return the errors per bit that FEC left: each block that it could not correct is one."""
        lost, link = self._sum("lost", "soak.effective_ber"), self._link
        value = self._value("effective_ber", lost / link.bits)
        return replace(value, exposure=Exposure(link.seconds, link.bits / link.seconds))

    @property
    def raw_ber(self) -> Value:
        """Return the errors per bit before FEC, by what it corrected."""
        return self._value("raw_ber", self._sum("corrected", "soak.raw_ber") / self._link.bits)

    @property
    def raw_ber_growth(self) -> Value:
        """Return the bit error rate before FEC at the end, by that at the beginning.

        A rate that is too low to be seen counts as the lowest that could have been.
        """
        self._sum("corrected", "soak.raw_ber_growth")
        link = self._link
        parts = self._thirds("soak.raw_ber_growth")
        if any(math.isnan(count) for part in parts for count in link.corrected[part]):
            why = link.problems.get("corrected", "not all of it was read")
            raise MissingValueError(f"{self.target}: soak.raw_ber_growth: {why}")
        then, now = (
            max(sum(link.corrected[part]), 3.0) / sum(link.own_bits[part]) for part in parts
        )
        told = f"{then:.2g} at the beginning, {now:.2g} at the end"
        return self._value("raw_ber_growth", round(now / then, 3), told)

    @property
    def temperature_drift(self) -> Value:
        """Return by how many degrees the module is warmer at the end than once it was warm."""
        metric = "soak.temperature_drift"
        self.available(metric)
        link = self._link
        if "celsius" in link.inapplicable:
            self.skip(f"{self.target}: {metric}: {link.inapplicable['celsius']}")
        parts = [[c for c in link.celsius[part] if c == c] for part in self._thirds(metric)]
        if not all(parts):
            why = link.problems.get("celsius", "its module was not read")
            raise MissingValueError(f"{self.target}: {metric}: {why}")
        then, now = map(median, parts)
        told = f"{then:g} C once it was warm, {now:g} C at the end"
        return self._value("temperature_drift", round(now - then, 2), told)

    @property
    def _link(self) -> Link:
        link = self.soak.links.get(self.target)
        if link is None or link.bits <= 0:
            why = next(iter(link.problems.values()), "") if link is not None else ""
            why = why or next(iter(self.soak.missing), "it had no partner on its rail, or its leaf")
            raise MissingValueError(f"{self.target}: it was in no window of the soak: {why}")
        return link

    def _sum(self, name: str, metric: str) -> int:
        self.available(metric)
        link = self._link
        if name not in link.sums:
            why = link.problems.get(name, "it was not read")
            raise MissingValueError(f"{self.target}: {metric}: {why}")
        return link.sums[name]

    @property
    def _remedy(self) -> str:
        asked = self.soak.asked
        if asked is None:
            return "soak for longer"
        least = f"{LEAST * asked.window_s:g}s"
        return f"soak for {least} or longer (--fabric-soak {least}: {LEAST} windows of this length)"

    def _thirds(self, metric: str) -> tuple[slice, slice]:
        found = self._link.thirds()
        if found is None:
            raise MissingValueError(
                f"{self.target}: {metric}: expected {LEAST} windows or more, one of them after "
                f"another for beginning and end, found {self._link.windows}: {self._remedy}"
            )
        return found

    def _value(self, name: str, number: float, *told: str) -> Value:
        metric, link = f"soak.{name}", self._link
        self.ledger.reads.append(metric)
        over = f"in {span(link.seconds)} and {link.bits:.2g} bits of the link"
        hidden = link.problems.get(SOURCES[name])
        short = self.soak.short or (f"not all of it was read: {hidden}" if hidden else "")
        detail, label = (*told, over), f"soak: {LABELS[name]}"
        unit, ledger = SOAK_METRICS[metric], self.ledger
        return Value(float(number), unit, metric, label, ledger, detail, short=short)


@dataclass(frozen=True)
class SoakFabric:
    """What a soak shows of all bandwidths: `result.bandwidth_p1`."""

    soak: Soak
    ledger: Ledger
    available: Callable[[str], None] = everything

    @property
    def bandwidth_p1(self) -> Value:
        """Return the lowest P1 of a port and a direction, as a share of what its pairs can carry.

        Of all ports together it would hide one bad port among hundreds. Raises MissingValueError.
        """
        metric = "soak.bandwidth_p1"
        self.available(metric)
        if not self.soak.rates:
            why = next(iter(self.soak.missing), "no port has a partner")
            raise MissingValueError(f"fabric: {metric}: no window of the soak has a value: {why}")
        shares = self.soak.shares
        dark = next((end for end in shares if any(map(math.isnan, shares[end]))), None)
        if dark is not None:
            raise MissingValueError(
                f"{dark[0]}: {metric}: its profile needs link.speed and link.mtu"
            )
        # A slow port spoils one window of each of its partners, and all of its own.
        order = sorted(shares, key=lambda end: p1(shares[end]) + median(shares[end]))
        lowest = min(order, key=lambda end: (p1(shares[end]), order.index(end)))
        usual = median(map(median, shares.values()))
        slow = [end for end in order if median(shares[end]) < SLOW * usual]
        self.ledger.reads.append(metric)
        label = f"soak: P1 of bandwidth, the lowest of {len(shares):,} ports and directions"
        detail = tuple(self._told(end, shares[end]) for end in (slow or order)[:NAMED])
        number = round(p1(shares[lowest]), 4)
        return Value(number, "", metric, label, self.ledger, detail, short=self.soak.short)

    def _told(self, end: tuple[str, str], shares: Sequence[float]) -> str:
        rates = self.soak.rates[end]
        return (
            f"{end[0]} {end[1]} P1 {render(p1(rates), 'b/s')} ({p1(shares):.0%}), median "
            f"{render(median(rates), 'b/s')} in {len(rates):,} windows"
        )


#: The field of `Health` that a value is made of.
SOURCES: Mapping[str, str] = {
    "flaps": "flaps",
    "uncorrectable": "lost",
    "effective_ber": "lost",
    "raw_ber": "corrected",
    "raw_ber_growth": "corrected",
    "temperature_drift": "celsius",
}

LABELS = {
    "flaps": "the link went down",
    "uncorrectable": "blocks that FEC could not correct",
    "effective_ber": "bit error rate behind FEC",
    "raw_ber": "bit error rate before FEC",
    "raw_ber_growth": "bit error rate before FEC at the end, by that at the beginning",
    "temperature_drift": "the module got warmer once it was warm",
}
