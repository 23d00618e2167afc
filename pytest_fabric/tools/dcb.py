"""What the `dcb` commands of iproute2 share: the command line and what they say instead.

A driver without DCB leaves a blank line on stdout, JSON or not, and the reason on stderr.
"""

from __future__ import annotations

import re

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, names
from pytest_fabric.tools.complaints import Known

#: IEEE 802.1Q has eight priorities.
PRIORITIES = 8

ERRORS: Known = (
    (
        "not_supported",
        re.compile(
            r"^Attribute (?:read|write): (?:Operation not supported|No such file or directory)|"
            r"^(?:Object|Command) .* (?:is unknown|not found)|^Unknown option"
        ),
    ),
    ("no_such_device", re.compile(r"^Attribute \w+: No such device|^Cannot find device")),
    ("permission", re.compile(r"^Attribute \w+: (?:Operation not permitted|Permission denied)")),
    ("failed", re.compile(r"^Attribute \w+: \S|^Unknown attribute")),
)


def command(what: str, netdev: str) -> tuple[str, ...]:
    """Return the command line that shows `pfc` or `app` of a network device."""
    return ("dcb", "-N", "-j", what, "show", "dev", names.netdev(netdev))


def lines(text: str) -> list[list[str]]:
    """Return the words of the lines of a plain text.

    Raises ToolError when dcb reports an error, NotRecognisedError for an empty or cut-off text:
    a blank line is what is left of a failure whose reason was not kept.
    """
    complaints.check(text, ERRORS)
    found = [line.split() for line in text.split("\n") if line.strip()]
    if not found or not text.endswith("\n"):
        raise NotRecognisedError("expected whole lines of dcb, got an empty or cut-off text")
    return found
