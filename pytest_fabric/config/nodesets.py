"""Node sets as the field writes them: `gpu[001-064,070]` for many names, and back."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from ClusterShell.NodeSet import (  # type: ignore[import-untyped]
    RESOLVER_NOGROUP,
    NodeSet,
    NodeSetException,
)

from pytest_fabric.config.wording import expected
from pytest_fabric.errors import ConfigError

#: No fabric that one controller could measure is larger; `gpu[0-999999999]` is a slip.
MAX_NODES = 100_000

#: One node name; no `:` and no `..`, which ids use. Also what a host name allows.
NAME = re.compile(r"[A-Za-z0-9_](?:\.?[A-Za-z0-9_-])*")

#: A node set: names and bracketed ranges, joined by commas. ClusterShell's groups (`@gpu`) and set
#: operators are left out, since they depend on files outside the cluster file or hide a node.
NODE_SET = re.compile(r"(?:[A-Za-z0-9_.-]|\[[0-9,/-]+\])+(?:,(?:[A-Za-z0-9_.-]|\[[0-9,/-]+\])+)*")


def expand(text: str) -> tuple[str, ...]:
    """Return the names of a node set, in its own order. Raises ConfigError."""
    wanted = 'a node set such as "gpu[001-064]"'
    if not NODE_SET.fullmatch(text):
        raise expected(wanted, text)
    if _size(text) > MAX_NODES:
        raise expected(f"at most {MAX_NODES:,} nodes", text)
    try:
        names = tuple(str(name) for name in NodeSet(text, resolver=RESOLVER_NOGROUP))
    except NodeSetException as error:
        raise expected(wanted, text, " ".join(str(error).split())) from None
    wrong = [name for name in names if not NAME.fullmatch(name)]
    if wrong or not names:
        raise expected("names of letters, digits, -, _ and single dots", wrong[0] if wrong else "")
    return names


def _size(text: str) -> int:
    """Return an upper bound of how many names a node set has, without making them."""
    parts = re.split(r",(?![^\[]*\])", text)
    return sum(math.prod(map(_range_size, re.findall(r"\[([^\]]*)\]", part))) for part in parts)


def _range_size(ranges: str) -> int:
    total = 0
    for piece in ranges.split(","):
        low, _, high = piece.partition("/")[0].partition("-")
        if not (low.isdigit() and (high.isdigit() or not high)) or len(low + high) > 40:
            raise ConfigError(f'expected a range such as "[001-064]", got "[{ranges[:60]}]"')
        total += max(1, int(high or low) - int(low) + 1)
    return total


def fold(names: Iterable[str]) -> str:
    """Return names as one node set, `gpu[001-003]`; what is no name is joined by commas."""
    listed = list(names)
    if not all(NAME.fullmatch(name) for name in listed):
        return ",".join(listed)
    return str(NodeSet.fromlist(listed, resolver=RESOLVER_NOGROUP))
