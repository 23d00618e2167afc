"""Whether a healthy fabric stays green: `python -m bench.healthy [--runs 30] [--keep FOLDER]`.

Runs the suites against a lab of 16 nodes with 4 rails, two leaves to each rail, with another seed
each time, by turns under ECMP and adaptive routing. Tells each on standard error, and prints JSON:
the runs, those that were red, and what was red in them; how many misses under load held alone; and
how long the largest lab takes from its start to its first answer.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from pytest_fabric import endpoints
from pytest_fabric.config import load
from pytest_fabric.report.records import read_verdicts
from pytest_fabric.results import Verdict

REPOSITORY = Path(__file__).parents[1]

CLUSTER = """
name: healthy
transport: lab
fabric: {{dedicated: true, routing: {routing}}}
nodes:
  gpu[001-{half:03d}]: {{profile: cx7, rails: {{{first}}}}}
  gpu[{next:03d}-{nodes:03d}]: {{profile: cx7, rails: {{{second}}}}}
profiles:
  cx7: {{extends: builtin/cx7-400g-roce, firmware: {{MT_0000000838: "28.39.1002"}}}}
lab: {{seed: {seed}, time: 0.02}}
"""

ROUTINGS = ("ecmp", "adaptive")


def cluster_file(folder: Path, nodes: int, seed: int, routing: str) -> Path:
    """Write the file of a lab of nodes with 4 rails, and two leaves to each rail."""
    rails = [
        ", ".join(
            f'rail{n}: {{pci: "0000:{26 + 32 * n:02x}:00.0", network: 10.{n}.0.0/16, '
            f"leaf: leaf-{n}-{side}}}"
            for n in range(4)
        )
        for side in "ab"
    ]
    half = nodes // 2
    path = folder / "cluster.yaml"
    path.write_text(
        CLUSTER.format(
            **{"routing": routing, "half": half, "next": half + 1, "nodes": nodes, "seed": seed},
            **{"first": rails[0], "second": rails[1]},
        )
    )
    return path


def verdicts_of(folder: Path) -> list[Verdict]:
    """Run the suites, and return what they say."""
    out = folder / "runs"
    subprocess.run(
        [
            *(sys.executable, "-m", "pytest", str(REPOSITORY / "suites"), "-q"),
            *("-p", "no:cacheprovider", f"--fabric-cluster={folder / 'cluster.yaml'}"),
            *(f"--fabric-out={out}", f"--rootdir={folder}"),
        ],
        cwd=REPOSITORY,
        stdout=subprocess.DEVNULL,
        check=False,
    )
    return read_verdicts(out / "latest" / "verdicts.jsonl")


def red(verdict: Verdict) -> str:
    """Return a line about a verdict that is red on a healthy fabric."""
    message = re.sub(r"\s+", " ", verdict.message or "")[:160]
    return f"{verdict.outcome} {verdict.check} {verdict.target}: {message}"


def main() -> None:
    """Run a healthy fabric again and again, and print what was red."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--keep", type=Path, help="where to put the runs that were red")
    options = parser.parse_args()
    runs: dict[str, list[str]] = {}
    checks, contended, begun = 0, 0, time.monotonic()
    for seed in range(options.first, options.first + options.runs):
        routing = ROUTINGS[seed % 2]
        with tempfile.TemporaryDirectory() as name:
            cluster_file(Path(name), options.nodes, seed, routing)
            found = verdicts_of(Path(name))
            bad = [red(one) for one in found if one.outcome not in ("passed", "skipped")]
            if options.keep is not None and (bad or not found):
                shutil.copytree(name, options.keep / f"seed-{seed}", symlinks=True)
        checks += len(found)
        contended += sum(verdict.contention is not None for verdict in found)
        runs[f"seed {seed}, {routing}"] = bad if found else ["nothing was judged"]
        told = [f"seed {seed}, {routing}: {len(found)} checks, {len(bad)} red", *bad[:20]]
        print(*told, sep="\n  ", file=sys.stderr)
    with tempfile.TemporaryDirectory() as name:
        cluster = load(cluster_file(Path(name), 128, 1, "ecmp"))
        started = time.monotonic()
        with closing(endpoints.Lab(cluster, ())):
            start_s = time.monotonic() - started
    print(
        json.dumps(
            {
                "runs": len(runs),
                "checks": checks,
                "misses_that_held_alone": contended,
                "red_runs": {name: bad[:20] for name, bad in runs.items() if bad},
                "seconds_per_run": round((time.monotonic() - begun) / len(runs), 1),
                "start_of_128_nodes_s": round(start_s, 2),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
