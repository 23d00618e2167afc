"""`mpirun ... all_reduce_perf`: nccl-tests over the GPUs of nodes, as fast as the slowest port."""

from __future__ import annotations

import random

from pytest_fabric.lab import physics
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Node, Port
from pytest_fabric.lab.process import Process, Result

#: What a ring leaves of the payload rate of all ports of a node: NCCL's own protocol, and skew.
RING = 0.95

#: From this size on half of the bandwidth is reached (Hockney's n-half), in bytes.
HALF_BYTES = 64 * 2**20

TITLES = (
    "#                                                              out-of-place                 "
    "      in-place          \n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time "
    "  algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us) "
    " (GB/s)  (GB/s)       \n"
)


def run(call: Call) -> Result | Process:
    """Print the table of a sweep when it is over; complain about hosts that are not there."""
    words = list(call.argv)
    try:
        hosts = [one.rpartition(":")[0] for one in words[words.index("-H") + 1].split(",")]
        ranks = int(words[words.index("-np") + 1])
        first, last = (int(words[words.index(flag) + 1]) for flag in ("-b", "-e"))
    except (ValueError, IndexError):
        return Result(1, stderr="mpirun: Error: unknown option\n")
    unknown = [host for host in hosts if host not in call.fabric.nodes]
    if unknown:
        return Result(1, stderr="ORTE was unable to reliably start one or more daemons.\n")
    return started(call, hosts, ranks, first, last)


def started(call: Call, hosts: list[str], ranks: int, first: int, last: int) -> Process:
    """Return the run of so many ranks on hosts, which ends with its table."""
    nodes = [call.fabric.nodes[host] for host in hosts]
    process = Process()
    chance = call.fabric.chance(f"all_reduce {' '.join(hosts)}")
    text = _table(nodes, ranks, first, last, chance)

    def over() -> None:
        with call.fabric.lock:
            process.end(Result(0, text))

    clock = call.fabric.clock
    timer = clock.after(clock.real(10.0), over)
    process.when_ended(lambda _: timer.cancel())
    return process


def _table(nodes: list[Node], ranks: int, first: int, last: int, chance: random.Random) -> str:
    each = ranks // len(nodes)
    lines = [
        "# nccl-tests version 2.17.6 nccl-headers=22805 nccl-library=22805\n",
        "# Collective test starting: all_reduce_perf\n",
        f"# nThread 1 nGpus 1 minBytes {first} maxBytes {last} step: 2(factor) warmup iters: 5 "
        "iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n",
    ]
    for rank in range(ranks):
        node = nodes[rank // each]
        lines.append(
            f"#  Rank {rank:2} Group  0 Pid {4000 + rank:6} on {node.name:>10} device "
            f"{rank % each:2} [0000:1b:00] NVIDIA H100\n"
        )
    lines += ["#\n", TITLES]
    wrong = sum(12 for node in nodes if node.spoils)
    size, found = first, []
    while size <= last:
        bus = [_bus_gb_s(nodes, size) * (1 - abs(chance.gauss(0, 0.003))) for _ in range(2)]
        found += bus
        halves = "".join(_half(size, one, ranks, wrong) for one in bus)
        lines.append(f"{size:12} {size // 4:13}     float     sum      -1{halves}\n")
        size *= 2
    state = "FAILED" if wrong else "OK"
    lines += [
        f"# Out of bounds values : {wrong * len(found)} {state}\n",
        f"# Avg bus bandwidth    : {sum(found) / len(found):g} \n",
        "#\n# Collective test concluded: all_reduce_perf\n",
    ]
    return "".join(lines)


def _half(size: int, bus: float, ranks: int, wrong: int) -> str:
    """Return a way of using the buffers; a ring moves 2 (n - 1) / n of the data past each rank."""
    algorithm = bus / (2 * (ranks - 1) / ranks)
    return f" {size / algorithm / 1e3:8.1f} {algorithm:7.2f} {bus:7.2f} {wrong:6}"


def _bus_gb_s(nodes: list[Node], size: int) -> float:
    """Return the bus bandwidth: that of the node with the slowest port, all its ports as fast."""
    rates = [min(map(_bps, node.ports)) * len(node.ports) for node in nodes]
    return RING * min(rates) / 8e9 * size / (size + HALF_BYTES)


def _bps(port: Port) -> float:
    line = port.speed_bps * (1 - port.foreign) if port.state == "ACTIVE" else 1e6
    return min(line, physics.pcie_bps(port))
