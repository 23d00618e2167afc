"""Why a tool of a node told nothing, in one line with its remedy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from pytest_fabric.errors import FabricError, ToolError
from pytest_fabric.results import Fact
from pytest_fabric.transport import Outcome

T = TypeVar("T")

#: The packages of the programs, as Debian and the RPM distributions call them.
PACKAGES = {
    "lldpcli": "lldpd",
    "lldptool": "lldpad",
    "sminfo": "infiniband-diags",
    "iblinkinfo": "infiniband-diags",
}

#: What mends what a tool complains about, by the kind of the complaint.
REMEDIES = {
    "permission": "let it run as root: add {program} to `sudo` of the profile, and the line that "
    "`pytest-fabric check` prints to sudoers",
    "no_umad": "load ib_umad; where /dev/infiniband/umad* belongs to root, add {program} to "
    "`sudo` of the profile",
    "not_running": "start its daemon, as with `systemctl enable --now {package}`",
}


class Unread(FabricError):
    """What a tool did not say; the message is one line with its remedy."""


def read(
    program: str,
    outcomes: Mapping[str, Outcome],
    section: str,
    parse: Callable[[str], T],
    *,
    is_whole: bool = False,
) -> T:
    """Return what a section's text says; with `is_whole` the tool's complaints count too.

    Some tools end well although a part did not answer. Raises Unread.
    """
    outcome = outcomes.get(section)
    if outcome is None:
        raise Unread(f"{program} was not run: the name of the device is none that can be sent")
    if outcome.end != "exit" or outcome.truncated:
        raise Unread(f"{program} did not come to its end on the node: run it there by hand")
    text = outcome.stdout
    if is_whole or outcome.status != 0:
        text += outcome.stderr
    try:
        return parse(text)
    except ToolError as error:
        raise Unread(f"{program}: {told(program, error)}") from error
    except FabricError as error:
        raise Unread(f"{program}: {error}: run it on the node by hand") from error


def told(program: str, error: ToolError) -> str:
    """Return a complaint with what mends it."""
    package = PACKAGES[program]
    if error.kind == "tool_missing":
        return f"not installed: install {package}"
    remedy = REMEDIES.get(error.kind, "run it on the node by hand")
    return f"{error}: {remedy.format(program=program, package=package)}"


def kind_of(error: Unread) -> str | None:
    """Return the kind of the complaint behind what was not read, or None where there is none."""
    return error.__cause__.kind if isinstance(error.__cause__, ToolError) else None


def unread(metrics: Mapping[str, str], problem: str) -> dict[str, Fact]:
    """Return the problem in place of each metric."""
    return {metric: Fact(None, problem) for metric in metrics}
