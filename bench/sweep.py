"""How busy a sweep keeps the NICs: `python -m bench.sweep --nodes 16 --rails 1 --strategy all`.

Runs one bandwidth measurement on every pair of a strategy against the embedded lab, and prints
JSON. The bound is what the busiest port needs if nothing else takes time: efficiency is the bound
over the time from the first measurement to the last, elapsed efficiency the bound over everything,
log-in and facts included. The plain alternative (one pair after another, one connection per node)
is measured on a few pairs in the same run and scaled up. CPU is told beside that of a fixed loop:
shared machines differ from hour to hour.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from bench.cost import cpu_of, loop_ms
from pytest_fabric import endpoints, pairs
from pytest_fabric.config import Cluster, load
from pytest_fabric.declare import ib_write_bw
from pytest_fabric.measure import pair as pair_measurement
from pytest_fabric.measure.engine import Engine
from pytest_fabric.measure.fabric import Fabric
from pytest_fabric.measure.plan import Policy, Want, job_of
from pytest_fabric.report.rundir import RunDirectory
from pytest_fabric.results import Measurement, Pair
from pytest_fabric.transport import Pool

CLUSTER = """
name: sweep
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
lab: {{time: 1, start: 0}}
"""


@dataclass(frozen=True)
class Sweep:
    """What came out of a sweep; times in seconds, CPU of measuring without log-in and facts."""

    records: tuple[Measurement, ...]
    ready_s: float
    ready_cpu_s: float
    whole_s: float
    cpu_s: float
    lab_cpu_s: float


def cluster_of(folder: Path, nodes: int, rails: int) -> Cluster:
    """Return a lab of nodes with rails, each rail with a leaf of its own."""
    rows = "\n".join(
        f"  rail{n}: {{device: mlx5_{n}, network: 10.{n}.0.0/16, leaf: leaf-{n}}}"
        for n in range(rails)
    )
    path = folder / "cluster.yaml"
    path.write_text(CLUSTER.format(nodes=nodes, rails=rows))
    return load(path)


def chosen(cluster: Cluster, strategy: str) -> list[Pair]:
    """Return the pairs of a strategy in the order in which they are measured."""
    ports = cluster.ports()
    leaves = {port: leaf for port in ports if (leaf := cluster.rail(port).leaf) is not None}
    found = pairs.select(
        strategy, ports, leaves=leaves, seed=1, peers=4, cross_rail=False, listed=()
    )
    return pairs.order(found, 1)


def swept(cluster: Cluster, lab: endpoints.Lab, wants: Sequence[Want], folder: Path) -> Sweep:
    """Measure everything that is wanted with the engine."""
    begun, own, labs = time.monotonic(), time.process_time(), cpu_of(lab.pid)
    records: list[Measurement] = []
    directory = RunDirectory.create(folder, datetime.now())
    with (
        closing(directory),
        closing(Pool(endpoints.of(cluster, lab), "run=sweep", directory.audit)) as pool,
    ):

        def keep(record: Measurement) -> None:
            records.append(slim(record))
            directory.measurement(record)

        engine = Engine(
            Fabric(cluster, pool, lambda facts: None),
            Policy(),
            keep,
            lambda record, peers=None: False,
        )
        engine.start(wants)
        ready_s, ready_cpu_s = time.monotonic() - begun, time.process_time() - own
        labs = cpu_of(lab.pid)
        for want in wants:
            engine.pair(want)
        engine.stop()
    engine.join()
    whole_s = time.monotonic() - begun
    used = (time.process_time() - own - ready_cpu_s, cpu_of(lab.pid) - labs)
    return Sweep(tuple(records), ready_s, ready_cpu_s, whole_s, *used)


def slim(record: Measurement) -> Measurement:
    """Return what a bench needs of a record."""
    return replace(record, raw={}, growth=(), beside=(), settings={}, commands={})


def plain_s(cluster: Cluster, lab: endpoints.Lab, wants: Sequence[Want]) -> float:
    """Return what one measurement takes when they are made one after another."""
    with closing(Pool(endpoints.of(cluster, lab), "run=plain", lambda node, *words: None)) as pool:
        fabric = Fabric(cluster, pool, lambda facts: None)
        fabric.gather(
            {
                port.node
                for w in wants
                if isinstance(w.target, Pair)
                for port in (w.target.client, w.target.server)
            }
        )
        ports = iter(range(20000, 21000))
        begun = time.monotonic()
        for want in wants:
            made = pair_measurement.measure(fabric, job_of(want, cluster, Policy()), ports)
            if made.error is not None:
                raise RuntimeError(made.error.message)
        return (time.monotonic() - begun) / len(wants)


def overlaps(records: Sequence[Measurement]) -> int:
    """Return how often two measurements used one port at the same time."""
    by_port: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for record in records:
        for end in record.target.split(".."):
            by_port[end].append((record.started, record.started + record.duration))
    count = 0
    for spans in by_port.values():
        spans.sort()
        count += sum(one[1] > other[0] for one, other in pairwise(spans))
    return count


def _cause(record: Measurement) -> str:
    """Return why a measurement has no value that can be judged, without its place."""
    told = record.error.message if record.error is not None else "".join(record.doubts[:1])
    return re.sub(r"gpu\d+(:rail\d)?|\d+(\.\d+)?", "N", told)


def figures(found: Sweep, seconds: float, plain: float) -> dict[str, object]:
    """Return what is printed."""
    load: dict[str, float] = defaultdict(float)
    for record in found.records:
        for end in record.target.split(".."):
            load[end] += seconds
    bound = max(load.values())
    first = min(record.started for record in found.records)
    last = max(record.started + record.duration for record in found.records)
    count = len(found.records)
    return {
        "measurements": count,
        "without_value": sum(
            record.error is not None or bool(record.doubts) for record in found.records
        ),
        "causes": Counter(_cause(record) for record in found.records if _cause(record)),
        "bound_s": bound,
        "log_in_and_facts_s": round(found.ready_s, 2),
        "log_in_and_facts_cpu_s": round(found.ready_cpu_s, 2),
        "first_to_last_s": round(last - first, 2),
        "whole_s": round(found.whole_s, 2),
        "efficiency": round(bound / (last - first), 3),
        "elapsed_efficiency": round(bound / found.whole_s, 3),
        "plain_efficiency": round(bound / (plain * count), 4),
        "overlaps": overlaps(found.records),
        "controller_cpu_ms_per_measurement": round(1e3 * found.cpu_s / count, 1),
        "lab_cpu_ms_per_measurement": round(1e3 * found.lab_cpu_s / count, 1),
        "peak_memory_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def main() -> None:
    """Run a sweep and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--rails", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=1, help="of each measurement")
    parser.add_argument("--strategy", choices=sorted(pairs.STRATEGIES), default="all")
    parser.add_argument("--plain", type=int, default=5, help="pairs of the plain alternative")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cluster = cluster_of(folder, options.nodes, options.rails)
        declaration = ib_write_bw(duration=options.seconds)
        wants = [Want(declaration, pair) for pair in chosen(cluster, options.strategy)]
        with closing(endpoints.Lab(cluster, ())) as lab:
            found = swept(cluster, lab, wants, folder / "runs")
            plain = plain_s(cluster, lab, wants[: options.plain])
    asked = {name: getattr(options, name) for name in ("nodes", "rails", "seconds", "strategy")}
    pace = {"ms_per_million_of_str": loop_ms()}
    print(json.dumps({**asked, **figures(found, options.seconds, plain), **pace}, indent=1))


if __name__ == "__main__":
    main()
