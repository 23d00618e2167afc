"""perftest: `ib_write_lat` and its relatives, their command lines and what they print.

Parse the client's output: most servers print the client's numbers again, some print none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.metrics import BANDWIDTH_TOOLS, LATENCY_TOOLS
from pytest_fabric.results import Bandwidth, Latency
from pytest_fabric.tools import perftest_errors, perftest_json, perftest_table, perftest_text

DEVICE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]")
PEER = re.compile(r"[A-Za-z0-9:][A-Za-z0-9_.:-]*")

#: Ranges that perftest checks, or silently misreads beyond (MIN_ and MAX_ in
#: perftest_parameters.h; sizes are 31 bits).
RANGES = {
    "ib_port": (1, 255),
    "control_port": (1, 65535),
    "size": (1, 2**31 - 1),
    "iterations": (5, 100_000_000),
    "duration_s": (1, 86_400),
    "qps": (1, 16384),
    "gid_index": (0, 64),
    "traffic_class": (0, 255),
    "service_level": (0, 15),
}

BARE_NUMBER = re.compile(r"[0-9]+\.[0-9]{6}")

#: The servers of these only answer (`ib_read_lat` and `ib_atomic_lat`, perftest's read_lat.c).
ROWLESS = re.compile(r"(?:RDMA_Read|Atomic [A-Z_]+) Latency Test")

RATES = ("bytes", "iterations", "average_bps", "peak_bps", "message_rate")

Record = dict[str, object]


@dataclass(frozen=True)
class Run:
    """What one perftest process, or a pasted capture, says; `test` is the title of the test.

    Rows stand in the order in which they were printed: with `--report-both` the total of both
    directions first, then the local and the remote one. `is_server` is known only where the text
    shows that it waited for a client; `beside` is that of perftest_table.Tables.
    """

    test: str | None
    is_server: bool
    qps: int | None
    mtu: int | None
    gid_index: int | None
    link_type: str | None
    device: str | None
    latency: tuple[Latency, ...]
    bandwidth: tuple[Bandwidth, ...]
    warnings: tuple[str, ...]
    beside: tuple[Mapping[str, object], ...] = ()


def command(
    tool: str,
    *,
    device: str,
    ib_port: int,
    control_port: int,
    size: int,
    iterations: int | None = None,
    duration_s: int | None = None,
    qps: int | None = None,
    gid_index: int | None = None,
    traffic_class: int | None = None,
    service_level: int | None = None,
    connection: str | None = None,
    peer: str | None = None,
    disable_numa: bool = False,
    bidirectional: bool = False,
    memory: tuple[str, ...] = (),
    is_ipv6: bool = False,
) -> tuple[str, ...]:
    """Return the command line of a server, or of the client of `peer`.

    Numbers are plain: perftest reads `-s 64k` as 64 bytes. Latency needs iterations, since `-D`
    gives no percentiles; bandwidth takes either. `memory` are options for the memory of GPUs, from
    `cuda_memory` or `rocm_memory`. `is_ipv6` says that the handshake goes to an address of IPv6,
    which both ends must know. `connection` is SRD for devices of EFA, which need an index of their
    GID besides (linux-rdma/perftest#113). Raises ValueError for what perftest would refuse or
    misread.
    """
    numbers = {
        "ib_port": ib_port,
        "control_port": control_port,
        "size": size,
        "iterations": iterations,
        "duration_s": duration_s,
        "qps": qps,
        "gid_index": gid_index,
        "traffic_class": traffic_class,
        "service_level": service_level,
    }
    _check_numbers(numbers)
    _check_words(tool, device, peer)
    _check_length(tool, iterations, duration_s, qps)
    if bidirectional and tool in LATENCY_TOOLS:
        raise ValueError(f"{tool}: expected one direction, since only bandwidth has two at once")
    words = [tool, "-d", device, "-i", str(ib_port), "-p", str(control_port), "-s", str(size)]
    words += [*_option("-n", iterations), "-F", *_option("-x", gid_index)]
    if connection not in (None, "SRD"):
        raise ValueError(f"connection: expected SRD or None, got {connection!r}")
    words += ["-c", connection] if connection else []
    if traffic_class is not None:
        words.append(f"--tclass={traffic_class}")
    words += _option("-S", service_level) + _option("-q", qps) + _option("-D", duration_s)
    words += ["-b"] if bidirectional else []
    words += [*memory, *(["--ipv6-addr"] if is_ipv6 else [])]
    if disable_numa:
        words.append("--disable_numa")
    return (*words, peer) if peer is not None else tuple(words)


def cuda_memory(gpu: str, is_dmabuf: bool) -> tuple[str, ...]:
    """Return the options for the memory of the GPU at a PCI address. Raises ValueError.

    `--use_cuda_dmabuf` comes last: perftest refuses it in front (linux-rdma/perftest#336).
    """
    if not PCI.fullmatch(gpu):
        raise ValueError(f"gpu: expected a PCI address such as 0000:1b:00.0, got {gpu!r}")
    return (f"--use_cuda_bus_id={gpu}", *(["--use_cuda_dmabuf"] if is_dmabuf else []))


def rocm_memory(index: int, is_dmabuf: bool) -> tuple[str, ...]:
    """Return the options for the memory of the GPU with an index of ROCm."""
    return (f"--use_rocm={index}", *(["--use_rocm_dmabuf"] if is_dmabuf else []))


def _option(flag: str, number: int | None) -> list[str]:
    return [] if number is None else [flag, str(number)]


def _check_numbers(numbers: dict[str, int | None]) -> None:
    for name, number in numbers.items():
        low, high = RANGES[name]
        if number is None:
            continue
        if type(number) is not int or not low <= number <= high:
            raise ValueError(f"{name}: expected a whole number of {low} to {high}, got {number!r}")


def _check_words(tool: str, device: str, peer: str | None) -> None:
    if tool not in (*LATENCY_TOOLS, *BANDWIDTH_TOOLS):
        raise ValueError(
            f"tool: expected one of {', '.join((*LATENCY_TOOLS, *BANDWIDTH_TOOLS))}, got {tool!r}"
        )
    if not DEVICE.fullmatch(device):
        raise ValueError(f"device: expected a name such as mlx5_0, got {device!r}")
    if peer is not None and not PEER.fullmatch(peer):
        raise ValueError(f"peer: expected an address or a host name, got {peer!r}")


def _check_length(
    tool: str, iterations: int | None, duration_s: int | None, qps: int | None
) -> None:
    if (iterations is None) == (duration_s is None):
        raise ValueError("expected either iterations or duration_s")
    if tool in LATENCY_TOOLS and iterations is None:
        raise ValueError(f"{tool}: expected iterations, since -D gives no percentiles")
    if tool in LATENCY_TOOLS and qps is not None:
        raise ValueError(f"{tool}: expected no qps, since only bandwidth tests have several")


def parse(text: str, *, json_unit: str | None = None) -> Run:
    """Return the results in what perftest printed, both streams and several tables together.

    A capture is recognised completely or not at all. Raises ToolError when perftest reported an
    error, even after a row, and NotRecognisedError for anything else that is no result.
    `json_unit` is the unit of bandwidth in an `--out_json` file: see perftest_json.
    """
    lines = perftest_text.clean(text)
    words = perftest_text.words(lines)
    perftest_errors.check(words)
    perftest_text.refuse_trouble(words)
    if perftest_text.counts_cycles(lines):
        raise NotRecognisedError("expected times, got CPU cycles (-C): they are no time")
    tables = perftest_table.parse(lines)
    if tables is None:
        return _parse_json(lines, json_unit)
    titles = perftest_text.titles(lines)
    kind = "bandwidth" if tables.bandwidth else "latency"
    if len(titles) > 1 or any(perftest_text.kind(title) != kind for title in titles):
        raise NotRecognisedError("expected one test, got the output of several")
    if not tables.latency and not tables.bandwidth:
        raise NotRecognisedError("expected a result row, got samples only: it is cut off")
    return Run(
        latency=tables.latency,
        bandwidth=tables.bandwidth,
        beside=tables.beside,
        **vars(perftest_text.preamble(lines)),
    )


def find_error(text: str) -> ToolError | None:
    """Return the error that `parse` would raise for what perftest reported, or None."""
    try:
        perftest_errors.check(perftest_text.words(perftest_text.clean(text)))
    except ToolError as error:
        return error
    return None


def _parse_json(lines: tuple[str, ...], unit: str | None) -> Run:
    report = perftest_json.parse(lines, unit)
    if report is None:
        raise NotRecognisedError(_missing(lines))
    return Run(**vars(report), is_server=False, warnings=perftest_text.warnings(lines))


def _missing(lines: tuple[str, ...]) -> str:
    """Say what a text without a table is, as far as that can be told."""
    said = [line.strip() for line in lines]
    told = [line for line in said if not perftest_text.is_warning(line)]
    if not said:
        return "expected the output of perftest, got nothing"
    if told and all(BARE_NUMBER.fullmatch(line) for line in told):
        return "expected a table, got a bare number (--output): it has no unit"
    if perftest_text.titles(lines) or any("Waiting for client" in line for line in said):
        return "expected a result row, got none: a server, or a run that did not end"
    return f"expected the output of perftest, got {said[0][:80]!r}"


def find_version(text: str) -> str | None:
    """Return the version that a capture shows (`Version: 6.29`), or None."""
    return perftest_text.version(perftest_text.clean(text))


def find_warnings(text: str) -> tuple[str, ...]:
    """Return the lines that warn: they change no result, and belong beside it."""
    return perftest_text.warnings(perftest_text.clean(text))


def parse_version(text: str) -> str:
    """Return what `-V` prints: the internal version, 6.29 for the package 26.04.

    Its exit status is 1. Raises ToolError when the tool is missing, NotRecognisedError otherwise.
    """
    lines = perftest_text.clean(text)
    version = perftest_text.version(lines)
    if version is None:
        perftest_errors.check(lines)
        raise NotRecognisedError(f"expected 'Version: 6.29' or the like, got {text.strip()[:80]!r}")
    return version


def records(text: str) -> list[Record]:
    """Return the results of a capture as plain records, with what options add to a row.

    There are none for the output of `-V` alone, and for a whole one of a server of `ib_read_lat`
    or `ib_atomic_lat`, which print none. The file of `--output=bandwidth` gives its `bw_avg` as it
    is, in a unit and of a size that it does not tell.
    """
    lines = perftest_text.clean(text)
    if (len(lines) == 1 and perftest_text.version(lines)) or _prints_no_row(text):
        return []
    average = perftest_json.bare_average(lines)
    if average is not None:
        return [{**dict.fromkeys(RATES), "bw_avg": average}]
    run = parse(text)
    order = ("bytes", "iterations", "min_s", "median_s", "mean_s", "p99_s", "p999_s", "max_s")
    latency = [{name: getattr(row, name) for name in order} for row in run.latency]
    rates = [{name: getattr(row, name) for name in RATES} for row in run.bandwidth]
    rows = latency + rates
    return [{**row, **more} for row, more in zip(rows, run.beside or [{}] * len(rows), strict=True)]


def _prints_no_row(text: str) -> bool:
    """Return whether a text is the whole output of a server that prints no result, and no error."""
    lines = perftest_text.clean(text)
    said = perftest_text.preamble(lines)
    whole = text.endswith("\n") and perftest_table.RULE.fullmatch(lines[-1]) if lines else None
    addresses = [line for line in lines if line.lstrip().startswith("remote address:")]
    if not (whole and addresses and said.is_server and ROWLESS.fullmatch(said.test or "")):
        return False
    words = perftest_text.words(lines)
    perftest_errors.check(words)
    perftest_text.refuse_trouble(words)
    return not any(line.strip().startswith("#bytes") for line in lines)
