"""What SONiC's commands say in place of their output."""

from __future__ import annotations

import re

from pytest_fabric.tools.complaints import Known

KNOWN: Known = (
    ("no_such_key", re.compile(r"^\{\}$|^\((?:empty|nil)\b")),
    ("no_database", re.compile(r"(?:[Cc]ould not|[Uu]nable to) connect to [Rr]edis")),
    ("no_database", re.compile(r"Invalid database name|redis.*Connection refused")),
    ("permission", re.compile(r"Root privileges (?:are )?required")),
    (
        "not_supported",
        re.compile(r"^(?:Error: )?(?:No such (?:command|option)|Got unexpected extra)"),
    ),
    (
        "not_running",
        re.compile(r"No such container|container \w+ is not running|lldpd is running\?"),
    ),
    ("not_running", re.compile(r"(?:unable|cannot) (?:to )?connect to (?:socket|lldpd)")),
    ("failed", re.compile(r"^Error: |^(?:\(error\) )?(?:ERR|WRONGTYPE|NOAUTH|LOADING) ")),
)
