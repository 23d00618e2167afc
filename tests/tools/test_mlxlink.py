"""What the documents of mlxlink cannot state: its version, and readings without a range."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fabric.tools import mlxlink
from pytest_fabric.tools.mlxlink_values import Reader

DATA = Path(__file__).parents[1] / "data" / "mlxlink"


@pytest.mark.parametrize("case", ["text-all", "json-all"])
def test_the_version_is_that_of_mft(case: str) -> None:
    assert mlxlink.find_version((DATA / f"{case}.txt").read_text()) == "4.32.0-120"


def test_a_text_without_a_version_has_none() -> None:
    assert mlxlink.find_version("MFT Version      : N/A\n") is None
    assert mlxlink.find_version("MFT Version      : mft 4.30.1-8 \n") == "4.30.1-8"


@pytest.mark.parametrize(
    ("word", "reading"),
    [
        ("0,0 [0..0]", (None, None, None)),
        ("0,0 [-10..5]", ([0.0, 0.0], -10.0, 5.0)),
        ("1.5,0 [0..0]", ([1.5, 0.0], None, None)),
        ("-40", ([-40.0], None, None)),
        ("N/A,N/A [-10..5]", (None, -10.0, 5.0)),
        ("N/A", (None, None, None)),
    ],
)
def test_zeros_in_no_range_are_no_readings(word: str, reading: object) -> None:
    assert Reader({"Rx Power": [word]}).readings("Rx Power") == reading
