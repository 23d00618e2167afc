"""What a comparison of runs says: where it must say something, and where it must not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from bench.compare import Lab, Noise, compared, median_of
from pytest_fabric.errors import ConfigError
from pytest_fabric.judge.compare.comparison import Comparison, Finding, compare
from pytest_fabric.judge.compare.run import Run
from pytest_fabric.judge.compare.student import quantile
from pytest_fabric.results import Failure, Measured, Measurement
from tests.judge.test_views import PORT  # a port as its node shows it
from tests.measure.test_replay import FACTS

from .runs import PAIRS, bandwidth, latency, of, run


def finding(found: Comparison, metric: str) -> Finding:
    (one,) = (one for one in found.findings if one.kind.metric == metric)
    return one


@pytest.mark.parametrize(
    ("freedom", "confidence", "t"),
    [(1, 0.95, 12.706), (2, 0.95, 4.303), (4, 0.95, 2.776), (4, 0.99, 4.604), (30, 0.95, 2.042)],
)
def test_students_quantiles_are_those_of_the_tables(
    freedom: int, confidence: float, t: float
) -> None:
    assert quantile(freedom, confidence) == pytest.approx(t, abs=5e-4)


@pytest.mark.parametrize(
    ("make", "metric", "usual", "factor", "verdict"),
    [
        (latency, "median", 4.0, 1.10, "worse"),
        (latency, "median", 4.0, 0.90, "better"),
        (latency, "median", 4.0, 1.02, "same"),
        (latency, "median", 1.0, 1.10, "same"),  # 0.1 us
        (latency, "P99", 4.0, 1.15, "same"),
        (latency, "P99", 4.0, 1.30, "worse"),
        (bandwidth, "average", 380.0, 0.95, "worse"),
        (bandwidth, "average", 380.0, 1.05, "better"),
        (bandwidth, "average", 380.0, 0.995, "same"),
    ],
)
def test_a_change_counts_when_it_is_sure_and_matters(
    make: Callable[[str, float], Measurement],
    metric: str,
    usual: float,
    factor: float,
    verdict: str,
) -> None:
    """2 % of bandwidth, 5 % or 0.15 us of a median, 20 % of a P99; more is worse for times only."""
    noise = 0.004
    before = [run(f"b{n}", 1.0, noise, make, usual) for n in range(3)]
    after = [run(f"a{n}", factor, noise, make, usual) for n in range(3)]
    effect = finding(compare(before, after), metric).effect

    assert effect.verdict == verdict
    assert effect.low is not None
    assert effect.high is not None
    assert effect.low < factor - 1 < effect.high


def test_of_a_hundred_seeded_comparisons_few_are_wrong() -> None:
    """A sample of what `python -m bench.compare` counts."""
    lab, noise = Lab(), Noise(0.05, 0.0)
    slower = dict.fromkeys(lab.pairs, 1.10)
    changed = [median_of(compared(lab, seed, 4, noise, slower)) for seed in range(20)]
    same = [median_of(compared(lab, 100 + seed, 4, noise, {})) for seed in range(20)]

    assert changed.count("worse") >= 18
    assert same.count("same") >= 19


def test_what_all_pairs_of_a_run_share_is_no_change() -> None:
    """A warmer day slows every pair of its run: pairs are no repetitions."""
    days = (0.9, 1.1, 1.0, 1.16)
    before = [run(f"b{day}", day, 0.001) for day in days]
    after = [run(f"a{day}", day * 1.06, 0.001) for day in days]

    assert finding(compare(before, after), "median").effect.verdict == "cannot tell"


def test_one_run_on_each_side_tells_nothing() -> None:
    found = compare([run("b")], [run("a", 2.0)])

    assert found.verdict == "cannot tell"
    assert found.notes[0].startswith("1 run on a side: give at least 3 of each")


@pytest.mark.parametrize(
    ("factors", "name"),
    [
        (of("gpu003:rail0", 1.12), "gpu003:rail0"),
        ({PAIRS[4]: 1.2}, PAIRS[4]),
        ({}, None),
    ],
)
def test_a_place_is_named_and_its_neighbours_are_not(
    factors: dict[str, float], name: str | None
) -> None:
    """One node among eight does not move them all; half of its neighbour's pairs are its own."""
    before = [run(f"b{n}") for n in range(3)]
    after = [run(f"a{n}", factors) for n in range(3)]
    found = compare(before, after)

    median = finding(found, "median")
    assert [place.name for place in median.places] == ([name] if name else [])
    assert found.verdict == ("worse" if name else "same")


def leaves(side: list[Run]) -> list[Run]:
    known = {f"gpu{n:03d}:rail0": f"leaf-{n % 2}" for n in range(1, 9)}
    return [replace(one, leaves=known, routing="ecmp") for one in side]


