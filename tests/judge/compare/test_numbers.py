"""Every measured value is compared, in its own direction, and with its own smallest effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from pytest_fabric.judge.compare import numbers
from pytest_fabric.judge.compare.comparison import Comparison, compare
from pytest_fabric.judge.compare.run import Run
from pytest_fabric.judge.compare.tallies import Tally
from pytest_fabric.report.comparison import lines
from pytest_fabric.report.comparison_html import document, page
from pytest_fabric.results import (
    Bandwidth,
    Fact,
    Growth,
    Measured,
    Measurement,
    Member,
    Reach,
    Reading,
    Tcp,
)

from .runs import PAIRS, latency, of, run

PORT = "gpu003:rail0"


def sized(target: str, value: float) -> Measurement:
    """Return messages of 8 bytes, so many million a second."""
    row = Bandwidth(8, 9, None, value * 64e6, value * 1e6)
    return replace(latency(target, 1), tool="ib_write_bw", key="8", latency=None, bandwidth=row)


def tail(target: str, value: float) -> Measurement:
    found = latency(target, 4)
    assert found.latency is not None
    return replace(found, latency=replace(found.latency, p999_s=value * 1e-6))


def ping(target: str, value: float) -> Measurement:
    ends = target.split("..")
    times = [value / 1e6, value / 2e6]
    reach = tuple(
        Reach(end, 84, 3000, 3000, 0, 0, None, time, None, None)
        for end, time in zip(ends, times, strict=True)
    )
    return replace(latency(target, 1), tool="ping", key="ping", latency=None, reach=reach)


def tcp(target: str, value: float, fairness: float = 1.0, resent: int = 0) -> Measurement:
    row = Tcp(
        *("3.16", 4, 5.0, value * 1e9, value * 1e9, resent, 1460, fairness),
        *(None, 100e-6, None, None, None, None, None),
    )
    return replace(latency(target, 1), tool="iperf3", key="iperf3", latency=None, tcp=row)


def shared(target: str, value: float) -> Measurement:
    return tcp(target, 100.0, fairness=value)


def group(target: str, value: float) -> Measurement:
    """Return what all ports of a node reach at once, of which one is slower."""
    members = tuple(
        Member(pair, Bandwidth(1 << 20, 9, None, value * share * 1e9, 1e3), 4096, 0.0, 1.0)
        for pair, share in zip(PAIRS[:2], (1.0, 0.9), strict=True)
    )
    node = target.partition(":")[0]
    return replace(
        *(latency(node, 1),), tool="node_bandwidth", key="node", latency=None, members=members
    )


CASES = {
    "message rate": (sized, 5.0, 0.9, "worse"),
    "P99.9": (tail, 20.0, 1.5, "worse"),
    "round trip": (ping, 100.0, 1.5, "worse"),
    "throughput": (tcp, 100.0, 0.9, "worse"),
    "fairness": (shared, 0.9, 0.8, "worse"),
    "bandwidth": (group, 390.0, 1.05, "better"),
}


@pytest.mark.parametrize("metric", CASES)
def test_a_measured_value_is_compared_in_its_direction(metric: str) -> None:
    """What matters is found, and half of it is not."""
    make, usual, factor, verdict = CASES[metric]
    matters = numbers.MATTERS[metric]
    small = 1 + matters / 2 * (1 if factor > 1 else -1)
    found = {
        name: compare(
            [run(f"b{n}", 1.0, 0.002, make, usual) for n in range(3)],
            [run(f"a{n}", factor, 0.002, make, usual) for n in range(3)],
        )
        for name, factor in (("changed", factor), ("small", small))
    }

    effects = {
        name: next(one.effect for one in made.findings if one.kind.metric == metric)
        for name, made in found.items()
    }
    assert effects["changed"].verdict == verdict
    assert effects["small"].verdict == "same"
    assert found["changed"].verdict == verdict


def test_a_ping_counts_by_its_slower_direction_and_a_silent_one_has_no_round_trip() -> None:
    known = ping(PAIRS[0], 100.0)
    silent = replace(known, reach=(replace(known.reach[0], rtt_median_s=None), known.reach[1]))

    assert [one.value for one in numbers.of(known)] == [pytest.approx(1e-4)]
    assert list(numbers.of(silent)) == []


def with_fact(one: Run, name: str, value: float, topic: str, target: str = "fabric") -> Run:
    reading = Reading("gpu001", topic, {target: {name: Fact(value)}})
    return replace(one, readings={(topic, "gpu001"): reading})


def test_bus_bandwidth_is_a_number_and_no_fact_that_changed() -> None:
    before = [with_fact(run(f"b{n}"), "collective.busbw", 3.9e11 + n, "collective") for n in (1, 2)]
    after = [with_fact(run(f"a{n}"), "collective.busbw", 3.1e11 + n, "collective") for n in (1, 2)]
    found = compare(before, after)

    (bus,) = (one for one in found.findings if one.kind.metric == "bus bandwidth")
    assert (str(bus.kind), bus.effect.verdict) == ("collective bus bandwidth, alone", "worse")
    assert any(row.endswith("-> 310 GB/s, 1 target") for row in lines(found))
    assert found.facts == ()


def grown(one: Run, counts: Mapping[str, int], meaning: str = "pause") -> Run:
    """Return a run whose first measurement saw counters of ports grow."""
    first, *rest = one.measured
    growth = tuple(Growth(port, f"tx_{meaning}", meaning, n) for port, n in counts.items())
    return replace(one, measured=(Measured(replace(first.record, growth=growth)), *rest))


def counted(before: list[int], after: list[int], **changes: object) -> Comparison:
    sides = [
        [
            replace(grown(run(f"{name}{n}"), {PORT: count}), **changes)  # type: ignore[arg-type]
            for n, count in enumerate(counts)
        ]
        for name, counts in (("b", before), ("a", after))
    ]
    return compare(*sides)


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ([0, 0], [0, 0], None),
        ([0, 0], [18_422, 9_000], "worse"),
        ([18_422, 9_000], [0, 0], "better"),
        ([0, 0], [0, 7], "cannot tell"),
        ([0], [18_422], "cannot tell"),
        ([5, 6, 7], [8, 9, 10], "cannot tell"),
        ([5, 6, 7, 8], [9, 10, 11, 12], "worse"),
        ([5, 6, 7, 8], [8, 10, 11, 12], "cannot tell"),
        ([9, 9, 9, 9], [9, 9, 9, 9], None),
    ],
)
def test_what_grows_is_told_when_chance_would_not_sort_it_so(
    before: list[int], after: list[int], verdict: str | None
) -> None:
    """From nothing to something in two runs each, or apart in four: less is not told."""
    found = counted(before, after)

    assert [one.verdict for one in found.counts] == ([verdict] if verdict else [])
    told = [row for row in lines(found) if "growth of pause" in row]
    assert len(told) == (1 if verdict else 0)
    if verdict in ("worse", "better"):
        assert found.verdict == verdict
        assert PORT in told[0]
        assert "no fact of it has changed" in told[0]


def test_where_packets_may_overtake_each_other_nobody_counts_that() -> None:
    sides = [
        [
            replace(grown(run(f"{name}{n}"), {PORT: count}, "out_of_sequence"), routing="spray")
            for n in range(2)
        ]
        for name, count in (("b", 0), ("a", 9))
    ]

    assert compare(*sides).counts == ()


def test_losses_and_segments_sent_again_count_from_a_thousandth_on() -> None:
    lossy = replace(ping(PAIRS[0], 100.0))
    lost = replace(lossy, reach=(replace(lossy.reach[0], received=2900), lossy.reach[1]))

    def side(name: str, first: Measurement, resent: int) -> list[Run]:
        return [
            replace(
                run(f"{name}{n}"),
                measured=[
                    Measured(replace(one, started=float(10 * n + place + (name == "a") * 5)))
                    for place, one in enumerate((first, tcp(PAIRS[1], 1.0, resent=resent)))
                ],
            )
            for n in range(2)
        ]

    worse = compare(side("b", lossy, 0), side("a", lost, 50_000)).counts
    small = compare(side("b", lossy, 0), side("a", lossy, 100)).counts
    assert [(one.what, one.target, one.verdict) for one in worse] == [
        ("packets lost", PAIRS[0], "worse"),
        ("segments sent again", PAIRS[1], "worse"),
    ]
    assert small == ()


def test_what_no_tool_prints_is_left_out() -> None:
    """A run directory that somebody edited is no traceback."""
    odd = replace(ping(PAIRS[0], 100.0), reach=(replace(ping(PAIRS[0], 1.0).reach[0], sent=0),))
    wrong = replace(tcp(PAIRS[1], float("inf")), started=5.0)
    assert wrong.tcp is not None
    wrong = replace(wrong, tcp=replace(wrong.tcp, mss_bytes=0, retransmits=1))
    runs = [
        replace(
            run(name),
            measured=[Measured(replace(one, started=float(n))) for one in (odd, wrong)]
            + list(run(name).measured),
        )
        for n, name in enumerate(("b1", "b2", "a1", "a2"))
    ]
    runs = [with_fact(one, "switch.queue_drops", float("nan"), "switch_window") for one in runs]
    found = compare(runs[:2], runs[2:])

    assert found.counts == ()
    assert {one.kind.tool for one in found.findings} == {"ib_write_lat", "ping", "iperf3"}


def test_counts_of_a_switch_are_no_facts_that_changed() -> None:
    name, topic = "switch.queue_drops", "switch_window"
    before = [with_fact(run(f"b{n}"), name, 0, topic, PORT) for n in (1, 2)]
    after = [with_fact(run(f"a{n}"), name, 500, topic, PORT) for n in (1, 2)]
    found = compare(before, after)

    assert [(one.what, one.verdict) for one in found.counts] == [(name, "worse")]
    assert found.facts == ()


def test_a_group_that_congests_on_purpose_counts_nothing() -> None:
    """What grows in an incast is the reaction that is wanted."""
    incast = replace(group(PAIRS[0], 390.0), growth=(Growth(PORT, "tx_pause", "pause", 99),))
    runs = [
        replace(run(name), measured=[Measured(replace(incast, started=float(n)))])
        for n, name in enumerate(("b1", "b2", "a1", "a2"))
    ]

    assert compare(runs[:2], runs[2:]).counts == ()


def test_the_document_and_the_page_have_the_counts() -> None:
    found = counted([0, 0], [18_422, 9_000])

    assert document(found)["counts"] == [
        {
            "what": "growth of pause",
            "target": PORT,
            "verdict": "worse",
            "before": [0.0, 0.0],
            "after": [18_422.0, 9_000.0],
        }
    ]
    assert "18,422, 9,000" in page(found)


def test_a_change_of_a_port_stands_beside_its_counter() -> None:
    """A worse median alone, and a counter that grew, are two lines of one place."""
    before = [grown(run(f"b{n}"), {PORT: 0}) for n in range(3)]
    after = [grown(run(f"a{n}", of(PORT, 1.2)), {PORT: 9}) for n in range(3)]

    text = "\n".join(lines(compare(before, after)))
    assert f"\n  {PORT}  (no fact of it has changed)  " in text
    assert f"worse        growth of pause  {PORT}  0 -> 9 in a run" in text


def test_a_tally_says_its_smallest_difference() -> None:
    assert Tally("packets lost", PAIRS[0], (0.0,), (0.5,)).least == 0.001
    assert Tally("growth of pause", PORT, (0.0,), (0.5,)).least == 1
