"""Node sets: what they expand to, what is refused, and folding back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric.config import expand, fold
from pytest_fabric.config.nodesets import NAME
from pytest_fabric.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("gpu001", ("gpu001",)),
        ("gpu[001-003]", ("gpu001", "gpu002", "gpu003")),
        ("gpu[003,001]", ("gpu001", "gpu003")),
        ("gpu[0-6/2]", ("gpu0", "gpu2", "gpu4", "gpu6")),
        ("r[1-2]n[1-2]", ("r1n1", "r1n2", "r2n1", "r2n2")),
        ("a,b", ("a", "b")),
        ("gpu[1-2].pod-a.example.org", ("gpu1.pod-a.example.org", "gpu2.pod-a.example.org")),
    ],
)
def test_a_node_set_is_expanded(text: str, names: tuple[str, ...]) -> None:
    """The notation is the one that cluster tools share."""
    assert expand(text) == names


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "gpu 1", "@all", "gpu[1-3]!gpu2", "gpu[1-3]&gpu2", "*", "gpu:1", "a..b", ".a"),
        *("gpu[", "gpu[]", "gpu[1-", "gpu[3-1]", "gpu[1-010]", "gpu[a-b]", "gpu[1]]", "gpu[1,,2]"),
        *("gpu[0-999999999]", "r[0-9999]n[0-9999]", "gpu[1-2/0]", "-gpu", "gpü", "a,", "a\nb"),
        f"gpu[{'9' * 5000}]",
    ],
)
def test_what_is_no_node_set_is_refused(text: str) -> None:
    """Groups, set operators and slips are refused before any name is made."""
    with pytest.raises(ConfigError, match=r"^expected "):
        expand(text)


@settings(deadline=None)
@given(st.text(alphabet="agp019[]-,/.@!& :\n*"))
def test_any_text_is_a_node_set_or_one_line(text: str) -> None:
    """Nothing but ConfigError is ever raised, and every name can stand in an id."""
    message = ""
    names: tuple[str, ...] = ("refused",)
    try:
        names = expand(text)
    except ConfigError as error:
        message = str(error)

    assert message.isprintable()
    assert all(NAME.fullmatch(name) for name in names)
    assert names


@settings(deadline=None)
@given(
    st.lists(
        st.from_regex(r"(gpu|stor-)[0-9]{1,3}(\.mgmt)?", fullmatch=True), min_size=1, max_size=5
    )
)
def test_folding_loses_no_name(names: list[str]) -> None:
    """What is folded for a message expands to the same names."""
    assert set(expand(fold(names))) == set(names)


def test_many_names_are_folded() -> None:
    """Messages that name many nodes stay short."""
    assert fold(f"gpu{number:03}" for number in range(1, 65)) == "gpu[001-064]"
    assert fold(["gpu001:rail0", "b"]) == "gpu001:rail0,b"
    assert fold([]) == ""
