"""Counters: what they mean, and by how much they grew."""

from __future__ import annotations

from pytest_fabric.counters.catalogue import (
    OVERTAKING,
    group,
    is_verified,
    meanings,
    missing,
    overtakes,
    per_priority,
    refresh_s,
    require_meaning,
)
from pytest_fabric.counters.texts import snapshot
from pytest_fabric.counters.window import growth, require, saturated

__all__ = [
    "OVERTAKING",
    "group",
    "growth",
    "is_verified",
    "meanings",
    "missing",
    "overtakes",
    "per_priority",
    "refresh_s",
    "require",
    "require_meaning",
    "saturated",
    "snapshot",
]
