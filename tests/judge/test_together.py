"""All pairs at once: hop classes against each other, leaf pairs, contention; never on nothing."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any, NoReturn

import pytest

from pytest_fabric.errors import MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.places_of_load import Loaded, gathered, tail
from pytest_fabric.judge.together import Path, TogetherResult
from pytest_fabric.results import Measured

from ..report.examples import LATENCY

KIND = "profile ours"
STEP_S = 0.8e-6
LEAVES = [f"leaf-{number}" for number in range(6)]


class Skipped(Exception):
    pass


def skip(reason: str) -> NoReturn:
    raise Skipped(reason)


def name(one: str, other: str) -> str:
    return f"a-{one}:r0..b-{other}:r0"


#: A pair on each leaf, and one between any two of them.
PATHS = {
    name(one, other): Path((one, other), KIND, STEP_S)
    for one, other in [*((leaf, leaf) for leaf in LEAVES), *combinations(LEAVES, 2)]
}


def us(value: float, company: int = 0) -> Measured:
    assert LATENCY.latency is not None
    row = replace(LATENCY.latency, median_s=value / 1e6)
    return Measured(replace(LATENCY, latency=row, company=company, beside=("x", "y")))


def usual(**slow: float) -> dict[str, Measured]:
    """Return 2 us on a leaf and 3 us across leaves, and more with leaves that are named."""
    found = {}
    for pair, path in PATHS.items():
        late = sum(slow.get(leaf.replace("-", "_"), 0.0) for leaf in path.leaves)
        found[pair] = us((3.0 if path.is_across else 2.0) + late * path.is_across)
    return found


def result(measured: dict[str, Measured], **more: Any) -> TogetherResult:  # noqa: ANN401
    known: dict[str, Any] = {"lost": {}, "paths": PATHS, "missed": frozenset(), **more}
    return TogetherResult("ib_write_lat", measured, ledger=Ledger(), skip=skip, **known)


def test_what_hops_explain_is_no_difference() -> None:
    value = result(usual()).unexplained

    assert value.number == pytest.approx(0.2e-6)
    assert "median across leaves 3 us, on a leaf 2 us" in value.detail[0]
    assert "two more switches explain 800 ns" in value.detail[0]


def test_paths_that_are_too_quick_are_not_explained_either() -> None:
    """Ports that are said to be on other leaves than they are make both classes alike."""
    measured = {pair: us(2.0) for pair in PATHS}

    assert result(measured).unexplained.number == pytest.approx(STEP_S)


def test_a_leaf_whose_pairs_are_slow_is_told_by_its_pairs() -> None:
    value = result(usual(leaf_2=0.5)).odd

    assert value.number == 5
    assert all("leaf-2" in line for line in value.detail)
    told = "a-leaf-0:r0..b-leaf-2:r0: leaf-0 - leaf-2 3.5 us, median 3 us of 15 (profile ours)"
    assert told in value.detail


def test_of_leaves_too_the_slow_one_stands_out() -> None:
    measured = {**usual(), name("leaf-4", "leaf-4"): us(2.6)}

    assert result(measured).odd.detail[0].startswith("a-leaf-4:r0..b-leaf-4:r0: leaf-4 2.6 us")


def test_a_healthy_fabric_has_no_odd_leaf_pair() -> None:
    assert result(usual()).odd.number == 0


def test_what_was_made_again_alone_counts_as_it_was_then() -> None:
    pair = name("leaf-0", "leaf-1")
    measured = {**usual(), pair: replace(us(9.0), alone=(us(3.0).record,))}

    assert result(measured).odd.number == 0


@pytest.mark.parametrize("value", ["unexplained", "odd"])
@pytest.mark.parametrize(
    "paths",
    [
        {},
        {pair: path for pair, path in PATHS.items() if "leaf-0" in path.name},
        {pair: replace(path, leaves=(pair, pair)) for pair, path in list(PATHS.items())[:5]},
    ],
)
def test_what_a_fabric_is_too_small_for_is_skipped_with_its_reason(
    value: str, paths: dict[str, Path]
) -> None:
    with pytest.raises(Skipped, match=r"expected .* found"):
        getattr(result(usual(), paths=paths), value)


@pytest.mark.parametrize("value", ["unexplained", "odd"])
def test_pairs_that_could_not_be_measured_are_no_healthy_ones(value: str) -> None:
    lost = dict.fromkeys(list(PATHS)[4:], "gpu001: unreachable")
    measured = {pair: one for pair, one in usual().items() if pair not in lost}

    with pytest.raises(MissingValueError, match=r"expected a value of .*: gpu001: unreachable"):
        getattr(result(measured, lost=lost), value)


def test_without_a_declared_switch_nobody_knows_what_hops_take() -> None:
    paths = {pair: replace(path, step_s=None) for pair, path in PATHS.items()}

    with pytest.raises(MissingValueError, match="expected `latency:"):
        assert result(usual(), paths=paths).unexplained


def test_profiles_are_not_compared_with_each_other() -> None:
    """Slower cards are no slower fabric; the larger difference of the kinds decides."""
    others = {f"z{pair}": replace(path, kind="other") for pair, path in PATHS.items()}
    measured = {**usual(), **{f"z{pair}": us(7.0 + PATHS[pair].is_across) for pair in PATHS}}

    assert result(measured, paths={**PATHS, **others}).unexplained.number == pytest.approx(0.2e-6)
    assert result(measured, paths={**PATHS, **others}).odd.number == 0


def test_pairs_that_only_load_made_miss_are_counted_and_told() -> None:
    measured = {pair: us(2.0, company=3) for pair in PATHS}
    missed = frozenset(list(PATHS)[:7])
    value = result(measured, missed=missed).contention_share

    assert value.number == pytest.approx(7 / 21, abs=1e-4)
    assert value.detail[0] == f"{name('leaf-0', 'leaf-0')} missed beside x and 1 more, held alone"


@pytest.mark.parametrize(("leaf", "found"), [(None, 0), ("leaf-0", 1)])
def test_ports_without_a_leaf_may_share_uplinks(leaf: str | None, found: int) -> None:
    """What ports of a node then miss at one moment is one event; on a leaf there are no uplinks."""
    bad = {f"bad:r{n}..peer{n}:r{n}": us(2.0, company=9) for n in range(4)}
    good = {f"a{n}:r0..b{n}:r0": us(2.0, company=9) for n in range(30)}
    paths = {} if leaf is None else dict.fromkeys((*bad, *good), Path((leaf, leaf), KIND, None))

    value = result({**bad, **good}, paths=paths, missed=frozenset(bad)).contention_places

    assert value.number == found


@pytest.mark.parametrize("value", ["contention_share", "contention_places"])
def test_where_nothing_ran_beside_another_no_contention_is_told(value: str) -> None:
    with pytest.raises(Skipped, match="nothing ran beside ib_write_lat"):
        getattr(result(usual()), value)
    with pytest.raises(MissingValueError, match="expected a value of a pair, found 0: gone"):
        getattr(result({}, lost={"a:r0..b:r0": "gone"}), value)


def loaded(node: str, count: int, missed: int, at_once: int = 1) -> list[Loaded]:
    """Return pairs of a place that take a second each; the first ones missed.

    So many are made at a time, through the uplinks of a leaf.
    """
    return [
        Loaded(
            f"{node}:r0..{node}peer{n}:r0",
            {node: "" if at_once == 1 else node, f"{node}peer{n}": ""},
            n < missed,
            *(n // at_once + n % at_once / 100, n // at_once + 0.9),
        )
        for n in range(count)
    ]


def test_contention_of_one_node_gathers_there() -> None:
    pairs = [*loaded("bad", 4, 4), *loaded("good", 30, 1)]
    found = gathered(pairs)

    assert [one.name for one in found] == ["bad"]
    assert (found[0].missed, found[0].count, found[0].elsewhere) == (4, 4, "1 of 30")


@pytest.mark.parametrize(
    "pairs",
    [
        [],
        loaded("all", 6, 6),
        [*loaded("one", 8, 4), *loaded("other", 40, 18)],
        [*loaded("few", 2, 2), *loaded("good", 30, 0)],
        [*loaded("once", 48, 5, at_once=8), *loaded("good", 208, 0, at_once=8)],
        [*loaded("twice", 48, 16, at_once=8), *loaded("good", 208, 0, at_once=8)],
    ],
)
def test_chance_gathers_nowhere(pairs: list[Loaded]) -> None:
    """Where it is everywhere alike, no place is to blame; two pairs of a place say nothing.

    Flows that meet by chance on an uplink miss together: they are one event, however many.
    """
    assert gathered(pairs) == []


@pytest.mark.parametrize(
    ("least", "count", "rate", "chance"),
    [
        (1, 1, 0.25, 0.25),
        (2, 3, 0.5, 0.5),
        (0, 7, 0.1, 1.0),
        (3, 9, 1.0, 1.0),
        (1, 5000, 1e-4, 1 - (1 - 1e-4) ** 5000),
    ],
)
def test_the_chance_of_so_many_events(least: int, count: int, rate: float, chance: float) -> None:
    """Meshes of thousands of pairs have it, too."""
    assert tail(least, count, rate) == pytest.approx(chance)


def test_contention_at_many_moments_gathers() -> None:
    """A few pairs at each of them, and none elsewhere."""
    spread = [
        replace(one, is_missed=number % 8 < 2) for number, one in enumerate(loaded("up", 48, 0, 8))
    ]

    found = gathered([*spread, *loaded("good", 208, 0, at_once=8)])

    assert [(one.name, one.missed) for one in found] == [("up", 12)]


def test_an_unknown_name_is_told_what_there_is() -> None:
    with pytest.raises(MissingValueError, match="it has unexplained, odd, contention_share"):
        assert result(usual()).bandwidth
