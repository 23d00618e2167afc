"""nccl-tests (`all_reduce_perf` and its like): bandwidth of collectives between GPUs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.tools import complaints, nccl_tests_json
from pytest_fabric.tools.nccl_tests_results import Half, Report, Row
from pytest_fabric.tools.plain import plain

COLLECTIVES = (
    *("all_reduce", "all_gather", "alltoall", "broadcast", "gather", "hypercube", "reduce"),
    *("reduce_scatter", "scatter", "sendrecv"),
)

#: What mpirun and srun put in front of each line when they are told to say whose it is.
PREFIX = re.compile(r"^(?:[^\[\]\n]{0,60}\[[^\[\]\n]{0,80},[0-9]+\]<std\w+>: ?|[0-9]{1,5}: )")
RANK_ZERO = re.compile(r"#\s+Rank\s+0\s")
SWEEP = re.compile(
    r"# nThread .* minBytes ([0-9]{1,18}) maxBytes ([0-9]{1,18}) step: ([0-9]{1,18})\((\w+)\)"
    r"(?: warmup iters: [0-9]+)?(?: iters: (?P<iterations>[0-9]{1,9}))?.*"
)
COLLECTIVE = re.compile(r"# Collective test starting: ([\w./-]{1,80})")
VERSION = re.compile(r"# nccl-tests version ([0-9][\w.-]{0,20})")
REDUCED = re.compile(r"#?\s*Reducing maxBytes")
OUT_OF_BOUNDS = re.compile(r"# Out of bounds values : ([0-9]{1,18}) (OK|FAILED)\s*")
AVERAGE = re.compile(r"# Avg bus bandwidth    : ([0-9]{1,9}(?:\.[0-9]+)?)\s*(OK|FAILED)?\s*")

TITLES = re.compile(r"#\s+size\s+count\s+type\s.*\bbusbw\b.*")
#: A row starts with size, count and type; anything else between rows is somebody's log.
ROW = re.compile(r"\s*[0-9]+\s+[0-9]+\s+[a-z]\w*\s.*")
STAMP = re.compile(r"\s+[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\s*$")
NUMBER = re.compile(r"[0-9]{1,18}(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,2})?")
WHOLE = re.compile(r"-?[0-9]{1,18}")
TYPE = re.compile(r"[a-z][a-z0-9_]{1,20}")
LOG = re.compile(r"NCCL (?:INFO|WARN|TRACE)")

KNOWN = (
    ("nccl_failed", re.compile(r"Test NCCL failure|: NCCL failure |ncclUnhandledCudaError")),
    ("cuda_failed", re.compile(r"Test CUDA failure|no CUDA-capable device|Invalid number of GPUs")),
    ("library_missing", re.compile(r"error while loading shared libraries")),
    (
        "mpi_failed",
        re.compile(
            r"^srun: (?:error|fatal): |not enough slots available|MPI_ABORT was|"
            r"mpirun (?:was unable|detected|noticed)|"
            r"ORTE (?:was unable|has lost|does not)|PRTE has lost|orted: command not found"
        ),
    ),
    ("usage", re.compile(r"^USAGE: |invalid option --|unrecognized option ")),
)


def command(
    collective: str, smallest: str = "8", largest: str = "8G", gpus: int = 1, iterations: int = 20
) -> tuple[str, ...]:
    """Return the command line of one process; it has to be started by MPI on every GPU or node."""
    if collective not in COLLECTIVES:
        raise ValueError(f"collective: expected one of {', '.join(COLLECTIVES)}")
    if not all(re.fullmatch(r"[1-9][0-9]{0,11}[KMGT]?", size) for size in (smallest, largest)):
        raise ValueError(f"expected sizes such as 8 or 8G, got {smallest!r}, {largest!r}")
    if not (1 <= gpus <= 64 and 1 <= iterations <= 1_000_000):
        raise ValueError("expected 1-64 GPUs and 1-1000000 iterations")
    sizes = ("-b", smallest, "-e", largest, "-f", "2")
    return (f"{collective}_perf", *sizes, "-g", str(gpus), "-n", str(iterations))


def launch(
    hosts: Sequence[str], gpus: int, env: Mapping[str, str], run: Sequence[str]
) -> tuple[str, ...]:
    """Return the command line that starts a run on every GPU of hosts with Open MPI's mpirun.

    `env` is what each rank is told; `run` is what `command` returns. ValueError for what is none.
    """
    if not hosts or not all(re.fullmatch(r"[A-Za-z0-9][\w.-]*", host) for host in hosts):
        raise ValueError(f"hosts: expected names of nodes, got {', '.join(hosts) or 'none'}")
    slots = ",".join(f"{host}:{gpus}" for host in hosts)
    told = (word for name, value in env.items() for word in ("-x", f"{name}={value}"))
    return ("mpirun", "-np", str(len(hosts) * gpus), "-H", slots, "--bind-to", "numa", *told, *run)


def launch_in_slurm(
    hosts: Sequence[str],
    gpus: int,
    env: Mapping[str, str],
    run: Sequence[str],
    job: int | None = None,
) -> tuple[str, ...]:
    """Return the command line that starts a run on every GPU of hosts with Slurm's srun.

    A run that Slurm cannot start within a minute fails, and does not queue; with `job`, it is a
    step of that allocation. Variables come from `env` behind it: srun's `--export` would end a
    value at its first comma. ValueError for what is none.
    """
    if not hosts or not all(re.fullmatch(r"[A-Za-z0-9][\w.-]*", host) for host in hosts):
        raise ValueError(f"hosts: expected names of nodes, got {', '.join(hosts) or 'none'}")
    where = ("--immediate=60",) if job is None else (f"--jobid={job}", "--overlap")
    ranks = (f"--nodes={len(hosts)}", f"--ntasks={len(hosts) * gpus}", f"--ntasks-per-node={gpus}")
    told = (f"{name}={value}" for name, value in env.items())
    return (
        *("srun", *where, *ranks, f"--gpus-per-node={gpus}", f"--nodelist={','.join(hosts)}"),
        *("--kill-on-bad-exit=1", "env", *told, *run),
    )


def find_version(text: str) -> str | None:
    """Return the version of nccl-tests, which the text shows since 2.17; else None."""
    match = VERSION.search(text)
    return match[1] if match else None


def parse(text: str) -> Report:
    """Return the rows and the summary of one run, from its table or its JSON.

    Raises ToolError when the run failed, also when every process was rank 0 (`not_mpi_build`): then
    nothing was sent. Raises NotRecognisedError for any other text, also when the summary or a size
    of the sweep is missing. Wrong data is a result: see `wrong` and `okay`.
    """
    if text.lstrip().startswith("{"):
        return nccl_tests_json.parse(text)
    lines = [PREFIX.sub("", line, count=1).rstrip() for line in text.split("\n")]
    if sum(bool(RANK_ZERO.match(line)) for line in lines) > 1:
        raise ToolError("not_mpi_build", "every process is rank 0: built without MPI=1")
    averages = [match for line in lines if (match := AVERAGE.fullmatch(line))]
    if len(averages) != 1 or not text.endswith("\n"):
        _explain(lines)
        raise NotRecognisedError(
            f"expected one average bus bandwidth at the end, got {len(averages)}: cut off?"
        )
    _explain([line for line in lines if not LOG.search(line)], whole=True)
    rows = _rows(lines)
    _require_sweep(lines, len(rows))
    bounds = next((match for line in lines if (match := OUT_OF_BOUNDS.fullmatch(line))), None)
    said = {word for word in (averages[0][2], bounds[2] if bounds else None) if word}
    sweep = next((match for line in lines if (match := SWEEP.fullmatch(line))), None)
    name = next((match for line in lines if (match := COLLECTIVE.fullmatch(line))), None)
    iterations = sweep["iterations"] if sweep else None
    return Report(
        collective=name[1].rpartition("/")[2].removesuffix("_perf") if name else None,
        iterations=int(iterations) if iterations else None,
        average_busbw_gb_s=float(averages[0][1]),
        out_of_bounds=int(bounds[1]) if bounds else None,
        okay="FAILED" not in said if said else None,
        rows=rows,
    )


def _explain(lines: Sequence[str], whole: bool = False) -> None:
    """Raise ToolError for a complaint; in a whole run only the tool's own count."""
    if not whole:
        complaints.check("\n".join(lines), KNOWN)
        return
    for line in lines:
        if any(kind in ("nccl_failed", "cuda_failed") and x.search(line) for kind, x in KNOWN):
            complaints.check(line, KNOWN)


