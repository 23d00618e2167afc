"""What the forms of `ethtool` share: the device's name, complaints, whole lines, FEC words."""

from __future__ import annotations

import re

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools.complaints import Known
from pytest_fabric.tools.printable import printable

#: The kernel's answers as ethtool prints them, over netlink or ioctl.
KNOWN: Known = (
    ("no_such_device", re.compile(r"No such device(?! or address)")),
    (
        "not_supported",
        re.compile(r"Operation not supported|bad command line argument|unrecognized option"),
    ),
    ("no_data", re.compile(r"^No data available$")),
)

#: What may stand between lines of output, when both streams were caught together.
ASIDE = re.compile(r"(?:netlink (?:error|warning)|Cannot get [a-zA-Z -]+): .*")

#: `BASER` comes from the link modes, the others from `--show-fec`.
_FEC = {word.lower(): word for word in ("Auto", "None", "Off", "RS", "BaseR", "LLRS")}

Lines = list[str]


def command(netdev: str, *options: str) -> tuple[str, ...]:
    """Return the command line for a network device; raises ValueError for what is no name."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.:@-]*", netdev):
        raise ValueError(f"netdev: expected a name such as eth0, got {netdev!r}")
    return ("ethtool", *options, netdev)


def whole_lines(text: str) -> Lines:
    """Return the lines that are not blank; raises NotRecognisedError when the last is cut off."""
    lines = [line.rstrip() for line in text.split("\n") if line.strip()]
    if not lines or not text.endswith("\n"):
        raise NotRecognisedError("expected whole lines of ethtool, got a cut-off text")
    return lines


def blocks(lines: Lines, title: re.Pattern[str]) -> list[tuple[str, Lines]]:
    """Return device and lines for each title, which holds the device's name as its first group.

    Raises NotRecognisedError when anything stands before the first title.
    """
    found: list[tuple[str, Lines]] = []
    for line in lines:
        match = title.fullmatch(line)
        if match is not None:
            found.append((printable(match[1]), []))
        elif found:
            found[-1][1].append(line)
        elif not ASIDE.fullmatch(line):
            raise NotRecognisedError(f"expected a title of ethtool, got {line[:80]!r}")
    if not found:
        raise NotRecognisedError("expected a title of ethtool, got none")
    return found


def fec_word(word: str) -> str:
    """Return an FEC encoding in one spelling: Auto, None, Off, RS, BaseR, LLRS, or as it stands."""
    return _FEC.get(word.lower(), printable(word))


def on_off(text: str) -> bool | None:
    """Return on as true, off as false, n/a as None; raises NotRecognisedError for other words."""
    if text not in ("on", "off", "n/a"):
        raise NotRecognisedError(f"expected on or off, got {text[:40]!r}")
    return None if text == "n/a" else text == "on"
