"""What a section of a topic's job has said: what its parser makes of it, or why not.

Only a command that came to its end, well, with a text that is recognised as a whole, has a value;
of everything else there is one line with the remedy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from pytest_fabric.errors import FabricError, ToolError
from pytest_fabric.results import Fact
from pytest_fabric.tools import sysfs
from pytest_fabric.tools.printable import printable
from pytest_fabric.transport import Outcome

T = TypeVar("T")
Outcomes = Mapping[str, Outcome]

#: The package of each program, as Debian calls it.
PACKAGES = {
    "all_reduce_perf": "nccl-tests built with MPI=1, and Open MPI",
    "dcb": "iproute2 5.11 or newer",
    "devlink": "iproute2",
    "dmesg": "util-linux",
    "iblinkinfo": "infiniband-diags",
    "lldpcli": "lldpd",
    "lldptool": "lldpad",
    "lspci": "pciutils",
    "mlnx_qos": "mlnx-tools",
    "mlxlink": "MFT, or mstflint for mstlink",
    "mstlink": "mstflint, or MFT for mlxlink",
    "sminfo": "infiniband-diags",
}

#: What mends what a tool complains about, by the kind of the complaint.
REMEDIES = {
    "no_umad": "load ib_umad; where /dev/infiniband/umad* belongs to root, {root}",
    "not_running": "start its daemon, as with `systemctl enable --now {package}`",
    "no_devlink": "the kernel has no devlink, see not_available",
    "not_supported": "the driver does not tell, see not_available",
    "module_not_readable": "the cage is empty, or the module does not answer: reseat it",
}

BY_HAND = "run it on the node by hand"


class Unread(FabricError):
    """What a command did not say: one line with its remedy; `kind` is the word of a ToolError."""

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Heard(Generic[T]):
    """What a parser made of an output, or the problem; `kind` is the word of a ToolError."""

    value: T | None
    problem: str = ""
    kind: str = ""

    @property
    def nothing(self) -> Fact:
        """Return the fact that cannot be told."""
        return Fact(None, self.problem or "it was not read")


def heard(
    outcomes: Outcomes,
    section: str,
    program: str,
    parse: Callable[[str], T],
    *,
    strict: bool = False,
) -> Heard[T]:
    """Return what a section said, as `read` does, or the problem."""
    try:
        return Heard(read(outcomes, section, program, parse, strict=strict))
    except Unread as error:
        return Heard(None, str(error), error.kind)


def read(
    outcomes: Outcomes,
    section: str,
    program: str,
    parse: Callable[[str], T],
    *,
    strict: bool = False,
) -> T:
    """Return what a section's output says. Raises Unread.

    With `strict` the complaints of a command that ended well count too: some tools end so although
    a part did not answer.
    """
    outcome = outcomes.get(section)
    if outcome is None:
        raise Unread(f"{program} was not run: the name of the device is none that can be sent")
    if not is_complete(outcome):
        end = "too much output" if outcome.end == "exit" else outcome.end
        raise Unread(f"{program} did not come to its end ({end}): {BY_HAND}")
    is_well = outcome.status == 0 and outcome.stdout.strip() != ""
    text = outcome.stdout if is_well and not strict else outcome.stdout + outcome.stderr
    try:
        found = parse(text)
    except ToolError as error:
        raise Unread(_told(program, error), error.kind) from error
    except FabricError as error:
        if outcome.status == 0:
            raise Unread(f"{program}: {_line(str(error))}: {BY_HAND}") from error
    else:
        if is_well:
            return found
    said = _line(outcome.stderr) or _line(outcome.stdout) or "it printed nothing"
    raise Unread(f"{program} ended with status {outcome.status}: {said}: {BY_HAND}")


def is_complete(outcome: Outcome) -> bool:
    """Return whether a command came to its end, with all that it printed."""
    return outcome.end == "exit" and not outcome.truncated


def tree(outcomes: Outcomes, section: str) -> dict[str, str]:
    """Return path -> value of a section's `grep`, nothing where it did not come to its end.

    Its status tells nothing: it is bad wherever one of many files is missing.
    """
    outcome = outcomes.get(section)
    return sysfs.parse(outcome.stdout) if outcome is not None and is_complete(outcome) else {}


def problem(message: str, remedy: str = "") -> Fact:
    """Return a fact that cannot be told, in one line fit to be shown."""
    line = _line(message)
    return Fact(None, f"{line}: {remedy}" if remedy else line)


def root_advice(program: str) -> str:
    """Return how a program that needs root is let run: in the profile, and in sudoers."""
    return (
        f"add `sudo: [{program}]` to the profile, and with visudo the lines that `pytest-fabric "
        "sudoers` prints"
    )


def _told(program: str, error: ToolError) -> str:
    """Return a complaint with what mends it."""
    package = PACKAGES.get(program, program)
    if error.kind == "tool_missing":
        return f"{program} is not installed: install {package}"
    complaint = _line(str(error))
    if error.kind == "permission":
        return f"{program} needs root ({complaint}): {root_advice(program)}"
    remedy = REMEDIES.get(error.kind, BY_HAND).format(package=package, root=root_advice(program))
    return f"{program}: {complaint}: {remedy}"


def _line(text: str) -> str:
    return printable(" ".join(text.split()))[:200]
