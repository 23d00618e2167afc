"""What a test item has done so far: the comparisons it made, and what was measured for it."""

from __future__ import annotations

import pytest

from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.results import Measured

ledger_key = pytest.StashKey[Ledger]()
measured_key = pytest.StashKey[Measured]()


def ledger_of(item: pytest.Item) -> Ledger:
    """Return the ledger of an item, new when there is none yet."""
    return item.stash.setdefault(ledger_key, Ledger())
