"""What the devlink commands share: how a device is named, and what they say instead of a result.

`devlink` is in iproute2/devlink; before a kernel knows devlink at all it cannot even connect.
"""

from __future__ import annotations

import re

from pytest_fabric.tools.complaints import Known

#: A bus, the device on it, and for what belongs to one port the number of that port.
HANDLE = r"[a-z][a-z0-9_]*/[A-Za-z0-9_.:@-]+(?:/[0-9]{1,10})?"

ERRORS: Known = (
    ("no_devlink", re.compile(r"^Failed to connect to devlink Netlink")),
    (
        "not_supported",
        re.compile(
            r"^(?:devlink|kernel) answers: (?:Operation not supported|Invalid argument)|"
            r'^(?:Object|Command) "[^"]*" (?:is )?not found|^Error: .*not supported|'
            r"^Unknown option"
        ),
    ),
    (
        "no_such_device",
        re.compile(
            r"(?:devlink|kernel) answers: No such device|^Wrong (?:identification|handle)|"
            r"^Device .*not found"
        ),
    ),
    ("permission", re.compile(r"(?:devlink|kernel) answers: Operation not permitted")),
    ("failed", re.compile(r"^(?:devlink|kernel) answers: ")),
)


def handle(name: str) -> str:
    """Return the handle of a device such as `pci/0000:c1:00.0`; raises ValueError for others."""
    if not re.fullmatch(HANDLE, name):
        raise ValueError(f"device: expected a handle such as pci/0000:c1:00.0, got {name!r}")
    return name
