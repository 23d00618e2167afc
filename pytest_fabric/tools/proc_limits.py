"""/proc/self/limits, or `ulimit -l`: how much memory a process may lock.

RDMA memory is locked, so that a small limit makes every registration fail. The limits of a session
can be others than those of a job: it must be read where the tests run.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints

PATH = "/proc/self/limits"

VALUE = r"(unlimited|[0-9]{1,20})"
ROW = re.compile(rf"(?:/proc/(?:self|[0-9]+)/limits:)?Max ([a-z ]+?)\s+{VALUE}\s+{VALUE}(?:\s.*)?")
LOCKED = re.compile(
    rf"(?:/proc/(?:self|[0-9]+)/limits:)?Max locked memory\s+{VALUE}\s+{VALUE}\s+bytes\s*"
)
TITLE = re.compile(r"(?:/proc/(?:self|[0-9]+)/limits:)?Limit\s+Soft Limit\s+Hard Limit\s+Units\s*")

#: `ulimit -l` prints KiB, `prlimit --memlock --noheadings -o SOFT,HARD` bytes.
ULIMIT = re.compile(r"(unlimited|[0-9]{1,15})\n")
PRLIMIT = re.compile(rf" *{VALUE} +{VALUE} *\n")


@dataclass(frozen=True)
class LockedMemory:
    """The limits of locked memory; bytes are None where there is no limit, or it is not shown.

    `*_unlimited` tells the two apart: it is None where the limit is not shown.
    """

    locked_memory_soft_bytes: int | None
    locked_memory_soft_unlimited: bool | None
    locked_memory_hard_bytes: int | None
    locked_memory_hard_unlimited: bool | None


def command() -> tuple[str, ...]:
    """Return the command line that shows the limits of a process started like it."""
    return ("cat", PATH)


def parse(text: str) -> LockedMemory:
    """Return the limits of locked memory.

    Raises ToolError when the file cannot be read, NotRecognisedError for any other text, also
    when a line is cut off.
    """
    ulimit, prlimit = ULIMIT.fullmatch(text), PRLIMIT.fullmatch(text)
    if ulimit:
        soft = ulimit[1] if ulimit[1] == "unlimited" else str(int(ulimit[1]) * 1024)
        return _locked(soft, None)
    if prlimit:
        return _locked(prlimit[1], prlimit[2])
    complaints.check(text, row=ROW)
    lines = [line for line in text.split("\n") if line.strip()]
    found = [match for line in lines if (match := LOCKED.fullmatch(line))]
    strange = [line for line in lines if not ROW.fullmatch(line) and not TITLE.fullmatch(line)]
    if strange or len(found) != 1 or not text.endswith("\n"):
        raise NotRecognisedError(f"expected 'Max locked memory' in bytes, got {text[:80]!r}")
    return _locked(found[0][1], found[0][2])


def _locked(soft: str, hard: str | None) -> LockedMemory:
    return LockedMemory(
        locked_memory_soft_bytes=None if soft == "unlimited" else int(soft),
        locked_memory_soft_unlimited=soft == "unlimited",
        locked_memory_hard_bytes=None if hard in (None, "unlimited") else int(hard or 0),
        locked_memory_hard_unlimited=None if hard is None else hard == "unlimited",
    )


def records(text: str) -> list[dict[str, object]]:
    """Return the limits as one plain record."""
    return [asdict(parse(text))]
