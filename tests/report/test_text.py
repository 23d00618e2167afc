"""What a failure tells people."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fabric.report import text
from pytest_fabric.report.evidence import details
from pytest_fabric.results import Growth, Measurement, Verdict

from .examples import BANDWIDTH, BROKEN, HOSTILE, LATENCY, verdict

DATA = Path(__file__).parent / "data"

FAILURES = {
    "latency": (LATENCY, "ib_write_lat 4 B: P99", "18 us", "<= 5 us"),
    "bandwidth": (BANDWIDTH, "ib_write_bw 1 MiB: average", "392 Gb/s", ">= 97% of payload rate"),
    "no_value": (BROKEN, "could not be measured", "", ""),
}


@pytest.mark.parametrize("case", FAILURES)
def test_failure_reads_as_agreed(case: str) -> None:
    """Subject, value, limit and its line first; then only details that have content."""
    measurement, what, value, limit = FAILURES[case]
    source = "cluster.yaml:41, profile cx7-400g-roce" if limit else ""
    facts = [("facts", "gpu002:rail0 PCIe 32 GT/s x8, declared x16"), ("pattern", " \n")]

    shown = text.failure(
        measurement.target, what, value, limit, source, facts + details(measurement)
    )

    assert shown + "\n" == (DATA / f"failure_{case}.txt").read_text()


def test_hostile_text_cannot_break_the_lines() -> None:
    """A node's text stays on its own line and reaches no terminal as a command."""
    shown = text.failure("a\nb", HOSTILE, "1\x1b[0m", "<= 2", "x:1", [("la\nbel", HOSTILE)])

    assert len(shown.split("\n")) == 2
    assert not set(shown) & set("\x1b\x00\x9b\ud800\ufffe")


def test_lines_of_a_detail_are_aligned() -> None:
    """Further lines stand under the first one, and a repeated label is written once."""
    shown = text.failure("s", "w", "v", "", "", [("facts", "one\n\ntwo"), ("facts", "three")])

    assert shown.split("\n") == [
        "s  w v",
        "  facts     one",
        "            two",
        "            three",
    ]


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (18e-6, "s", "18 us"),
        (392e9, "b/s", "392 Gb/s"),
        (18422.0, "", "18,422"),
        (18422.0, None, "18,422"),
        ("InfiniBand", "word", "InfiniBand"),
        (math.inf, "", "inf"),
        (None, None, ""),
    ],
)
def test_values_read_as_people_write_them(
    value: float | str | None, unit: str | None, expected: str
) -> None:
    """Every value that a verdict can hold has a text, even an infinite one."""
    assert text.value(replace(verdict("a"), value=value, unit=unit)) == expected


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (verdict("a"), "<= 5 us (cluster.yaml:41)"),
        (replace(verdict("a"), limit_source=None), "<= 5 us"),
        (verdict("a", limit=None), ""),
    ],
)
def test_limits_say_where_they_stand(shown: Verdict, expected: str) -> None:
    """A limit without a known place has no empty parentheses."""
    assert text.limit(shown) == expected


def _beside(measurement: Measurement) -> str:
    return "\n".join(found for label, found in details(measurement) if label == "beside")


def test_only_telling_counters_are_named_and_the_rest_is_counted() -> None:
    """Bytes always grow and say nothing; a flood of counters stays readable."""
    many = tuple(Growth("a:r0", f"rx_discards_{n}", "discards", n, "rx") for n in range(9))
    shown = _beside(replace(BROKEN, growth=(*many, Growth("a:r0", "rx_bytes", "bytes", 5))))

    assert shown.split("\n") == [
        "a:r0 rx_discards_8 +8 (discards)",
        "a:r0 rx_discards_7 +7 (discards)",
        "a:r0 rx_discards_6 +6 (discards)",
        "a:r0 rx_discards_5 +5 (discards)",
        "and 4 more counters grew",
        "",
    ]


def test_who_sends_pause_is_slow_and_who_receives_it_waits() -> None:
    """The direction of a pause frame decides whom it accuses."""
    sent = Growth("a:r0", "tx_prio3_pause", "pause", 5, "tx", 3)
    got = Growth("b:r0", "rx_pause_ctrl_phy", "pause", 4, "rx")

    assert _beside(replace(BROKEN, growth=(sent, got))).strip().split("\n") == [
        "a:r0 sent 5 pause frames on priority 3 (tx_prio3_pause): its receive side is slow",
        "b:r0 received 4 pause frames (rx_pause_ctrl_phy): its peer or the switch makes it wait",
    ]
