"""JSON is read as it stands, and refused where it is not plain."""

from __future__ import annotations

import pytest

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import strict_json


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        '{"a": 1, "a": 1}',
        '[{"b": {"a": 1, "a": 2}}]',
        "[NaN]",
        "[-Infinity]",
        "[1e999]",
        "[" + "1" * 5000 + "]",
        "[" * 100_000,
        '{"a": 1} {"a": 1}',
    ],
)
def test_what_is_not_plain_is_refused(text: str) -> None:
    with pytest.raises(NotRecognisedError):
        strict_json.load(text)


@pytest.mark.parametrize("value", [True, "1", 1.5, -1, 2**64, [1]])
def test_only_a_whole_number_is_one(value: object) -> None:
    with pytest.raises(NotRecognisedError, match="whole number"):
        strict_json.integer_of({"a": value}, "a")


@pytest.mark.parametrize("value", [True, "1", 2**64, [1.0]])
def test_only_a_number_is_one(value: object) -> None:
    with pytest.raises(NotRecognisedError, match="a number"):
        strict_json.number_of({"a": value}, "a")


def test_a_text_is_shown_without_what_moves_a_cursor() -> None:
    assert strict_json.text_of({"a": " x\x1b[1m "}, "a") == "x?[1m"
    assert strict_json.words_of({"a": ["b\n", "c\rd"]}, "a") == ["b", "c?d"]
    assert strict_json.text_of({"a": "  "}, "a") is None


def test_what_is_absent_or_null_is_none() -> None:
    row: dict[str, object] = {"null": None}

    for key in ("null", "absent"):
        assert strict_json.text_of(row, key) is None
        assert strict_json.integer_of(row, key) is None
        assert strict_json.number_of(row, key) is None
        assert strict_json.flag_of(row, key) is None
        assert strict_json.words_of(row, key) is None
        assert strict_json.object_of(row, key) == {}
