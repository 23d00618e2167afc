"""Limits: the grammar of `<= 5 us`, `>= 97% of payload rate`, `within 3% of peers` and others."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_fabric import metrics
from pytest_fabric.config.kinds import read_quantity
from pytest_fabric.config.wording import expected, nearest, quoted
from pytest_fabric.units import Quantity

OPERATORS = ("<=", "<", ">=", ">", "==")

#: A limit of each base unit, for messages.
EXAMPLES = {
    "s": "<= 5 us",
    "b/s": ">= 97% of payload rate",
    "T/s": "== 32 GT/s",
    "B": "== 4096 B",
    "B/s": ">= 40 GB/s",
    "/s": ">= 1.5 M/s",
    "C": "<= 70 C",
    "dBm": ">= -8 dBm",
    "dB": "<= 2 dB",
    "": "== 0",
    "word": "== Ethernet",
}

RANGES = {
    "s": "1.5 us .. 3 us",
    "b/s": "380 Gb/s .. 400 Gb/s",
    "T/s": "16 GT/s .. 32 GT/s",
    "B": "1024 B .. 4096 B",
    "B/s": "40 GB/s .. 50 GB/s",
    "/s": "1 M/s .. 5 M/s",
    "C": "0 C .. 70 C",
    "dBm": "-8 dBm .. 4 dBm",
    "dB": "0 dB .. 2 dB",
    "": "0 .. 10",
}

#: No word that a node says is longer.
LONGEST_WORD = 80

#: Units of what tools measure: times are the better the less they are, rates the more.
MEASURED_UNITS = ("s", "b/s", "/s")

#: Bytes on the wire around the payload of one packet. RoCEv2: preamble and delimiter 8, Ethernet
#: 14, UDP 8, base transport header 12, invariant CRC 4, FCS 4, gap 12 (IEEE 802.3 clause 4;
#: InfiniBand Architecture volume 1, annex A17), and IPv4 20 (RFC 791, 3.1) or IPv6 40 (RFC 8200,
#: 3). RoCE version 1 has a global route header of 40 for IP and UDP (volume 1, 8.3 and annex A16).
#: InfiniBand: local route header 8, base transport header 12, invariant CRC 4, variant CRC 2
#: (volume 1, chapter 5). The RDMA header of a message's first packet is left out: it is one in
#: hundreds.
ROCE_BYTES = 62
UDP_BYTES = 8
IPV4_BYTES = 20
IPV6_BYTES = 40
GLOBAL_ROUTE_BYTES = 40
INFINIBAND_BYTES = 26


@dataclass(frozen=True)
class Absolute:
    """A bound that is a quantity: `<= 5 us`."""

    op: str
    quantity: Quantity

    def __str__(self) -> str:
        return f"{self.op} {self.quantity}"


@dataclass(frozen=True)
class Relative:
    """A bound that is a share of the declared `payload rate` or `line rate`."""

    op: str
    fraction: float
    of: str

    def __str__(self) -> str:
        return f"{self.op} {100 * self.fraction:g}% of {self.of}"


@dataclass(frozen=True)
class Range:
    """Two bounds, both allowed: `1.5 us .. 3 us`."""

    low: Quantity
    high: Quantity

    def __str__(self) -> str:
        return f"{self.low} .. {self.high}"


@dataclass(frozen=True)
class Word:
    """A word that the value must be: `== Ethernet`."""

    value: str

    def __str__(self) -> str:
        return f"== {self.value}"


@dataclass(frozen=True)
class Peers:
    """A bound that other pairs set: no worse than their median by more than a share of it."""

    fraction: float

    def __str__(self) -> str:
        return f"within {100 * self.fraction:g}% of peers"


@dataclass(frozen=True)
class Baseline:
    """A bound that earlier runs set, as a multiple of their median: `<= 1.1 x baseline`."""

    op: str
    factor: float

    def __str__(self) -> str:
        return f"{self.op} {self.factor:g} x baseline"


Clause = Absolute | Relative | Range | Word | Peers | Baseline


@dataclass(frozen=True)
class Limit:
    """What a profile expects of a metric: all clauses hold.

    `source` is `file:line`; `places` says it of each clause, where a list has several lines.
    """

    metric: str
    clauses: tuple[Clause, ...]
    text: str
    source: str
    profile: str
    places: tuple[str, ...] = ()

    def placed(self) -> tuple[tuple[Clause, str], ...]:
        """Return each clause with its place."""
        places = self.places or (self.source,) * len(self.clauses)
        return tuple(zip(self.clauses, places, strict=True))


def header_bytes(layer: str, ipv6: bool = False, version: int = 2) -> int:
    """Return the bytes around the payload of a packet; `version` is that of RoCE."""
    if layer != "Ethernet":
        return INFINIBAND_BYTES
    if version == 1:
        return ROCE_BYTES - UDP_BYTES + GLOBAL_ROUTE_BYTES
    return ROCE_BYTES + (IPV6_BYTES if ipv6 else IPV4_BYTES)


def payload_rate_bps(line_rate_bps: float, mtu: int, headers: int) -> float:
    """Return the rate, in bits per second, at which payload can cross a link of a line rate.

    `mtu` is the RDMA MTU in bytes (the payload of a full packet), `headers` what is around it.
    """
    return line_rate_bps * mtu / (mtu + headers)


def check_metric(metric: str) -> str:
    """Return the base unit of a metric. Raises ConfigError with the nearest known name."""
    unit = metrics.unit_of(metric)
    if unit is not None:
        return unit
    sized = re.fullmatch(r"(ib_\w+)\.([0-9]+)\.(\w+)", metric, re.A)
    plain = f"{sized[1]}.{sized[3]}" if sized else metric
    names = metrics.names()
    begun = next((name for name in names if name.startswith(f"{plain}.")), None)
    close = begun or nearest(plain, names) or "ib_write_lat.p99"
    if sized and close.startswith("ib_") and sized[2][0] != "0":
        close = close.replace(".", f".{sized[2]}.", 1)
    raise expected(f"a metric such as {quoted(close)}", metric)


def parse_limit(metric: str, value: object) -> Clause:
    """Return the clause that a text says about a metric. Raises ConfigError without a place."""
    unit = check_metric(metric)
    example = ">= 0.9" if metric == "class.share" else EXAMPLES[unit]
    wanted = f"a limit such as {quoted(example)}"
    if not isinstance(value, str):
        raise expected(wanted, value)
    text = value.strip()
    if re.search(r"\bpeers?\b|\bbaseline\b", text):
        return _compared(metric, text, unit, value)
    if ".." in text:
        return _range(text, unit, wanted)
    match = re.fullmatch(r"(<=|<|>=|>|==)\s*(\S.*)", text)
    if match is None:
        raise expected(wanted, value)
    op, bound = match.groups()
    if unit == "word":
        return _word(metric, op, bound, value)
    if "%" in bound:
        return _relative(op, bound, unit, wanted, value)
    return Absolute(op, read_quantity(bound, unit, wanted, value))


def _compared(metric: str, text: str, unit: str, value: str) -> Peers | Baseline:
    """Return a clause that compares with other measurements."""
    if unit not in MEASURED_UNITS or metric.partition(".")[0] not in metrics.TOOLS:
        why = "only times and rates that a tool measures are compared with others"
        raise expected(f"a limit such as {quoted(EXAMPLES[unit])}", value, why)
    number = r"([0-9]{1,3}(?:\.[0-9]{1,6})?)"
    peers = re.fullmatch(rf"within\s+{number}\s*%\s+of\s+peers", text, re.A)
    if peers is not None and 0 < float(peers[1]) < 100:
        return Peers(float(peers[1]) / 100)
    baseline = re.fullmatch(rf"(<=|<|>=|>)\s*{number}\s*x\s+baseline", text, re.A)
    example = "<= 1.10 x baseline" if unit == "s" else ">= 0.98 x baseline"
    if baseline is not None and float(baseline[2]) > 0:
        if baseline[1][0] != example[0]:
            bad = "a time may not grow" if unit == "s" else "a rate may not fall"
            raise expected(quoted(example), value, f"compared with a baseline, {bad}")
        return Baseline(baseline[1], float(baseline[2]))
    raise expected(f'"within 3% of peers" or {quoted(example)}', value)


def _range(text: str, unit: str, wanted: str) -> Range:
    if unit not in RANGES:
        raise expected(wanted, text)
    low, _, high = text.partition("..")
    wanted = f"a range such as {quoted(RANGES[unit])}"
    bounds = Range(*(read_quantity(bound, unit, wanted, text) for bound in (low, high)))
    if bounds.low.number > bounds.high.number:
        raise expected("a range from low to high", text)
    return bounds


def _word(metric: str, op: str, word: str, value: str) -> Word:
    if metric == "link.layer" and (op != "==" or word not in ("Ethernet", "InfiniBand")):
        raise expected('"== Ethernet" or "== InfiniBand"', value)
    if op != "==" or not word.isprintable() or len(word) > LONGEST_WORD:
        raise expected('a word such as "== performance"', value, "a word can only be equal")
    return Word(word)


def _relative(op: str, bound: str, unit: str, wanted: str, value: str) -> Relative:
    match = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*% of (payload|line) rate", bound)
    if unit != "b/s":
        raise expected(wanted, value, "a share of a rate is for the rates of bandwidth tools")
    if match is None or op == "==" or not 0 < float(match[1]) <= 200:
        raise expected(f'{wanted} or ">= 92% of line rate"', value)
    return Relative(op, float(match[1]) / 100, f"{match[2]} rate")
