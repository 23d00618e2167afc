"""Every tool: each stored text gives its document, and half a text or a hostile one never lies."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric.cli.parse import parse_text
from pytest_fabric.tools import TOOLS

DATA = Path(__file__).parents[1] / "data"

#: perftest, the oldest, has tests of its own with richer documents.
NAMES = tuple(tool for tool in TOOLS if tool != "perftest")


@cache
def _cases(status: int | None = None) -> list[tuple[str, str]]:
    found = [
        (tool, path.stem, json.loads(path.read_text())["status"])
        for tool in NAMES
        for path in sorted((DATA / tool).glob("*.json"))
    ]
    return [(tool, case) for tool, case, wanted in found if status in (None, wanted)]


@cache
def _text(tool: str, case: str) -> str:
    return (DATA / tool / f"{case}.txt").read_bytes().decode(errors="replace")


def _belongs(part: dict[str, Any], whole: list[dict[str, Any]]) -> bool:
    """Return whether a record of a cut text says nothing that the whole text does not say."""
    return any(
        all(value is None or other.get(key) == value for key, value in part.items())
        for other in whole
    )


@pytest.mark.parametrize(("tool", "case"), _cases())
def test_every_text_gives_its_document(tool: str, case: str) -> None:
    wanted = json.loads((DATA / tool / f"{case}.json").read_text())

    document, status = parse_text(tool, _text(tool, case))

    assert document["results"] == wanted["results"]
    assert ((document["error"] or {}).get("kind"), status) == (wanted["error"], wanted["status"])


@pytest.mark.parametrize(("tool", "case"), _cases(status=0))
def test_a_text_cut_at_any_byte_never_gives_a_wrong_value(tool: str, case: str) -> None:
    text = _text(tool, case)
    whole, _ = parse_text(tool, text)

    for length in range(0, len(text), 1 + len(text) // 1500):
        document, status = parse_text(tool, text[:length])
        if status == 0:
            wrong = [row for row in document["results"] if not _belongs(row, whole["results"])]
            assert not wrong, f"cut at {length}"


@pytest.mark.parametrize("tool", NAMES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_text_is_read_or_refused_by_name(tool: str, data: st.DataObject) -> None:
    cases = [case for name, case in _cases() if name == tool]
    text = _text(tool, data.draw(st.sampled_from(cases))) if cases else ""
    start = data.draw(st.integers(0, len(text)))
    noise = data.draw(st.one_of(st.text(max_size=40), st.binary(max_size=40).map(str)))

    document, status = parse_text(tool, text[:start] + noise + text[start + len(noise) :])

    assert status in (0, 1, 2)
    json.dumps(document, allow_nan=False)
