"""Targets are taken apart and folded without losing one."""

from __future__ import annotations

import re

import pytest
from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet  # type: ignore[import-untyped]
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric.report.places import fold, is_pair, mentioned, nodes_of, ports_of

NODES = st.from_regex(r"(gpu|r[1-3]n)[0-9]{1,3}|login|alpha-b", fullmatch=True)
PORTS = st.builds("{}:{}".format, NODES, st.sampled_from(["rail0", "rail1", "mgmt"]))


@pytest.mark.parametrize(
    ("target", "ports", "nodes"),
    [
        ("gpu001", (), ("gpu001",)),
        ("gpu001:rail0", ("gpu001:rail0",), ("gpu001",)),
        ("a:rail0..b:rail1", ("a:rail0", "b:rail1"), ("a", "b")),
        ("a:rail0..a:rail1", ("a:rail0", "a:rail1"), ("a",)),
    ],
)
def test_targets_are_taken_apart(
    target: str, ports: tuple[str, ...], nodes: tuple[str, ...]
) -> None:
    """A pair has two ports, a port one, a node none; a node is named once."""
    assert ports_of(target) == ports
    assert nodes_of(target) == nodes


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        ([], ""),
        (["gpu001"], "gpu001"),
        (["gpu003", "gpu001", "gpu002", "gpu003"], "gpu[001-003]"),
        (["@all", "a"], "@all, a"),
        (["x[1", "y"], "x[1, y"),
        (["a^b", "c"], "a^b, c"),
        ([f"gpu{n:03}:rail0" for n in range(3, 10)], "gpu[003-009]:rail0"),
        ([f"gpu{n}:rail{r}" for n in (1, 2) for r in (0, 1)], "gpu[1-2]:rail[0-1]"),
        (["a:rail0", "b:rail0", "a:rail1"], "a:rail0, b:rail0, a:rail1"),
        (["a:r0..z:r0", "b:r0..z:r0"], "a:r0..z:r0, b:r0..z:r0"),
        (["g1:r0..g9:r0", "g2:r0..g9:r0", "g4:r0..g9:r0"], "g[1-2,4]:r0..g9:r0"),
        (["g9:r0..g1:r0", "g9:r0..g2:r0"], "g9:r0..g[1-2]:r0"),
        ([f"g{n}:r0..g{n + 1}:r0" for n in range(1, 6)], "5 pairs among g[1-6]:r0"),
        (["gpu1", "gpu1:r0"], "gpu1, gpu1:r0"),
    ],
)
def test_folds_as_the_field_writes_it(targets: list[str], expected: str) -> None:
    """Numbers fold; names that node sets would misread stay as they are."""
    assert fold(targets) == expected


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(NODES | PORTS, max_size=30))
def test_folded_places_unfold_to_the_same_places(places: list[str]) -> None:
    """Folding loses nothing and invents nothing."""
    assert set(NodeSet(fold(places), resolver=RESOLVER_NOGROUP)) == set(places)


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(st.tuples(PORTS, PORTS).map("..".join), min_size=1, max_size=4, unique=True))
def test_folded_pairs_unfold_to_the_same_pairs(pairs: list[str]) -> None:
    """Up to four pairs are always written out, exactly."""
    assert set(NodeSet(fold(pairs), resolver=RESOLVER_NOGROUP)) == set(pairs)


def test_five_thousand_ports_fold_in_a_moment() -> None:
    """A large fabric does not slow the end of a run: this takes milliseconds, not minutes."""
    ports = [f"r{n % 31}n{n // 31}:rail{r}" for n in range(640) for r in range(8)]

    assert re.search(r"rail\[0-7\]", fold(ports))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("gpu1:rail0: is Down", ["gpu1:rail0"]),
        ("gpu1: refused", ["gpu1"]),
        ("gpu1:rail0..gpu2:rail0: no answer", []),
        ("gpu11 and gpu1:rail01 and xgpu1", []),
        ("see gpu1, gpu1:rail0.", ["gpu1", "gpu1:rail0"]),
        ("", []),
    ],
)
def test_a_place_is_mentioned_only_by_itself(message: str, expected: list[str]) -> None:
    """Neither a pair nor a longer name mentions a shorter one that is part of it."""
    assert mentioned(["gpu1", "gpu1:rail0"], message) == expected


def test_only_two_ports_are_a_pair() -> None:
    """Whatever else has dots in its name stands for itself."""
    assert is_pair("gpu001:rail0..gpu002:rail0")
    assert not any(map(is_pair, ("..", "gpu..001", "gpu001:rail0", "a..b", "a:r..", "")))
