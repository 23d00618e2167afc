"""`nvidia-smi topo -m`: how near GPUs and NICs are to each other, and to the CPUs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints
from pytest_fabric.tools.nvidia_complaints import KNOWN
from pytest_fabric.tools.plain import plain
from pytest_fabric.tools.printable import printable

#: The titles are underlined on a terminal, with some drivers in a pipe too.
UNDERLINE = re.compile(r"\x1b\[[0-9;]*m")

#: Titles of the columns behind the matrix hold blanks; older drivers have fewer of them.
AFFINITY = re.compile(r"(?:^|\s+)(CPU Affinity|NUMA Affinity|GPU NUMA ID)")
DEVICE = re.compile(r"[A-Za-z][\w.-]{0,40}", re.ASCII)
PATH = re.compile(r"X|SYS|SOC|NODE|PHB|PXB|PIX|PSB|C2C|NV[0-9]{1,2}|N/A")
CPUS = re.compile(r"[0-9]+(?:[-,][0-9]+)*|N/A")
NUMBER = re.compile(r"[0-9]{1,6}(?:[-,][0-9]+)*|N/A")
NIC = re.compile(r"NIC[0-9]+")
LEGEND = re.compile(r"(?:NIC )?Legend:|\s+(?:[A-Z0-9#]{1,5} +=|NIC[0-9]+:) .*")
NAMED = re.compile(r"\s+(NIC[0-9]+): (\S+)")


@dataclass(frozen=True)
class Device:
    """A row of the matrix: `paths` leads to each of `peers`, in the same order.

    Nearest first: `NV#`, `PIX`, `PXB`, `PHB`, `NODE`, `SYS`. `rdma_device` is the RDMA device of a
    NIC; NICs have no affinity here. None stands for what the driver does not know. `complete` is
    True when all rows and all names were there, and None when some may have been cut off.
    """

    device: str
    rdma_device: str | None
    peers: tuple[str, ...]
    paths: tuple[str | None, ...]
    cpu_affinity: str | None
    numa_affinity: str | None
    gpu_numa_id: str | None
    complete: bool | None


def command() -> tuple[str, ...]:
    """Return the command line that shows the matrix."""
    return ("nvidia-smi", "topo", "-m")


def parse(text: str) -> list[Device]:
    """Return every GPU and NIC of the matrix.

    Each row is whole, but some may be missing at the end: then none is `complete`. Raises ToolError
    when the tool cannot tell, NotRecognisedError for any other text.
    """
    lines = [UNDERLINE.sub("", line).rstrip(" \r") for line in text.split("\n")]
    place = next((at for at, line in enumerate(lines) if re.match(r"\s+[A-Za-z]\w*\s", line)), None)
    titles = _titles(lines[place]) if place is not None else None
    if place is None or titles is None or not text.endswith("\n"):
        complaints.check(text, KNOWN)
        raise NotRecognisedError(f"expected the matrix of GPUs and NICs, got {text.strip()[:80]!r}")
    names, affinities = titles
    if any(line.strip() for line in lines[:place]):
        raise NotRecognisedError(f"expected nothing above the matrix, got {lines[0][:80]!r}")
    below = [line for line in lines[place + 1 :] if line.strip()]
    rows = [line for line in below if not LEGEND.fullmatch(line)]
    legend = {match[1]: match[2] for line in below if (match := NAMED.fullmatch(line))}
    if not 0 < len(rows) <= len(names):
        raise NotRecognisedError(f"expected up to {len(names)} rows, got {len(rows)}")
    known = all(name in legend for name in names if NIC.fullmatch(name))
    complete = known and len(rows) == len(names)
    return [
        _device(row, name, (names, affinities), legend, complete or None)
        for row, name in zip(rows, names, strict=False)
    ]


def _titles(line: str) -> tuple[list[str], list[str]] | None:
    """Return the devices and the further titles of the first line; None when it is another."""
    affinities = AFFINITY.findall(line)
    names = AFFINITY.sub(" ", line).split()
    whole = all(DEVICE.fullmatch(name) for name in names) and len(set(names)) == len(names)
    return (names, affinities) if whole and names and names[0].startswith("GPU") else None


def _device(
    row: str,
    name: str,
    titles: tuple[list[str], list[str]],
    legend: dict[str, str],
    complete: bool | None,
) -> Device:
    names, affinities = titles
    words = row.split()
    paths = words[1 : len(names) + 1]
    known = all(PATH.fullmatch(path) for path in paths) and len(paths) == len(names)
    if words[:1] != [name] or not known or paths[names.index(name)] != "X":
        raise NotRecognisedError(f"expected the row of {name}, got {row.strip()[:80]!r}")
    told = dict(zip(affinities, _affinities(row, len(names), len(affinities)), strict=True))
    others = [(peer, path) for peer, path in zip(names, paths, strict=True) if peer != name]
    return Device(
        device=name,
        rdma_device=_rdma_device(name, legend),
        peers=tuple(peer for peer, _ in others),
        paths=tuple(None if path == "N/A" else path for _, path in others),
        cpu_affinity=_known(told.get("CPU Affinity"), CPUS),
        numa_affinity=_known(told.get("NUMA Affinity"), NUMBER),
        gpu_numa_id=_known(told.get("GPU NUMA ID"), NUMBER),
        complete=complete,
    )


def _rdma_device(name: str, legend: dict[str, str]) -> str | None:
    """Return the RDMA device of a NIC; older drivers have its name in the matrix."""
    if name.startswith("GPU"):
        return None
    return printable(legend[name]) if name in legend else None if NIC.fullmatch(name) else name


def _affinities(row: str, devices: int, wanted: int) -> list[str | None]:
    """Return the cells behind the matrix; the one before the last title is empty and has none."""
    cells = [cell.strip() for cell in row.split("\t")]
    if len(cells) > devices:
        behind = cells[devices + 1 :]
        if cells[0].startswith("GPU") and len(behind) < wanted:
            raise NotRecognisedError(f"expected {wanted} cells behind the matrix: {row[-80:]!r}")
        if len(behind) > 2 and not behind[2]:
            del behind[2]
    else:
        behind = row.split()[devices + 1 :]
        if len(behind) not in (0, wanted):
            raise NotRecognisedError(f"expected {wanted} cells behind the matrix: {row[-80:]!r}")
    while behind and not behind[-1]:
        behind.pop()
    if len(behind) > wanted:
        raise NotRecognisedError(f"expected {wanted} cells behind the matrix: {row[-80:]!r}")
    return [*(cell or None for cell in behind), *[None] * (wanted - len(behind))]


def _known(cell: str | None, pattern: re.Pattern[str]) -> str | None:
    if cell is not None and not pattern.fullmatch(cell):
        raise NotRecognisedError(f"expected CPUs or NUMA nodes, got {cell[:80]!r}")
    return None if cell == "N/A" else cell


def records(text: str) -> list[dict[str, object]]:
    """Return the rows as plain records."""
    return [plain(device) for device in parse(text)]
