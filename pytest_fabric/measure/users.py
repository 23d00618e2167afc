"""The processes of others that hold RDMA devices or GPUs of a node."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from pytest_fabric.errors import FabricError, NotRecognisedError, ToolError
from pytest_fabric.metrics import BANDWIDTH_TOOLS, LATENCY_TOOLS
from pytest_fabric.tools import nvidia_smi, rdma_resource
from pytest_fabric.tools.printable import printable
from pytest_fabric.transport import Collect, Job, Outcome, Session, Word

#: Services that hold a context for as long as the node is up, idle or not: address resolution,
#: subnet and partition managers, SHARP, the storage log-in of SRP, the file system GPFS. What they
#: move shows in the byte counters.
SERVICES = frozenset(
    {
        *("ibacm", "iwpmd", "rdma-ndd", "opensm", "nvlsm", "sharp_am", "sharpd"),
        *("srp_daemon", "mmfsd"),
    }
)

#: Another measurement, and tools that only look: leases and the byte counters deal with those.
#: The kernel keeps 15 letters of a name.
MEASURING = frozenset(
    {
        *LATENCY_TOOLS,
        *BANDWIDTH_TOOLS,
        *(
            "ib_atomic_lat",
            "ib_atomic_bw",
            "raw_ethernet_lat",
            "raw_ethernet_la",
            "raw_ethernet_bw",
        ),
        *("ibv_devinfo", "ibv_devices", "ibstat", "ibstatus"),
    }
)

#: The server of CUDA's MPS waits for clients, which are listed themselves when they compute.
GPU_SERVICES = frozenset({"nvidia-cuda-mps-server"})

#: Kinds of errors by which a tool says that it is not here, or that there is nothing to ask:
#: without an RDMA subsystem nothing can be held.
NO_EVIDENCE = frozenset(
    {"tool_missing", "not_supported", "no_driver", "no_devices", "no_rdma_subsystem"}
)

#: Where nothing is known of locks, nothing can be told to be left over.
NO_LEASES: Mapping[str, str] = {}

Entry = TypeVar("Entry")


def sections() -> dict[str, tuple[Word, ...]]:
    """Return the commands that list processes; a tool that is not there tells nothing."""
    return {
        "contexts": rdma_resource.command("ctx"),
        "queue_pairs": rdma_resource.command("qp"),
        "gpus": nvidia_smi.command(),
    }


def reasons(
    session: Session,
    outcomes: Mapping[str, Outcome],
    deadline_s: float,
    leases: Mapping[str, str] = NO_LEASES,
) -> tuple[str, ...]:
    """Return who uses the node, and what could not be told. Raises TransportError.

    `leases` are the files that runs lock, by device: perftest without that lock is left over.
    """
    found: list[str] = []
    held, gpus, unclear = _entries(outcomes, deadline_s)
    names = {entry.pid: entry.comm or "a process" for entry in held if entry.pid}
    names |= {entry.pid: entry.name for entry in gpus}
    devices: dict[int, dict[str, None]] = {}
    for entry in held:
        if entry.pid and entry.comm not in SERVICES | MEASURING:
            devices.setdefault(entry.pid, {})[entry.device] = None
    left = _left_over(session, held, leases)
    computing = [p.pid for p in gpus if _base(p.name) not in GPU_SERVICES | MEASURING]
    owners = _owners(session, [*list(devices)[:1], *list(left)[:1], *computing[:1]])

    def shown(pids: Sequence[int], what: str) -> str:
        first = pids[0]
        owner = f", user {owners[first]}" if first in owners else ""
        more = f", and {len(pids) - 1} more like it" if len(pids) > 1 else ""
        return f"{session.node}: in use: {names[first]} (pid {first}{owner}) {what}{more}"

    if devices:
        pids = list(devices)
        found.append(shown(pids, f"holds an RDMA context on {', '.join(devices[pids[0]])}"))
    if left:
        pids = list(left)
        found.append(shown(pids, f"is left on {left[pids[0]]}: no run measures there; end it"))
    if computing:
        found.append(shown(computing, "computes on a GPU"))
    return (
        *found,
        *(f"{session.node}: cannot tell whether it is in use: {why}" for why in unclear),
    )


def _left_over(
    session: Session, held: Sequence[rdma_resource.Held], leases: Mapping[str, str]
) -> dict[int, str]:
    """Return the processes of perftest on ports that nobody has locked, and their devices.

    A tool of another run that was just ending has gone with its lock: it is looked for once more.
    """
    perftest = {*LATENCY_TOOLS, *BANDWIDTH_TOOLS}
    found = {e.pid: e.device for e in held if e.pid and e.comm in perftest and e.device in leases}
    devices = dict.fromkeys(found.values())
    jobs = {device: Job(("uname", "-r"), 10.0, lease=leases[device]) for device in devices}
    tried = {device: session.run(job) for device, job in jobs.items()}
    free = {device for device, ran in tried.items() if ran.end == "exit" and ran.status == 0}
    left = {pid: device for pid, device in found.items() if device in free}
    still = _still_there(session) if left else None
    return {pid: device for pid, device in left.items() if still is None or pid in still}


def _still_there(session: Session) -> set[int] | None:
    """Return the processes that hold RDMA devices now, None where that cannot be told."""
    listed = {name: sections()[name] for name in ("contexts", "queue_pairs")}
    outcomes = session.collect(Collect(listed, 10.0))
    if any(outcome.end != "exit" for outcome in outcomes.values()):
        return None
    try:
        held = [e for outcome in outcomes.values() for e in _parsed(outcome, rdma_resource.parse)]
    except FabricError:
        return None
    return {entry.pid for entry in held if entry.pid}


def _entries(
    outcomes: Mapping[str, Outcome], deadline_s: float
) -> tuple[list[rdma_resource.Held], list[nvidia_smi.ComputeProcess], list[str]]:
    """Return what is held, what computes, and why the one or the other is not known."""
    late = [section for section in sections() if outcomes[section].end != "exit"]
    unclear = [_unfinished(section, deadline_s) for section in late[:1]]

    def read(section: str, parse: Callable[[str], list[Entry]]) -> list[Entry]:
        if section in late:
            return []
        try:
            return _parsed(outcomes[section], parse)
        except FabricError as error:
            unclear.append(f"{' '.join(sections()[section])}: {error}")
            return []

    held = read("contexts", rdma_resource.parse) + read("queue_pairs", rdma_resource.parse)
    return held, read("gpus", nvidia_smi.parse), unclear


def _unfinished(section: str, deadline_s: float) -> str:
    words = " ".join(sections()[section])
    return f"expected the answer of {words} within {deadline_s:g} s, it did not come"


def _parsed(outcome: Outcome, parse: Callable[[str], list[Entry]]) -> list[Entry]:
    """Return the entries; none where the tool is missing. Raises ToolError, NotRecognisedError."""
    failed = outcome.status != 0
    try:
        entries = parse(outcome.stdout + outcome.stderr if failed else outcome.stdout)
    except ToolError as error:
        if error.kind in NO_EVIDENCE:
            return []
        raise
    if failed:
        raise NotRecognisedError(f"expected exit status 0, got {outcome.status}")
    return entries


def _base(name: str) -> str:
    return name.rpartition("/")[2]


def _owners(session: Session, pids: Sequence[int]) -> dict[int, str]:
    """Return the users of processes, as far as they can be seen; none to ask costs nothing."""
    if not pids:
        return {}
    words = ("stat", "-c", "%U:%n", *(f"/proc/{pid}" for pid in dict.fromkeys(pids)))
    text = session.collect(Collect({"owners": words}, 10.0))["owners"].stdout
    rows = re.findall(r"^(\S+):/proc/([0-9]{1,10})$", text, re.MULTILINE)
    return {int(pid): printable(user) for user, pid in rows}
