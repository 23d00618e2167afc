"""What all objects of iproute2's `rdma` have in common: complaints, and the form of the JSON."""

from __future__ import annotations

import re

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import strict_json
from pytest_fabric.tools.complaints import Known

NAME = r"[A-Za-z0-9_.:@-]+"

#: Without ib_core every command fails, known to `rdma` or not, with nothing on stdout.
COMPLAINTS: Known = (
    ("not_supported", re.compile(r"Unknown (?:parameter|argument|command)|not supported")),
    ("no_rdma_subsystem", re.compile(r"Failed to open NETLINK_RDMA socket")),
    ("no_such_device", re.compile(r"No such device|Wrong device")),
)


def rows(text: str) -> list[dict[str, object]]:
    """Return the objects of a JSON list; releases before 2021 print `[{}]` for none.

    Raises ToolError for a complaint around the JSON, NotRecognisedError for anything else.
    """
    return [dict(row) for row in strict_json.rows(strict_json.load(text, COMPLAINTS)) if row]


def rows_of(text: str) -> list[dict[str, object]] | None:
    """Return the rows of JSON, none for an empty text, which says so; None for a text to be read.

    Raises as `rows`.
    """
    if not text.strip():
        return []
    return rows(text) if text.lstrip().startswith("[") else None


def port_of(row: dict[str, object]) -> tuple[str, int]:
    """Take device and port out of a row; releases before 5.5 write `mlx5_0/1` for the name."""
    name, port = row.pop("ifname", None), row.pop("port", None)
    if isinstance(name, str) and type(port) is int and 0 <= port < 256:
        device = name.removesuffix(f"/{port}")
        if re.fullmatch(NAME, device):
            return device, port
    raise NotRecognisedError(f"expected ifname and port of rdma, got {str(name)[:80]!r}")