def _rows(lines: Sequence[str]) -> tuple[Row, ...]:
    """Return the rows under the titles, whatever was logged between them."""
    titles: list[str] | None = None
    rows = []
    for line in lines:
        if TITLES.fullmatch(line):
            titles = line.lstrip("#").split()
        elif ROW.fullmatch(line):
            if titles is None:
                raise NotRecognisedError(f"expected titles above the row {line.strip()[:80]!r}")
            rows.append(_row(titles, STAMP.sub("", line).split()))
    if not rows:
        raise NotRecognisedError("expected rows of sizes, got none")
    return tuple(rows)


def _row(titles: list[str], cells: list[str]) -> Row:
    """Return a row; what stands from each time on belongs to one way of using the buffers."""
    titles = [title for title in titles if title != "timestamp"]
    starts = [at for at, title in enumerate(titles) if title in ("time", "cputime")]
    if len(cells) != len(titles) or len(starts) != 2:
        raise NotRecognisedError(f"expected {len(titles)} columns, got {' '.join(cells)[:90]!r}")
    head = dict(zip(titles[: starts[0]], cells, strict=False))
    halves = [
        dict(zip(titles[start:end], cells[start:end], strict=True))
        for start, end in ((starts[0], starts[1]), (starts[1], len(titles)))
    ]
    root = head.get("root", "-1")
    named = all(TYPE.fullmatch(head.get(key, "none")) for key in ("type", "redop"))
    numbers = all(WHOLE.fullmatch(x) for x in (head["size"], head["count"], root))
    if not named or not numbers:
        raise NotRecognisedError(f"expected size, count and type, got {' '.join(cells)[:90]!r}")
    return Row(
        size_bytes=int(head["size"]),
        count=int(head["count"]),
        type=head["type"],
        redop=None if head.get("redop", "none") == "none" else head["redop"],
        root=None if root == "-1" else int(root),
        out_of_place=_half(halves[0]),
        in_place=_half(halves[1]),
    )


