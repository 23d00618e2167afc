"""What collecting costs: `python -m bench.collect [--nodes 64 --rails 5]`.

Collects one test over every pair of a full mesh, and as many items of a plain parametrised test,
each in a process of its own, and prints JSON: CPU seconds of the best of three, and their ratio.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.sweep import cluster_of

OURS = """\
from pytest_fabric import ib_write_lat, measure

@measure(ib_write_lat(size=4))
def test_pair(result):
    assert result.p99
"""

PLAIN = """\
import pytest

PAIRS = [f"gpu{{a:03d}}:rail{{r}}..gpu{{b:03d}}:rail{{r}}"
         for a in range({nodes}) for b in range({nodes}) for r in range({rails}) if a != b]

@pytest.mark.parametrize("pair", PAIRS)
def test_pair(pair):
    assert pair
"""


def cpu_s(folder: Path, name: str) -> tuple[float, int]:
    """Return the least CPU time of three collections, and how many items there were."""
    # As for everyone who collects more than once: what is imported has been compiled.
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    times, count = [], 0
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            (
                sys.executable,
                "-m",
                "pytest",
                "--collect-only",
                "-q",
                "-p",
                "no:cacheprovider",
                name,
            ),
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        count = done.stdout.count("::test_pair")
    return min(times), count


def main() -> None:
    """Collect both and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--rails", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cluster_of(folder, options.nodes, options.rails)
        with (folder / "cluster.yaml").open("a") as stream:
            stream.write("pairs: {strategy: all}\n")
        (folder / "test_ours.py").write_text(OURS)
        (folder / "test_plain.py").write_text(
            PLAIN.format(nodes=options.nodes, rails=options.rails)
        )
        plain, count = cpu_s(folder, "test_plain.py")
        ours, same = cpu_s(folder, "test_ours.py")
    assert count == same, (count, same)
    print(
        json.dumps(
            {
                "items": count,
                "plain_cpu_s": round(plain, 2),
                "ours_cpu_s": round(ours, 2),
                "added": round(ours / plain - 1, 2),
            }
        )
    )


if __name__ == "__main__":
    main()
