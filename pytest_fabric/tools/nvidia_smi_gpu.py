"""`nvidia-smi --query-gpu`: each GPU's place on PCI Express and the link it has there."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints
from pytest_fabric.tools.nvidia_complaints import KNOWN
from pytest_fabric.tools.plain import plain
from pytest_fabric.tools.printable import printable

#: What is asked for, in this order: a text without titles must have just these.
FIELDS = (
    *("index", "pci.bus_id", "name", "uuid", "driver_version"),
    *("pcie.link.gen.current", "pcie.link.gen.max"),
    *("pcie.link.width.current", "pcie.link.width.max"),
)
#: Other names of the same fields.
ALIASES = {
    "gpu_bus_id": "pci.bus_id",
    "gpu_name": "name",
    "gpu_uuid": "uuid",
    "pcie.link.gen.gpucurrent": "pcie.link.gen.current",
}
TITLE = re.compile(r"[a-z][a-z0-9_.]*(?: \[[A-Za-z%/]+\])?")
BUS = re.compile(r"([0-9A-Fa-f]{4,8}):([0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7])")
NUMBER = re.compile(r"[0-9]{1,4}")

#: Not known: `[N/A]`, `[Not Supported]`, `[Unknown Error]`, `[GPU is lost]`, ...
NONE = re.compile(r"\[.*\]|N/A|")


@dataclass(frozen=True)
class Gpu:
    """A GPU; a link that is idle may show a low generation, which is no fault.

    `pci_bus_id` is written as in sysfs: at least four digits of domain, small letters.
    """

    pci_bus_id: str
    index: int | None
    name: str | None
    uuid: str | None
    driver_version: str | None
    link_gen_current: int | None
    link_gen_max: int | None
    link_width_current: int | None
    link_width_max: int | None


def command() -> tuple[str, ...]:
    """Return the command line that shows every GPU, with titles."""
    return ("nvidia-smi", f"--query-gpu={','.join(FIELDS)}", "--format=csv,nounits")


def parse(text: str) -> list[Gpu]:
    """Return the GPUs, from a text with titles, or one without that has all of `FIELDS`.

    Raises ToolError when the tool cannot tell, NotRecognisedError for any other text, also when
    a line is cut off or a GPU has no PCI address.
    """
    complaints.check(text, KNOWN, row=re.compile(r"[0-9]+, .*"))
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines or not text.endswith("\n"):
        raise NotRecognisedError(f"expected whole lines of GPUs, got {text.strip()[:80]!r}")
    try:
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, skipinitialspace=True)]
    except csv.Error as error:
        raise NotRecognisedError(f"expected comma-separated values: {error}") from None
    titles = _titles(rows[0])
    return [_gpu(row, titles or FIELDS) for row in rows[1 if titles else 0 :]]


def _titles(row: list[str]) -> tuple[str, ...] | None:
    if not all(TITLE.fullmatch(cell) for cell in row):
        return None
    names = [cell.partition(" [")[0] for cell in row]
    return tuple(ALIASES.get(name, name) for name in names)


def _gpu(row: list[str], titles: tuple[str, ...]) -> Gpu:
    told = dict(zip(titles, row, strict=False))
    bus = BUS.fullmatch(told.get("pci.bus_id", ""))
    if len(row) != len(titles) or len(told) != len(row) or bus is None:
        raise NotRecognisedError(f"expected {', '.join(titles)[:90]}, got {', '.join(row)[:90]!r}")
    return Gpu(
        pci_bus_id=f"{int(bus[1], 16):04x}:{bus[2].lower()}",
        index=_number(told, "index"),
        name=_word(told, "name"),
        uuid=_word(told, "uuid"),
        driver_version=_word(told, "driver_version"),
        link_gen_current=_number(told, "pcie.link.gen.current"),
        link_gen_max=_number(told, "pcie.link.gen.max"),
        link_width_current=_number(told, "pcie.link.width.current"),
        link_width_max=_number(told, "pcie.link.width.max"),
    )


def _word(told: dict[str, str], field: str) -> str | None:
    cell = told.get(field, "")
    return None if NONE.fullmatch(cell) else printable(cell)


def _number(told: dict[str, str], field: str) -> int | None:
    cell = _word(told, field)
    if cell is not None and not NUMBER.fullmatch(cell):
        raise NotRecognisedError(f"expected {field} as a number, got {cell[:60]!r}")
    return None if cell is None else int(cell)


def records(text: str) -> list[dict[str, object]]:
    """Return the GPUs as plain records."""
    return [plain(gpu) for gpu in parse(text)]