def _half(cells: dict[str, str]) -> Half:
    wrong = next((cells[key] for key in ("#wrong", "wrong") if key in cells), "N/A")
    return Half(
        time_us=_number(cells.get("time", cells.get("cputime", ""))),
        algbw_gb_s=_number(cells.get("algbw", "")),
        busbw_gb_s=_number(cells.get("busbw", "")),
        wrong=_count(wrong),
        error=_number(cells.get("error", "N/A")),
    )


def _number(cell: str) -> float | None:
    if cell == "N/A":
        return None
    if not NUMBER.fullmatch(cell):
        raise NotRecognisedError(f"expected a number or N/A, got {cell[:40]!r}")
    return float(cell)


def _count(cell: str) -> int | None:
    """Return a count of values; great ones are written with an exponent."""
    value = _number(cell)
    if value is not None and value != int(value):
        raise NotRecognisedError(f"expected a count of wrong values, got {cell[:40]!r}")
    return None if value is None else int(value)


def _require_sweep(lines: Sequence[str], rows: int) -> None:
    """Refuse a table that lacks sizes of the sweep: a row that a log line broke is no row."""
    sweep = next((match for line in lines if (match := SWEEP.fullmatch(line))), None)
    if sweep is None or any(REDUCED.match(line) for line in lines):
        return
    size, largest, step = int(sweep[1]), int(sweep[2]), int(sweep[3])
    wanted = 0
    if sweep[4] == "factor" and step > 1 and size:
        while size <= largest:
            wanted, size = wanted + 1, size * step
    elif sweep[4] == "bytes" and step:
        wanted = max(0, largest - size) // step + 1
    if rows < wanted:
        raise NotRecognisedError(f"expected {wanted} sizes, got {rows}: rows are broken or missing")


def records(text: str) -> list[dict[str, object]]:
    """Return a record for each row (`part` is `row`), then one for the summary."""
    report = parse(text)
    rows = [{"part": "row", **_plain_row(row)} for row in report.rows]
    summary = {key: value for key, value in plain(report).items() if key != "rows"}
    return [*rows, {"part": "summary", **summary}]


def _plain_row(row: Row) -> dict[str, object]:
    whole = {k: v for k, v in plain(row).items() if k not in ("out_of_place", "in_place")}
    for name, half in (("out_of_place", row.out_of_place), ("in_place", row.in_place)):
        whole |= {f"{name}_{key}": value for key, value in plain(half).items()}
    return whole
