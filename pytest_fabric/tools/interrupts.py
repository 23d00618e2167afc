"""/proc/interrupts and /proc/irq/*/effective_affinity_list: which CPUs serve which interrupt.

Rows are those of `show_interrupts` in kernel/irq/proc.c; columns are the CPUs that are online.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints
from pytest_fabric.tools.printable import printable
from pytest_fabric.tools.sysfs import cpu_list

PATH = "/proc/interrupts"

HEADER = re.compile(r"\s*CPU[0-9]{1,5}(?:\s+CPU[0-9]{1,5})*\s*")
ROW = re.compile(r"\s*([A-Za-z0-9_-]{1,16}):((?:\s+[0-9]{1,20})+)(?:\s+(\S.*))?")
IRQ = re.compile(r"[0-9]{1,10}")

#: Chip, number on the chip, how it triggers, and the actions, behind at least two blanks.
DEVICE = re.compile(r"\S.*?\s[0-9]{1,10}(?:-[a-z_-]+|\s+(?:Edge|Level)(?:-\S+)?)(?:\s+(\S.*))?")
AFFINITY = re.compile(
    r"/proc/irq/([0-9]{1,10})/(?:effective_affinity_list|smp_affinity_list):"
    r"((?:[0-9]{1,5}[,-])*[0-9]{1,5})?"
)


@dataclass(frozen=True)
class Interrupt:
    """An interrupt: `irq` is its number, None for those of the CPU such as `NMI`.

    `counts` are by CPU, in the order of `cpus`; both are empty for a count of the whole machine
    such as `ERR`. `name` is the device's, or what the kernel says of an interrupt of the CPU.
    """

    label: str
    irq: int | None
    name: str | None
    total: int
    cpus: tuple[int, ...]
    counts: tuple[int, ...]


def command() -> tuple[str, ...]:
    """Return the command line that shows the interrupts of a node."""
    return ("cat", PATH)


def affinity_command() -> tuple[str, ...]:
    """Return the words in front of the affinity files."""
    return ("grep", "-sH", ".")


def parse(text: str) -> list[Interrupt]:
    """Return the interrupts in the order in which they are shown.

    Raises ToolError when the file cannot be read, NotRecognisedError for any other text.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    complaints.check("\n".join(lines), row=ROW)
    if not lines or not text.endswith("\n") or not HEADER.fullmatch(lines[0]):
        raise NotRecognisedError(f"expected CPU columns and whole lines, got {text[:80].strip()!r}")
    cpus = tuple(int(word.removeprefix("CPU")) for word in lines[0].split())
    found = [_interrupt(line, cpus) for line in lines[1:]]
    if not found or len({row.label for row in found}) != len(found):
        raise NotRecognisedError("expected interrupts, each of them once")
    return found


def _interrupt(line: str, cpus: tuple[int, ...]) -> Interrupt:
    match = ROW.fullmatch(line.rstrip())
    if match is None:
        raise NotRecognisedError(f"expected an interrupt with its counts, got {line[:80]!r}")
    numbers, text = match[2].split(), match[3] or ""
    if len(numbers) > len(cpus):
        # A text that starts with numbers was taken for counts.
        text = " ".join([*numbers[len(cpus) :], text])
    counts = tuple(int(number) for number in numbers[: len(cpus)])
    is_global = len(counts) == 1 and not text and not IRQ.fullmatch(match[1])
    if len(counts) != len(cpus) and not is_global:
        raise NotRecognisedError(f"expected {len(cpus)} counts of {match[1]}, got {len(counts)}")
    return Interrupt(
        label=match[1],
        irq=int(match[1]) if IRQ.fullmatch(match[1]) else None,
        name=_name(match[1], text),
        total=sum(counts),
        cpus=() if is_global else cpus,
        counts=() if is_global else counts,
    )


def _name(label: str, text: str) -> str | None:
    """Return the actions of a device's interrupt; None when there is none."""
    if IRQ.fullmatch(label):
        device = DEVICE.fullmatch(text)
        parts = re.split(r"\s{2,}", text)
        text = device[1] or "" if device else parts[-1] if len(parts) > 1 else ""
    return printable(text) or None


def affinities(text: str) -> dict[int, tuple[int, ...]]:
    """Return IRQ -> CPUs of `grep -sH . /proc/irq/*/effective_affinity_list`.

    An IRQ that no CPU serves has none; a node without such files gives nothing. Raises
    NotRecognisedError for any other line, also for one that is cut off.
    """
    matches = [AFFINITY.fullmatch(line) for line in text.split("\n") if line]
    if (text and not text.endswith("\n")) or None in matches:
        raise NotRecognisedError("expected lines such as /proc/irq/77/effective_affinity_list:34")
    return {int(match[1]): _cpus(match[2] or "") for match in matches if match}


def _cpus(text: str) -> tuple[int, ...]:
    """Return the CPUs of a list that the kernel wrote: it ascends, so it cannot be endless."""
    numbers = [int(number) for number in re.findall(r"[0-9]+", text)]
    cpus = cpu_list(text) if numbers == sorted(set(numbers)) else ()
    if text and not cpus:
        raise NotRecognisedError(f"expected CPUs such as 0-3,8, got {text[:80]!r}")
    return cpus


def records(text: str) -> list[dict[str, object]]:
    """Return the interrupts as plain records."""
    return [
        {
            "label": row.label,
            "irq": row.irq,
            "name": row.name,
            "total": row.total,
            "cpus": list(row.cpus),
            "counts": list(row.counts),
        }
        for row in parse(text)
    ]
