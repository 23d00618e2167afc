"""Columns of numbers have one unit and as many decimals."""

from __future__ import annotations

import math

import pytest

from pytest_fabric.units import alike


@pytest.mark.parametrize(
    ("numbers", "unit", "expected"),
    [
        ((1.9e-6, 1.895e-6), "s", ["1.90 us", "1.90 us"]),
        ((390e9, 390.14e9), "b/s", ["390.0 Gb/s", "390.1 Gb/s"]),
        ((1.2e-3, 30e-6), "s", ["1.20 ms", "0.03 ms"]),
        ((2e-10,), "s", ["0.20 ns"]),
        ((0.0, 0.0), "s", ["0 s", "0 s"]),
        ((math.inf, 1.0), "s", ["inf", "1 s"]),
        ((3e-9, 0.0), "", ["3e-09", "0"]),
        ((0.98, 1.5), "dBm", ["0.98 dBm", "1.5 dBm"]),
        ((), "s", []),
    ],
)
def test_columns(numbers: tuple[float, ...], unit: str, expected: list[str]) -> None:
    assert alike(numbers, unit) == expected
