"""JSON of C tools: what is no number is none, and a key with two values has none."""

from __future__ import annotations

import pytest

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import json_text


@pytest.mark.parametrize("word", ["nan", "-nan", "NaN", "inf", "-inf", "Infinity", "1e999"])
def test_what_is_no_number_is_none(word: str) -> None:
    assert json_text.whole(f'{{"a": {word}, "b": 1}}') == {"a": None, "b": 1}


def test_words_inside_texts_are_left_alone() -> None:
    assert json_text.whole('{"a": -nan, "b": "x: -nan, \\" inf"}') == {
        "a": None,
        "b": 'x: -nan, " inf',
    }


def test_a_key_given_twice_counts_only_when_both_agree() -> None:
    row = json_text.whole('{"same": 1, "same": 1, "other": 1, "other": 2}')

    assert json_text.number(row, "same") == 1
    with pytest.raises(NotRecognisedError, match="two different values"):
        json_text.number(row, "other")


@pytest.mark.parametrize("value", ["true", '"1"', "-1", "[]", "1e200", "1" + "0" * 400])
def test_what_is_no_count_is_refused(value: str) -> None:
    with pytest.raises(NotRecognisedError):
        json_text.number(json_text.whole(f'{{"a": {value}}}'), "a")


@pytest.mark.parametrize("text", ["", "{", '{"a": 1} x', "[" * 100_000, "9" * 5000])
def test_what_is_not_whole_is_refused(text: str) -> None:
    with pytest.raises(NotRecognisedError):
        json_text.whole(text)


def test_what_follows_a_value_is_handed_back() -> None:
    assert json_text.first(' {"a": 1}\nrest\n') == ({"a": 1}, "\nrest\n")
