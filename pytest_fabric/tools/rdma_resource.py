"""`rdma resource show ctx|qp`: who holds contexts and queue pairs of the RDMA devices.

The text is asked for and not `-j`: it reads the same in every release, while the JSON of releases
before 2021 is none (arrays with keys). Both are read here.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import rdma_tool
from pytest_fabric.tools.complaints import check
from pytest_fabric.tools.printable import printable

#: A context is held before anything else can be made; releases before 2021 do not know `ctx`.
OBJECTS = ("ctx", "qp")

LINE = re.compile(
    rf"(?:dev|ifindex [0-9]+ ifname|link) (?P<device>{rdma_tool.NAME})(?:/[0-9]+|/-)?"
    r"(?P<fields>(?: (?!comm )[a-z][a-z-]* [^\s\[]\S*)+)(?: comm (?P<comm>\S.*))?"
)
GLUED = re.compile(r"(?<=\w)/(?=lqpn )")
FIELD = re.compile(r"([a-z-]+) (\S+)")
NUMBER = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True)
class Held:
    """A context (`ctx`) or queue pair (`qp`) of a device, and the process that holds it.

    `pid` is None for what the kernel holds, and where the process has just ended; `comm` is then
    the kernel's module, or empty.
    """

    device: str
    kind: str
    pid: int | None
    comm: str


def command(kind: str) -> tuple[str, ...]:
    """Return the command line that shows every `ctx` or every `qp` of the node."""
    if kind not in OBJECTS:
        raise ValueError(f"kind: expected one of {', '.join(OBJECTS)}, got {kind!r}")
    return ("rdma", "resource", "show", kind)


def parse(text: str) -> list[Held]:
    """Return what is held; an empty text says that nothing is.

    Raises ToolError when the tool or the kernel cannot tell, NotRecognisedError for any other
    text, also for one whose last line is cut off.
    """
    rows = rdma_tool.rows_of(text)
    if rows is not None:
        return [_from_row(row) for row in rows]
    # Some releases forget the port: `link mlx5_0/lqpn 1`.
    lines = [GLUED.sub("/- ", line.strip()) for line in text.split("\n") if line.strip()]
    check("\n".join(lines), rdma_tool.COMPLAINTS, row=LINE)
    if not text.endswith("\n"):
        raise NotRecognisedError("expected whole lines of rdma resource, got a cut-off text")
    return [_from_line(line) for line in lines]


def _from_line(line: str) -> Held:
    match = LINE.fullmatch(line)
    fields = dict(FIELD.findall(match["fields"])) if match else {}
    kind = next((kind for kind, key in (("qp", "lqpn"), ("ctx", "ctxn")) if key in fields), None)
    pid = fields.get("pid", "0")
    if match is None or kind is None or not NUMBER.fullmatch(pid):
        raise NotRecognisedError(f"expected 'dev NAME ctxn N ...' or 'link ...', got {line[:80]!r}")
    comm = match["comm"] or ""
    return _held(match["device"], kind, int(pid), comm)


def _from_row(row: dict[str, object]) -> Held:
    device, pid, comm = row.get("ifname"), row.get("pid", 0), row.get("comm", "")
    kind = "qp" if "lqpn" in row else "ctx" if "ctxn" in row else None
    named = isinstance(device, str) and re.fullmatch(rdma_tool.NAME, device)
    if kind and named and isinstance(comm, str) and type(pid) is int and pid >= 0:
        return _held(str(device), kind, pid, comm)
    raise NotRecognisedError(f"expected ifname, ctxn or lqpn, pid and comm, got {str(row)[:80]!r}")


def _held(device: str, kind: str, pid: int, comm: str) -> Held:
    """Return an entry; old releases write pid 0 for the kernel, some its name without brackets."""
    name = comm if pid else comm.removeprefix("[").removesuffix("]")
    return Held(device, kind, pid or None, printable(name))


def records(text: str) -> list[dict[str, int | float | str | None]]:
    """Return what is held as plain records."""
    return [asdict(held) for held in parse(text)]
