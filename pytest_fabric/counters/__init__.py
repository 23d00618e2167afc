"""Counters: what they mean, and by how much they grew."""

from __future__ import annotations

from pytest_fabric.counters.catalogue import meanings, refresh_s
from pytest_fabric.counters.window import growth, require, saturated, snapshot

__all__ = ["growth", "meanings", "refresh_s", "require", "saturated", "snapshot"]
