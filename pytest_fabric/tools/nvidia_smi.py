"""`nvidia-smi --query-compute-apps`: the processes that compute on the GPUs of a node."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints
from pytest_fabric.tools.nvidia_complaints import KNOWN
from pytest_fabric.tools.printable import printable

#: The title is asked for too: without it, no output and no process would look the same.
COMMAND = ("nvidia-smi", "--query-compute-apps=pid,process_name", "--format=csv")
TITLE = "pid, process_name"

#: The name may hold commas and blanks, or be `[Not Found]` or `[Insufficient Permissions]`.
ROW = re.compile(r"([1-9][0-9]{0,9}), (\S.*)")


@dataclass(frozen=True)
class ComputeProcess:
    """A process that has a compute context on a GPU."""

    pid: int
    name: str


def command() -> tuple[str, ...]:
    """Return the command line that lists the compute processes of all GPUs."""
    return COMMAND


def parse(text: str) -> list[ComputeProcess]:
    """Return each process once, however many GPUs it has.

    Raises ToolError when the tool cannot tell, NotRecognisedError for any other text, also for one
    without its title or whose last line is cut off.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    complaints.check(text, KNOWN, row=ROW)
    if lines[:1] != [TITLE] or not text.endswith("\n"):
        raise NotRecognisedError(f"expected {TITLE!r} and whole lines, got {text.strip()[:80]!r}")
    return list(dict.fromkeys(_process(line) for line in lines[1:]))


def _process(line: str) -> ComputeProcess:
    match = ROW.fullmatch(line)
    if match is None:
        raise NotRecognisedError(f"expected 'pid, process_name', got {line[:80]!r}")
    return ComputeProcess(int(match[1]), printable(match[2]))


def records(text: str) -> list[dict[str, int | float | str | None]]:
    """Return the processes as plain records."""
    return [asdict(process) for process in parse(text)]
