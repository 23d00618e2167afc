"""The errors that iperf3 tells, in its JSON or in a line."""

from __future__ import annotations

import re

#: Words of `error` in the JSON, and of the line on stderr.
KNOWN = (
    ("port_in_use", re.compile(r"Address already in use")),
    ("address", re.compile(r"Cannot assign requested address")),
    ("busy", re.compile(r"server is busy running a test")),
    ("refused", re.compile(r"Connection refused")),
    ("unreachable", re.compile(r"No route to host|(?:Network|Host) is (?:unreachable|down)")),
    ("timeout", re.compile(r"timed out|idle timeout")),
    ("unknown_host", re.compile(r"Name or service not known|name resolution|No address assoc")),
    (
        "lost",
        re.compile(
            r"control socket has closed|server has terminated|Connection reset|Broken pipe|"
            r"unable to (?:receive|send|read|write) "
        ),
    ),
    ("interrupted", re.compile(r"^(?:iperf3: )?(?:error - )?interrupt\b|client has terminated")),
    ("usage", re.compile(r"parameter error|unrecognized option|invalid option|bad option|^Usage:")),
    ("denied", re.compile(r"authorization failed")),
)
