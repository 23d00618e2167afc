"""JSON of a tool is read as it stands, or refused."""

from __future__ import annotations

import pytest

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import strict_json


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 1}',
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 1e999}',
        '{"a": 1}}',
        '{"a": ' + "9" * 10_000 + "}",
        '{"a":' * 100_000,
        "[" * 100_000,
        "",
    ],
)
def test_doubtful_json_is_refused(text: str) -> None:
    with pytest.raises(NotRecognisedError):
        strict_json.load(text)


def test_a_boolean_is_no_count() -> None:
    with pytest.raises(NotRecognisedError):
        strict_json.as_count(True, "count")
