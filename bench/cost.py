"""What one measurement costs in CPU: `python -m bench.cost [-n COUNT] [--at-once PAIRS]`.

Prints JSON: CPU of the controller and of the lab's process, and wall time, in ms per measurement.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from pytest_fabric import endpoints
from pytest_fabric.config import Cluster, load
from pytest_fabric.declare import Declaration
from pytest_fabric.measure import pair as pairs
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.plan import Policy, Want, job_of
from pytest_fabric.report.rundir import RunDirectory
from pytest_fabric.results import Measurement, Pair, Port
from pytest_fabric.transport import Pool

CLUSTER = """
name: cost
transport: lab
nodes:
  gpu[001-{nodes:03d}]: {{profile: roce}}
rails:
{rails}
profiles:
  roce:
    link: {{layer: Ethernet, speed: 400 Gb/s, width: 4, mtu: 4096}}
    roce: {{version: 2, lossless: [3], dscp: 26}}
    sudo: [ethtool]
lab: {{time: {scale}}}
"""

RAILS = "\n".join(
    f"  rail{n}: {{device: mlx5_{n}, network: 10.{n}.0.0/16, leaf: leaf-{n}}}" for n in range(8)
)

TOOLS = {
    "ib_write_bw": Declaration("ib_write_bw", "pair", duration_s=2),
    "ib_write_lat": Declaration("ib_write_lat", "pair", size=2),
}


@dataclass
class Bench:
    """What is needed to measure, and the CPU seconds by step."""

    fabric: Fabric
    directory: RunDirectory
    lab_pid: int
    ports: Iterator[int]
    spent: dict[str, float] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def step(self, name: str, call: Callable[[], Measurement | None]) -> Measurement | None:
        """Make a call and add the CPU time of its thread to a step."""
        started = time.thread_time()
        made = call()
        with self.lock:
            self.spent[name] = self.spent.get(name, 0.0) + time.thread_time() - started
        return made

    def measure(self, declaration: Declaration, pair: Pair) -> None:
        """Measure and store; RuntimeError when there is no value."""
        job = job_of(Want(declaration, pair), self.fabric.cluster, Policy())
        made = self.step("measure", lambda: pairs.measure(self.fabric, job, self.ports))
        assert made is not None
        if made.error is not None or made.doubts:
            raise RuntimeError(f"expected a value, got {made.error} {made.doubts}")
        self.step("store", lambda: self.directory.measurement(made))


def cpu_of(pid: int) -> float:
    """Return the CPU seconds of a process, from /proc."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def opened(cluster: Cluster, folder: Path) -> Iterator[Bench]:
    """Open lab, sessions and run directory; facts are gathered before anything is counted."""
    lab = endpoints.Lab(cluster, ())
    directory = RunDirectory.create(folder, datetime.now())
    pool = Pool(endpoints.of(cluster, lab), "run=cost", directory.audit)
    try:
        fabric = Fabric(cluster, pool, lambda facts: None)
        fabric.gather(cluster.nodes)
        low, high = cluster.tools.ports
        ports = itertools.cycle(range(low, high + 1))
        yield Bench(fabric, directory, lab.pid, ports)
    finally:
        pool.close()
        directory.close()
        lab.close()


def loop_ms() -> float:
    """Return the CPU of a fixed amount of Python, to compare figures of busy and quiet machines."""
    started = time.process_time()
    for number in range(10**6):
        str(number)
    return round(1e3 * (time.process_time() - started), 1)


def pairs_of(cluster: Cluster, count: int) -> list[Pair]:
    """Return pairs that share no port: neighbours, rail by rail."""
    nodes = list(cluster.nodes)
    ends = zip(nodes[::2], nodes[1::2], strict=True)
    rails = list(cluster.nodes[nodes[0]].rails)
    made = [Pair(Port(one, rail), Port(other, rail)) for one, other in ends for rail in rails]
    return made[:count]


def cost(bench: Bench, tool: str, count: int, at_once: int) -> dict[str, float]:
    """Return what a measurement with a tool costs, in ms."""
    wanted = pairs_of(bench.fabric.cluster, at_once)
    bench.spent.clear()
    own, labs, clock = time.process_time(), cpu_of(bench.lab_pid), time.monotonic()

    def one(pair: Pair) -> None:
        for _ in range(count // at_once):
            bench.measure(TOOLS[tool], pair)

    with ThreadPoolExecutor(at_once) as threads:
        list(threads.map(one, wanted))
    done = count // at_once * at_once
    own, labs = time.process_time() - own, cpu_of(bench.lab_pid) - labs
    wall = time.monotonic() - clock
    steps = {**bench.spent, "other threads": own - sum(bench.spent.values())}
    figures = {"controller": own, "lab": labs, "wall": wall}
    figures |= {f"controller: {name}": spent for name, spent in steps.items()}
    return {name: round(1e3 * value / done, 2) for name, value in figures.items()}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench.cost", description=__doc__)
    parser.add_argument("-n", type=int, default=200, help="measurements per tool")
    parser.add_argument("--at-once", type=int, default=1, help="pairs that are measured at once")
    parser.add_argument("--scale", type=float, default=0.001, help="real per simulated second")
    options = parser.parse_args(arguments)
    nodes = 2 * max(1, -(-options.at_once // 8))
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "cluster.yaml"
        source.write_text(CLUSTER.format(nodes=nodes, rails=RAILS, scale=options.scale))
        with opened(load(source), Path(folder) / "runs") as bench:
            found = {tool: cost(bench, tool, options.n, options.at_once) for tool in TOOLS}
    about = {"unit": "ms per measurement", "ms per million of str()": loop_ms()}
    print(json.dumps({**about, **found}, indent=1))


if __name__ == "__main__":
    main()
