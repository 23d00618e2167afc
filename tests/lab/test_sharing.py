"""Links are shared fairly: max-min, over any links and any streams."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.lab.sharing import Stream, max_min

ENOUGH = 1e-6

capacities = st.dictionaries(
    st.integers(0, 7), st.floats(0.1, 1000, allow_nan=False), min_size=1, max_size=8
)


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Stream[int]], dict[int, float]]:
    links = draw(capacities)
    uses = st.lists(
        st.tuples(st.sampled_from(sorted(links)), st.floats(0.1, 2)),
        min_size=1,
        max_size=4,
        unique_by=lambda use: use[0],
    )
    streams = st.builds(
        lambda use, weight: Stream(tuple(use), float(weight)), uses, st.integers(1, 16)
    )
    return draw(st.lists(streams, min_size=1, max_size=12)), links


def load(streams: list[Stream[int]], rates: list[float], link: int) -> float:
    return sum(
        rate * part
        for stream, rate in zip(streams, rates, strict=True)
        for name, part in stream.uses
        if name == link
    )


@given(problems())
def test_no_link_carries_more_than_it_can(
    problem: tuple[list[Stream[int]], dict[int, float]],
) -> None:
    streams, links = problem

    rates = max_min(streams, links)

    assert all(rate > 0 for rate in rates)
    assert all(load(streams, rates, link) <= links[link] * (1 + ENOUGH) for link in links)


@given(problems())
def test_every_stream_has_a_full_link_where_nobody_has_more(
    problem: tuple[list[Stream[int]], dict[int, float]],
) -> None:
    """That is max-min fairness, and nothing is left that somebody could use."""
    streams, links = problem

    rates = max_min(streams, links)

    levels = [rate / stream.weight for stream, rate in zip(streams, rates, strict=True)]
    for stream, level in zip(streams, levels, strict=True):
        assert any(
            load(streams, rates, link) >= links[link] * (1 - ENOUGH)
            and all(
                other <= level * (1 + ENOUGH)
                for beside, other in zip(streams, levels, strict=True)
                if link in dict(beside.uses)
            )
            for link, _ in stream.uses
        )


@given(problems())
def test_the_order_of_streams_does_not_matter(
    problem: tuple[list[Stream[int]], dict[int, float]],
) -> None:
    streams, links = problem

    assert max_min(streams[::-1], links)[::-1] == pytest.approx(max_min(streams, links), rel=1e-6)


@pytest.mark.parametrize(
    ("uses", "weights", "rates"),
    [
        ("a a", "1 1", [50, 50]),
        ("a a a", "1 1 2", [25, 25, 50]),
        ("ab a b", "1 1 1", [50, 50, 150]),  # a carries 100, b 200
        ("b ab", "1 1", [100, 100]),
    ],
)
def test_by_hand(uses: str, weights: str, rates: list[float]) -> None:
    streams = [
        Stream(tuple((link, 1.0) for link in names), float(weight))
        for names, weight in zip(uses.split(), weights.split(), strict=True)
    ]

    assert max_min(streams, {"a": 100.0, "b": 200.0}) == pytest.approx(rates)
