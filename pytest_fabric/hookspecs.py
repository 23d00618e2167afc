"""The hooks that plugins and conftest files can have for this plugin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def pytest_fabric_faults() -> Sequence[Any]:  # type: ignore[empty-body]  # a specification
    """Return faults of your own, each a `pytest_fabric.lab.faults.Fault`.

    The lab loads the file that the hook stands in, in its own process, and calls the hook there.
    """
