"""Words and numbers that the InfiniBand tools share, spelt here as the kernel spells them.

States are those of sysfs; the tools write Initializing, Initialize or INIT, LinkUp or LINK_UP.
"""

from __future__ import annotations

import re

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools.complaints import Known
from pytest_fabric.tools.sysfs import PHYSICAL_STATES, STATES

NAME = r"[A-Za-z0-9_][A-Za-z0-9_.:@-]*"

_STATES = {word.lower(): word for word in STATES.values()} | {
    "initializing": "INIT",
    "initialize": "INIT",
    "nochange": "NOP",
}
_PHYSICAL = {word.lower(): word for word in PHYSICAL_STATES.values()} | {
    "armed": "PortConfigurationTraining",  # iproute2's word for number 4
    "linkerrorrecover": "LinkErrorRecovery",
}

#: LID 0 is none, 65535 the permissive one of a port that the subnet manager has not reached.
_NO_LID = (0, 0xFFFF)

#: What the tools of infiniband-diags say on stderr, for the most part with status 255.
COMPLAINTS: Known = (
    ("no_umad", re.compile(r"can't init UMAD library|[Cc]an't open UMAD port")),
    ("device_vanished", re.compile(r"stat of IB device '.*' failed")),
    (
        "no_devices",
        re.compile(r"can't list IB device names|Fatal error: +(?:No devices|device '\*')"),
    ),
    ("device_not_found", re.compile(r"IB device can't be found|sys files not found")),
    ("unreachable", re.compile(r"[Dd]iscover failed|can't resolve (?:destination|sm|self) port")),
    ("timeout", re.compile(r"Connection timed out")),
    ("query_failed", re.compile(r"_do_madrpc failed|iberror: .*query$")),
    ("failed", re.compile(r"ibpanic: |iberror: |Failed to open '.*' port")),
)

#: Debug and warning lines, which may stand between any two lines of output.
NOISE = re.compile(r"ibwarn: \[[0-9]+\] .*|ibdebug: .*|libibverbs: Warning: .*")


def state(word: str) -> str | None:
    """Return a port state in the kernel's spelling, such as INIT; None for one that is not told."""
    return _STATES.get(word.strip().lower())


def physical_state(word: str) -> str | None:
    """Return a physical state in the kernel's spelling, such as LinkUp; None for an unknown one."""
    return _PHYSICAL.get(re.sub(r"[ _]", "", word).lower())


def link_layer(word: str) -> str | None:
    """Return InfiniBand or Ethernet, or None for what is neither."""
    known = {"infiniband": "InfiniBand", "ib": "InfiniBand", "ethernet": "Ethernet"}
    return known.get(word.strip().lower())


def lid(number: int) -> int | None:
    """Return a local identifier, or None for the two numbers that stand for none."""
    return None if number in _NO_LID else number


def guid(digits: str) -> str | None:
    """Return a GUID as `0x` and 16 digits; None for zero, which is none.

    Takes hexadecimal digits with or without `0x`, or four groups with colons.
    """
    bare = digits.lower().removeprefix("0x").replace(":", "")
    if not re.fullmatch(r"[0-9a-f]{1,16}", bare):
        raise NotRecognisedError(f"expected a GUID of 16 digits, got {digits[:40]!r}")
    return f"0x{int(bare, 16):016x}" if int(bare, 16) else None


def device(name: str) -> str:
    """Return the name of a device for a command line. Raises ValueError for what is none."""
    if not re.fullmatch(NAME, name):
        raise ValueError(f"device: expected a name such as mlx5_0, got {name!r}")
    return name


def number(name: str, value: int, high: int) -> str:
    """Return a number from 1 to `high` for a command line. Raises ValueError for any other."""
    if type(value) is not int or not 1 <= value <= high:
        raise ValueError(f"{name}: expected a whole number of 1 to {high}, got {value!r}")
    return str(value)


def warnings(text: str) -> tuple[str, ...]:
    """Return what libibverbs warns of."""
    lines = (line.strip() for line in text.split("\n"))
    return tuple(line for line in lines if line.startswith("libibverbs: Warning: "))


def output(text: str) -> list[str]:
    """Return the lines of output, without line ends, blank lines and noise.

    Raises NotRecognisedError for nothing, or a last line that is cut off.
    """
    lines = [line.rstrip() for line in text.split("\n")]
    kept = [line for line in lines if line.strip() and not NOISE.fullmatch(line.strip())]
    if not kept or not text.endswith("\n"):
        raise NotRecognisedError(f"expected whole lines of output, got {text.strip()[:80]!r}")
    return kept
