"""The benchmark of localisation, a few runs of it: `python -m bench.localise` makes them all."""

from __future__ import annotations

import pytest

from bench.localise import runs
from bench.played import fabric


@pytest.mark.parametrize(("at_once", "least"), [(1, 0.95), (2, 0.85)])
def test_true_places_come_first(at_once: int, least: float) -> None:
    """One fault: first of all. Two faults: both are the first two."""
    result = runs(fabric(), 12, at_once, seed=7)

    assert isinstance(result["share"], float)
    assert result["share"] >= least, result["missed"]
