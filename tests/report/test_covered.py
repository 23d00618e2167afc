"""One coverage and one verdict: what the terminal says, the pages to sign do not deny."""

from __future__ import annotations

import re

import pytest

from pytest_fabric.report import summary
from pytest_fabric.report.concluded import conclusion
from pytest_fabric.report.covered import KINDS, Coverage, coverage
from pytest_fabric.report.planned import OUTCOMES
from pytest_fabric.report.sections.markup import SIGNS
from pytest_fabric.report.signoff.sheet import NOT_READY, sheets
from pytest_fabric.results import Verdict

from .examples import verdict
from .fabric import PAIRS, PORTS, about, judged, record, with_these


def found(declared: list[str], verdicts: list[Verdict]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ports that were measured, and those that were not."""
    seen = coverage(declared, verdicts)
    return seen.measured, seen.missing


def test_coverage_counts_only_ports_with_a_value() -> None:
    """Skipped, erroneous and missing checks measured nothing; a pair measures both its ports."""
    declared = ["c:r0", "d:r0", "e:r0", "f:r0"]
    seen = [
        verdict("c:r0", "skipped"),
        verdict("d:r0", "error"),
        verdict("e:r0"),
        verdict("f"),
    ]

    assert found(declared, seen) == (("e:r0",), ("c:r0", "d:r0", "f:r0"))
    pair = [verdict("c:r0..d:r0", "failed")]
    assert found(declared, pair) == (("c:r0", "d:r0"), ("e:r0", "f:r0"))


def test_coverage_is_never_rounded_up_to_all() -> None:
    """One port of ten thousand that nobody measured shows."""
    declared = [f"gpu{n}:r0" for n in range(10_000)]
    shown = summary.lines(summary.Run([], with_link(declared[1:]), declared, {}))

    assert shown[1] == (
        "ports: 9,999 of 10,000 measured (99.9%), without a check of latency, bandwidth; "
        "not measured: gpu0:r0"
    )


def with_link(ports: list[str]) -> list[Verdict]:
    """Return a verdict on the link of each port."""
    return [judged(port, "link.speed") for port in ports]


def test_a_port_in_no_pair_is_not_measured_when_pairs_are() -> None:
    """Its facts passed, and nobody has sent a byte over it."""
    seen = [verdict("a:r0"), verdict("b:r0"), verdict("c:r3"), verdict("a:r0..b:r0")]

    assert found(["a:r0", "b:r0", "c:r3"], seen) == (("a:r0", "b:r0"), ("c:r3",))


def test_a_port_without_bandwidth_is_not_measured_when_others_have_it() -> None:
    """Its latency is no word about its bandwidth."""
    lat, bw = "ib_write_lat.4.p99", "ib_write_bw.1048576.average"
    seen = [judged("a:r0..b:r0", lat), judged("c:r0..a:r0", lat), judged("a:r0..b:r0", bw)]

    assert found(["a:r0", "b:r0", "c:r0"], seen) == (("a:r0", "b:r0"), ("c:r0",))


@pytest.mark.parametrize(
    ("verdicts", "unasked"),
    [
        ([], KINDS),
        ([judged(PORTS[0], "link.speed")], ("latency", "bandwidth")),
        ([judged(PAIRS[0], "ib_write_lat.4.p99")], ("link", "bandwidth")),
        ([judged(PAIRS[0], "ib_write_lat.4.p99", "skipped")], KINDS),
        ([judged(PAIRS[0], "ib_write_bw.1048576.average", "error")], ()),
        (with_these(), ()),
    ],
    ids=["nothing", "link alone", "latency alone", "skipped", "an error of a pair", "everything"],
)
def test_what_was_not_asked_for_is_said(verdicts: list[Verdict], unasked: tuple[str, ...]) -> None:
    """A pair that is an error has been asked for something."""
    assert coverage(list(PORTS), verdicts).unasked == unasked


RUNS = {
    "everything": with_these(),
    "with a waiver": with_these(judged(PAIRS[0], "ib_write_lat.4.p99", "waived")),
    "a failure": with_these(judged(PAIRS[0], "ib_write_lat.4.p99", "failed")),
    "an error": with_these(judged(PORTS[1], "link.speed", "error")),
    "links alone": with_link(list(PORTS)),
    "a soak alone": [judged(port, "soak.flaps", layer="soak") for port in PORTS],
    "pairs alone": [v for v in with_these() if ".." in v.target],
    "all but one limit": [v for v in with_these() if v.metric != "link.raw_ber"],
    "one port too few": [v for v in with_these() if PORTS[0] not in v.target],
    "skipped": [judged(port, "link.speed", "skipped") for port in PORTS],
    "nothing": [],
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_fit_only_where_each_leaf_is_ready(name: str) -> None:
    """Nobody reads "Fit" above a page that says NOT READY."""
    made = record(RUNS[name])
    is_ready = all(sheet.conclusion != NOT_READY for sheet in sheets(made))

    assert (conclusion(made)[0] == "passed") is is_ready
    assert is_ready is (name in ("everything", "with a waiver"))


@pytest.mark.parametrize("name", RUNS)
def test_all_reports_count_the_same_ports(name: str) -> None:
    """The terminal has the sum of what the pages to sign have."""
    made = record(RUNS[name])
    line = next(one for one in summary.lines(made.run) if one.startswith("ports: "))
    measured = sum(len(sheet.coverage.measured) for sheet in sheets(made))

    assert line.startswith(f"ports: {measured} of {len(PORTS)} measured")
    for sheet in sheets(made):
        assert sheet.coverage.unasked == made.coverage.unasked


def test_a_partial_run_says_what_it_has_not_shown() -> None:
    state, said = conclusion(record(RUNS["a soak alone"]))

    assert state == "partial"
    assert said == (
        "Not all was shown: 5 checks hold; link not measured, latency not measured, "
        "bandwidth not measured and 2 more"
    )


def test_a_run_that_goes_on_is_not_fit() -> None:
    """Its last check may fail."""
    assert conclusion(record(with_these(), of=about(ended=None)))[0] == "partial"


def test_every_state_has_a_sign() -> None:
    """A word that is no state is shown as an error."""
    assert {*OUTCOMES, "partial"} <= set(SIGNS)


def test_words_of_a_coverage() -> None:
    assert Coverage(("a:r0",), ("b:r0",)).in_words == "1 of 2 measured (50%)"
    assert re.search(r"\(100%\), without a check of link", Coverage(("a",), (), ("link",)).in_words)
