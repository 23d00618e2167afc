"""What a section of a topic's job has said: what its parser makes of it, or a problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.results import Fact
from pytest_fabric.transport import Outcome

T = TypeVar("T")

#: The package of each program, on Debian and its like.
PACKAGES = {
    "ethtool": "ethtool",
    "lspci": "pciutils",
    "mlxlink": "MFT, or mstflint for mstlink",
    "mstlink": "mstflint, or MFT for mlxlink",
}


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
    outcomes: Mapping[str, Outcome], section: str, program: str, parse: Callable[[str], T]
) -> Heard[T]:
    """Return what a program said in a section."""
    outcome = outcomes.get(section)
    if outcome is None:
        return Heard(None, f"{program} was not asked")
    if outcome.end != "exit":
        return Heard(None, f"{program} did not answer in time ({outcome.end}): run it by hand")
    # What ended well may warn beside its output; what did not tells why there.
    is_well = outcome.status == 0 and outcome.stdout != ""
    text = outcome.stdout if is_well else outcome.stdout + outcome.stderr
    try:
        if not is_well and not text.strip():
            return Heard(None, f"{program} said nothing (exit status {outcome.status})")
        return Heard(parse(text))
    except ToolError as error:
        return Heard(None, _remedy(program, error), error.kind)
    except NotRecognisedError as error:
        return Heard(None, f"{program}: {error}")


def _remedy(program: str, error: ToolError) -> str:
    if error.kind == "tool_missing":
        return f"{program} is not installed: install {PACKAGES.get(program, program)}"
    if error.kind == "permission":
        return f"{program} needs root ({error}): add it to `sudo` of the profile, and to sudoers"
    return f"{program}: {error}"
