"""What is odd about a port in its own way: no part is broken, and it does less than it should."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Quirks:
    """How a port deviates where neither its link nor its slot says so.

    Each message of its pairs is `late_s` late. It `sends` at a part of its line, and takes in all.
    What it sends leaves through the rail `detour` of its node. A bridge above its slot has `above`
    lanes, 0 where it has as many as the slot. `counters` says by file name how one is read:
    `full`, `unreadable`, `falls` or `wraps` after 32 bits. A server of perftest that nobody waits
    for is `left` on it.
    """

    late_s: float = 0.0
    sends: float = 1.0
    detour: str = ""
    above: int = 0
    counters: Mapping[str, str] = field(default_factory=dict)
    left: bool = False


#: What a port has until a fault says otherwise.
NONE = Quirks()
