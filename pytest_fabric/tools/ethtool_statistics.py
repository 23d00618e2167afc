"""`ethtool -S`: the statistics that a network driver keeps, by the driver's own names."""

from __future__ import annotations

import re

from pytest_fabric.errors import NotRecognisedError, ToolError

TITLE = "NIC statistics:"

#: Names may hold blanks, brackets and colons (`[0]: rx_discards`): the last colon ends the name.
LINE = re.compile(r"\s*(\S(?:.*\S)?): (-?[0-9]{1,20})")

#: A failed read of the hardware shows as all bits set.
UNREADABLE = 2**64 - 1

#: What ethtool and the kernel say instead, and the word for it.
ERRORS = (
    ("no_statistics", re.compile(r"no stats available")),
    ("no_such_device", re.compile(r"No such device|Cannot get device")),
    ("not_supported", re.compile(r"Operation not supported|bad command line argument")),
    ("permission", re.compile(r"Operation not permitted|a password is required")),
    ("tool_missing", re.compile(r"ethtool'?: (?:command )?(?:not found|No such file)")),
)


def command(netdev: str) -> tuple[str, ...]:
    """Return the command line that prints the statistics of a network device."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.:@-]*", netdev):
        raise ValueError(f"netdev: expected a name such as eth0, got {netdev!r}")
    return ("ethtool", "-S", netdev)


def parse(text: str) -> dict[str, int]:
    """Return counter -> value; a counter that is unreadable, or ambiguous, is left out.

    Ambiguous is a name that comes twice with different values. Raises ToolError when there are no
    statistics, NotRecognisedError for any other text, also for one whose last line is cut off.
    """
    lines = [line for line in re.split(r"\r\n|\n", text) if line.strip()]
    _check(lines)
    if not lines or not text.endswith("\n"):
        raise NotRecognisedError("expected the statistics of a network device, got a cut-off text")
    rows = [_row(line) for line in lines if line.strip() != TITLE]
    if not rows:
        raise NotRecognisedError("expected the statistics of a network device, got a title only")
    values: dict[str, set[int]] = {}
    for name, value in rows:
        values.setdefault(name, set()).add(value)
    return {
        name: min(seen)
        for name, seen in values.items()
        if len(seen) == 1 and UNREADABLE not in seen
    }


def _check(lines: list[str]) -> None:
    for line in lines:
        for kind, pattern in ERRORS:
            if pattern.search(line) and not LINE.fullmatch(line):
                raise ToolError(kind, line.strip()[:200])


def _row(line: str) -> tuple[str, int]:
    match = LINE.fullmatch(line.rstrip())
    if match is None:
        raise NotRecognisedError(f"expected 'counter: number', got {line.strip()[:80]!r}")
    return match.group(1), int(match.group(2))


def records(text: str) -> list[dict[str, int | float | str | None]]:
    """Return the statistics as plain records of name and value."""
    return [{"name": name, "value": value} for name, value in parse(text).items()]