def test_across_leaves_under_ecmp_pairs_are_a_distribution() -> None:
    """The same values at other pairs are no change; a slower tenth is one."""
    turned = [dict(zip(PAIRS, PAIRS[n:] + PAIRS[:n], strict=True)) for n in range(6)]
    spread = {target: 380 - 20.0 * n for n, target in enumerate(PAIRS)}

    def made(name: str, way: int, slow: float = 1.0) -> Run:
        def make(target: str, noise: float) -> Measurement:
            value = spread[turned[way][target]]
            return bandwidth(target, value * noise * (slow if value < 300 else 1.0))

        return run(name, 1.0, 0.002, make, 1.0)

    before = leaves([made(f"b{n}", n) for n in range(3)])
    same = finding(compare(before, leaves([made(f"a{n}", n + 3) for n in range(3)])), "average")
    worse = finding(
        compare(before, leaves([made(f"c{n}", n + 3, 0.8) for n in range(3)])), "average"
    )

    assert same.worst_tenth is not None
    assert worse.worst_tenth is not None
    assert (same.effect.verdict, same.worst_tenth.verdict) == ("same", "same")
    assert worse.worst_tenth.verdict == "worse"
    assert worse.places == ()


def test_company_is_not_mixed() -> None:
    """What was alone before and under load after is left out."""
    before = [run(f"b{n}") for n in range(3)]
    after = [run(f"a{n}") for n in range(3)]
    alone = replace(after[0].measured[0].record, company=0)
    after[0] = replace(after[0], measured=(Measured(alone), *after[0].measured[1:]))
    found = compare(before, after)

    assert finding(found, "median").effect.pairs == len(PAIRS) - 1
    assert any("same company" in note for note in found.notes)


def test_what_can_no_longer_be_measured_is_worse() -> None:
    before = [run(f"b{n}") for n in range(3)]
    broken = [run(f"a{n}") for n in range(3)]
    error = Failure("hangs", f"{PAIRS[0]}: ib_write_lat: it hangs")
    after = [
        replace(
            one,
            measured=(
                Measured(replace(one.measured[0].record, latency=None, error=error)),
                *one.measured[1:],
            ),
        )
        for one in broken
    ]
    found = compare(before, after)

    assert found.verdict == "worse"
    assert found.lost == (f"{PAIRS[0]}: ib_write_lat: it hangs",)


def test_facts_that_changed_stand_beside_their_pairs() -> None:
    port = replace(PORT, firmware="28.39.1002", active_mtu=4096)
    newer = replace(port, firmware="28.43.2026", active_mtu=1024)

    def told(side: list[Run], now: object, names: frozenset[str]) -> list[Run]:
        facts = replace(FACTS, ports=(now,))  # type: ignore[arg-type]
        known = {"gpu001:rail0": f"gpu001 device {PORT.device}"}
        return [
            replace(one, facts={"gpu001": facts}, ports=known, counters={"gpu001:rail0": names})
            for one in side
        ]

    before = told([run(f"b{n}") for n in range(3)], port, frozenset({"x", "old"}))
    after = told(
        [run(f"a{n}", of("gpu001:rail0", 1.2)) for n in range(3)], newer, frozenset({"x", "new"})
    )
    found = compare(before, after)

    facts = [
        (one.fact.what, one.fact.before, one.fact.after, one.fact.targets) for one in found.facts
    ]
    assert facts == [
        ("MTU", "4096", "1024", ("gpu001:rail0",)),
        ("counter new", "absent", "there", ("gpu001:rail0",)),
        ("counter old", "there", "absent", ("gpu001:rail0",)),
        ("firmware", "28.39.1002", "28.43.2026", ("gpu001:rail0",)),
    ]
    theirs = {kind.metric: effect.verdict for kind, effect in found.facts[0].theirs}
    others = {kind.metric: effect.verdict for kind, effect in found.facts[0].others}
    assert theirs == {"median": "worse", "P99": "worse", "P99.9": "same"}
    assert others == {"median": "same", "P99": "same", "P99.9": "same"}


def unlike(one: Run, **settings: int) -> Run:
    records = [
        replace(
            m.record, key=f"{m.record.key} {settings}", settings={**m.record.settings, **settings}
        )
        for m in one.measured
    ]
    return replace(one, measured=[Measured(record) for record in records])


def test_unlike_runs_are_refused_with_the_reason() -> None:
    """Each in one line: settings of a tool, strategies, and the same measurements twice."""
    before, after = [run("b1"), run("b2")], [run("a1"), run("a2")]
    copied = replace(before[0], name="copy")
    cases = [
        (unlike(after[0], iterations=1000), "expected ib_write_lat: iterations 20000 as in b1, "),
        (unlike(after[0], size=8), "expected ib_write_lat: size 4 as in b1, found 8: the numbers"),
        (
            replace(after[0], setup={"cluster": "lab", "pairs.strategy": "cover"}),
            "expected pairs.strategy ring as in b1, found cover",
        ),
        (copied, "copy: expected runs that were measured apart, found measurements of b1: "),
    ]
    for other, message in cases:
        with pytest.raises(ConfigError) as caught:
            compare(before, [other, after[1]])
        assert message in str(caught.value)
        assert len(caught.value.lines) == 1
    with pytest.raises(ConfigError, match="expected pairs that every run has measured"):
        compare(before, [replace(after[0], measured=())])
