"""What reaches reports can harm neither a terminal nor an XML parser."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric.report.clean import clean, clean_line, clean_record
from pytest_fabric.results import Attempt

ANY_TEXT = st.text(st.characters(exclude_categories=()))
#: Texts that are dense in what escape sequences are made of.
ESCAPES = st.text(st.sampled_from("\x1b\x9b\x9d\x07[];?0123m\\PX^_ \n(Bab"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain\ttext\nwith ünïcode 🙂", "plain\ttext\nwith ünïcode 🙂"),
        ("\x1b[1;31mFAIL\x1b[0m", "FAIL"),
        ("\x9b31mFAIL", "FAIL"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]never ended", "never ended"),
        ("\x1b]cut\nP99 2.1", "cut\nP99 2.1"),
        ("\x1bPq#0\x1b\\sixel", "sixel"),
        ("\x1b(Bascii\x1b=", "ascii"),
        ("a\x00b\x08c\rd\x7fe\x85f", "abcdef"),
        ("\x1b\x1b[0m[31m", "[31m"),
        ("\ud800a\udfff", "a"),
        ("\ufffea\uffff", "a"),
        ("pass\u202eed", "passed"),
        ("", ""),
    ],
)
def test_takes_out_what_terminals_obey_and_keeps_the_rest(text: str, expected: str) -> None:
    """Sequences go as a whole; an unterminated one never swallows the text after it."""
    assert clean(text) == expected


@settings(deadline=None)  # a busy machine is no failure
@given(ANY_TEXT | ESCAPES)
def test_cleaned_text_is_valid_in_xml_and_utf8_and_stays_the_same(text: str) -> None:
    """Whatever comes in, what goes out can be stored and is clean for good."""
    cleaned = clean(text)

    root = ET.Element("root")
    root.text = cleaned
    assert (ET.fromstring(ET.tostring(root, encoding="utf-8")).text or "") == cleaned
    assert not any((ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) < 0xA0 for c in cleaned)
    assert clean(cleaned) == cleaned


@settings(deadline=None)  # a busy machine is no failure
@given(st.text(st.characters(min_codepoint=32, max_codepoint=126)))
def test_printable_ascii_is_never_changed(text: str) -> None:
    """Cleaning loses nothing of ordinary output."""
    assert clean(text) == text


def test_a_line_is_one_line() -> None:
    """A message in a table cannot break the table."""
    assert clean_line("  two\nlines\t\x1b[0m and\u2028more ") == "two lines and more"


def test_records_are_cleaned_to_their_depth() -> None:
    """Keys, nested values and dataclasses are cleaned, numbers stay numbers."""
    record = {"a\x00": ["\x1b[0mx", {"deep": ("\x07y", 1, None, True)}], "try": Attempt(1, "\x08z")}

    assert clean_record(record) == {
        "a": ["x", {"deep": ["y", 1, None, True]}],
        "try": {"control_port": 1, "outcome": "z"},
    }


def test_numbers_that_json_lacks_become_words() -> None:
    """An unlimited memlock is infinite, and JSON has no infinity."""
    assert clean_record([math.inf, -math.inf, math.nan, 1.5]) == ["inf", "-inf", "nan", 1.5]
