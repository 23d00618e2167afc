"""Perftest's command line: names, defaults and refusals of the real parser."""

from __future__ import annotations

import getopt
import re
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_fabric.errors import FabricError

PROGRAMS = tuple(
    f"ib_{verb}_{kind}" for verb in ("write", "read", "send") for kind in ("lat", "bw")
)

DEFAULT_PORT = 18515

_SHORT = "Vd:i:p:x:s:n:D:q:S:c:Fb"
_LONG = [
    "version",
    "ib-dev=",
    "ib-port=",
    "port=",
    "gid-index=",
    "size=",
    "iters=",
    "duration=",
    "qp=",
    "sl=",
    "connection=",
    "CPU-freq",
    "tclass=",
    "report_gbits",
    "bidirectional",
    "use_cuda_bus_id=",
    "use_cuda_dmabuf",
    "use_rocm=",
    "use_rocm_dmabuf",
    "ipv6-addr",
]
_SAME = {
    "--version": "-V",
    "--ib-dev": "-d",
    "--ib-port": "-i",
    "--port": "-p",
    "--gid-index": "-x",
    "--size": "-s",
    "--iters": "-n",
    "--duration": "-D",
    "--qp": "-q",
    "--sl": "-S",
    "--connection": "-c",
    "--CPU-freq": "-F",
    "--bidirectional": "-b",
}


#: The first version that moves itself to the NUMA node of its device unless it is told not to.
BINDS_ITSELF = (6, 28)


#: How queue pairs can be connected in the lab.
CONNECTIONS = ("RC", "SRD")


class UsageError(FabricError):
    """The command line is refused; the text is what perftest prints on stderr."""


@dataclass(frozen=True)
class Options:
    """What a run is asked for; `address` is None for a server.

    `gpu` is the GPU in whose memory messages lie: a PCI address, of ROCm its number.
    """

    program: str
    device: str | None
    ib_port: int
    port: int
    gid_index: int | None
    size: int
    iterations: int
    duration: int | None
    qps: int
    traffic_class: int
    gigabits: bool
    address: str | None
    is_version: bool
    is_both: bool = False
    gpu: str | None = None
    is_dmabuf: bool = False
    is_ipv6: bool = False
    binds_itself: bool = True
    connection: str = "RC"

    @property
    def verb(self) -> str:
        """What is measured: write, read or send."""
        return self.program.split("_")[1]

    @property
    def is_latency(self) -> bool:
        """Whether latency is measured and not bandwidth."""
        return self.program.endswith("_lat")

    def shape(self) -> tuple[object, ...]:
        """Return what both ends must have in common; they hang when it differs."""
        return (
            self.program,
            self.size,
            self.iterations,
            self.duration,
            self.qps,
            self.is_both,
            self.connection,
        )


def parse(argv: Sequence[str], version: tuple[int, ...]) -> Options:
    """Return the options of a command line. Raises UsageError with perftest's own words."""
    program = argv[0].rpartition("/")[2]
    is_latency = program.endswith("_lat")
    try:
        pairs, words = getopt.gnu_getopt(list(argv[1:]), _SHORT, _long(version))
    except getopt.GetoptError as error:
        raise UsageError(f"{argv[0]}: the lab does not know this: {error}\n") from error
    given: dict[str, str] = {}
    for name, value in pairs:
        name = _SAME.get(name, name)
        if name.endswith("_dmabuf") and not _has_gpu(given):
            raise UsageError("CUDA DMA-BUF cannot be used without CUDA\n")
        if name in given and version >= (6, 13):
            raise UsageError(
                f" Duplicated argument: {name.lstrip('-') if '--' in name else name}\n"
            )
        given[name] = value
    if given.get("-c", "RC") not in CONNECTIONS:
        raise UsageError(f"{argv[0]}: the lab knows the connections {', '.join(CONNECTIONS)}\n")
    if "-q" in given and is_latency:
        raise UsageError(" Multiple QPs only available on bw tests\n")
    if "-b" in given and is_latency:
        raise UsageError(" Bidirectional is only available in BW test\n")
    if is_latency and _has_gpu(given):
        raise UsageError(" Perftest supports CUDA latency tests with read/send verbs only\n")
    usual = 5000 if program == "ib_write_bw" else 1000
    return Options(
        program=program,
        device=given.get("-d"),
        ib_port=_number(given.get("-i", "1"), 1, 3, "IB Port"),
        port=_number(given.get("-p", str(DEFAULT_PORT)), 0, 65535, "Port"),
        gid_index=_number(given["-x"], 0, 64, "Gid index") if "-x" in given else None,
        size=_size(given.get("-s", "2" if is_latency else "65536")),
        iterations=_number(given.get("-n", str(usual)), 5, 2**32 - 1, "Iteration num"),
        duration=_number(given["-D"], 1, 10**6, "Duration period") if "-D" in given else None,
        qps=_number(given.get("-q", "1"), 1, 16384, "num of Qps"),
        traffic_class=_number(given.get("--tclass", "0"), 0, 255, "Traffic Class"),
        gigabits="--report_gbits" in given,
        address=words[0] if words else None,
        is_version="-V" in given,
        is_both="-b" in given,
        gpu=given.get("--use_cuda_bus_id", given.get("--use_rocm")),
        is_ipv6="--ipv6-addr" in given,
        is_dmabuf=any(name.endswith("_dmabuf") for name in given),
        binds_itself="--disable_numa" not in given,
        connection=given.get("-c", "RC"),
    )


def _has_gpu(given: dict[str, str]) -> bool:
    return "--use_cuda_bus_id" in given or "--use_rocm" in given


def _long(version: tuple[int, ...]) -> list[str]:
    """Return the long options of a version, as far as the lab knows them."""
    return [*_LONG, "disable_numa"] if version >= BINDS_ITSELF else _LONG


def _number(text: str, low: int, high: int, name: str) -> int:
    try:
        value = int(text, 0)
    except ValueError:
        raise UsageError(f" {name} should be a number, got {text}\n") from None
    if not low <= value <= high:
        raise UsageError(f" {name} should be between {low} and {high}\n")
    return value


def _size(text: str) -> int:
    """Return a message size; only the upper-case suffixes count, as in the real parser."""
    match = re.match(r"\d+", text)
    size = int(match.group()) if match else 0
    size *= {"K": 2**10, "M": 2**20}.get(text[match.end() : match.end() + 1] if match else "", 1)
    if not 1 <= size <= 2**31:
        raise UsageError(f" Message Size should be between 1 and {2**31}\n")
    return size
