"""`nvidia-smi --query-compute-apps`: the processes that compute on the GPUs of a node."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.tools.printable import printable

#: The title is asked for too: without it, no output and no process would look the same.
COMMAND = ("nvidia-smi", "--query-compute-apps=pid,process_name", "--format=csv")
TITLE = "pid, process_name"

#: The name may hold commas and blanks, or be `[Not Found]` or `[Insufficient Permissions]`.
ROW = re.compile(r"([1-9][0-9]{0,9}), (\S.*)")

#: What it says instead, mostly on stdout, and the word for it.
ERRORS = (
    ("no_driver", re.compile(r"couldn't communicate with the NVIDIA driver")),
    ("no_devices", re.compile(r"No devices were found")),
    ("driver_mismatch", re.compile(r"Driver/library version mismatch")),
    ("failed", re.compile(r"Failed to initialize NVML|Unable to determine the device handle")),
    ("tool_missing", re.compile(r"nvidia-smi'?: (?:command )?(?:not found|No such file)")),
)


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
    for line in lines:
        for kind, pattern in ERRORS:
            if pattern.search(line) and not ROW.fullmatch(line):
                raise ToolError(kind, printable(line)[:200])
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
