"""Verdicts on pairs, sorted by what they measured: what the pictures are drawn of."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pytest_fabric.errors import UnitError
from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.places import is_pair, ports_of
from pytest_fabric.results import Verdict
from pytest_fabric.units import parse, render

#: Units that are drawn, with the one that a picture shows and its factor.
SHOWN = {"s": ("us", 1e6), "b/s": ("Gb/s", 1e-9)}

#: How people write the statistics.
WORDS = {"p99": "P99", "p999": "P99.9", "rtt_median": "median round trip", "rtt": "round trip"}

_NUMBER = re.compile(r"(<=|>=|<|>) ([0-9.]+ [A-Za-z/]+)")
_PAYLOAD = re.compile(r"payload rate ([0-9.]+ [A-Za-z]+/s)")


@dataclass(frozen=True)
class Series:
    """One metric over pairs; `verdicts` without a value could not be told."""

    metric: str
    unit: str
    verdicts: tuple[Verdict, ...]

    @property
    def title(self) -> str:
        """Return the metric as people write it: `ib_write_lat 4 B P99`."""
        words = [_word(word) for word in self.metric.split(".")]
        return " ".join(words)

    @property
    def valued(self) -> list[tuple[Verdict, float]]:
        """Return the verdicts that have a value, with it, in the base unit."""
        return [
            (v, float(v.value)) for v in self.verdicts if isinstance(v.value, (int, float))
        ]  # fmt: skip

    @property
    def is_worse_high(self) -> bool:
        """Return whether a higher value is worse: times are, rates are not."""
        return self.unit == "s"

    @property
    def limits(self) -> list[tuple[str, float]]:
        """Return the limits that were judged by, as text and in the base unit."""
        texts = dict.fromkeys(v.limit for v in self.verdicts if v.limit)
        found = [match for text in texts for match in _NUMBER.finditer(clean_line(text))]
        return _numbers({f"limit {m[1]} {m[2]}": m[2] for m in found}, self.unit)

    @property
    def payload(self) -> list[tuple[str, float]]:
        """Return the payload rates that limits refer to, of both directions where both count."""
        texts = dict.fromkeys(v.limit for v in self.verdicts if v.limit)
        found = [match[1] for text in texts for match in _PAYLOAD.finditer(clean_line(text))]
        rates = _numbers({f"payload rate {rate}": rate for rate in found}, self.unit)
        if not self.metric.endswith(".bidirectional"):
            return rates
        return [(f"twice the {label}", 2 * rate) for label, rate in rates]


def series(verdicts: Iterable[Verdict]) -> list[Series]:
    """Return the series of all pairs, those of RDMA first.

    An error has no metric: it belongs to what its check measured elsewhere, when that is one thing.
    """
    paired = [v for v in verdicts if is_pair(v.target) and len(ports_of(v.target)) == 2]
    metrics: dict[str, set[str]] = defaultdict(set)
    units: dict[str, str] = {}
    for v in paired:
        if v.metric and v.unit in SHOWN:
            metrics[v.check].add(v.metric)
            units.setdefault(v.metric, v.unit)
    groups: dict[str, list[Verdict]] = {metric: [] for metric in units}
    for v in paired:
        known = {v.metric} if v.metric else metrics[v.check]
        if len(known) == 1 and (metric := next(iter(known))) in groups and v.outcome != "skipped":
            groups[metric].append(v)
    # What RDMA reaches comes first: the rest says why it may not.
    order = sorted(groups, key=lambda metric: not metric.startswith("ib_"))
    return [Series(metric, units[metric], tuple(groups[metric])) for metric in order]


def hop_class(target: str, leaves: Mapping[str, str]) -> str:
    """Return how far apart the ends of a pair are, as far as it is declared."""
    ends = [leaves.get(port) for port in target.split("..")]
    if None in ends:
        return "leaf not declared"
    return "same leaf" if len(set(ends)) == 1 else "across leaves"


def _word(word: str) -> str:
    return render(int(word), "B") if word.isdecimal() else WORDS.get(word, word)


def _numbers(texts: Mapping[str, str], unit: str) -> list[tuple[str, float]]:
    found = []
    for label, text in texts.items():
        try:
            found.append((label, parse(text, unit).number))
        except UnitError:  # a limit of another kind stands in the tables, as text
            continue
    return found
