"""How large the report of a large fabric is, and how long it takes to write and to open.

`python -m bench.report [FOLDER]` prints JSON; with chromium at hand it opens the page, too.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from pytest_fabric.report.planned import Planned
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.report.summary import Run
from pytest_fabric.results import Verdict

#: 64 nodes of 8 rails, a ring on each, and so many checks of each pair: 10,240 results.
NODES, RAILS = 64, 8
CHECKS = [
    (f"test_{size}_{word}_{name}", f"ib_{word}_lat.{size}.{name}", "s", "<= 5 us")
    for size in (4, 4096)
    for word in ("write", "read", "send")
    for name in ("median", "p99")
] + [
    (f"test_{word}_bandwidth_{size}", f"ib_{word}_bw.{size}.average", "b/s", ">= 380 Gb/s")
    for size in (65536, 1048576)
    for word in ("write", "read", "send", "other")
]

#: A conftest.py whose tests are the verdicts of the record.
CONFTEST = """
from bench.report import record, rows
from pytest_fabric.report import html

RECORD = record()
VERDICTS = {v.nodeid.rpartition("::")[2]: v for v in RECORD.run.verdicts}

def pytest_generate_tests(metafunc):
    name = metafunc.function.__name__
    metafunc.parametrize("target", rows(RECORD, name), ids=str)

def pytest_html_report_title(report):
    report.title = html.title("a large fabric")

def pytest_html_results_table_header(cells):
    cells[:] = html.header(cells)

def pytest_html_results_table_row(report, cells):
    cells[:] = html.row(cells, VERDICTS[report.nodeid.rpartition("::")[2]])

def pytest_html_results_table_html(report, data):
    data[:] = html.log(report.outcome, data)

def pytest_html_results_summary(prefix):
    prefix.extend(html.summary(RECORD))
"""


def record(nodes: int = NODES, rails: int = RAILS) -> RunRecord:
    """Return a run in which a hundredth of all checks failed."""
    verdicts = []
    for rail in range(rails):
        for node in range(nodes):
            ends = [f"gpu{n % nodes + 1:03}:rail{rail}" for n in (node, node + 1)]
            for number, (check, metric, unit, limit) in enumerate(CHECKS):
                noise = (node * 7 + rail * 13 + number * 29) % 97
                verdicts.append(_verdict("..".join(ends), check, metric, unit, limit, noise))
    planned = [Planned(v.nodeid, v.check, v.target, v.layer, v.target[:6]) for v in verdicts]
    ports = [f"gpu{n + 1:03}:rail{rail}" for rail in range(rails) for n in range(nodes)]
    return RunRecord(Run(planned, verdicts, ports, {}))


def rows(found: RunRecord, check: str) -> list[str]:
    """Return the targets of a check."""
    return [v.target for v in found.run.verdicts if v.check == check]


def _verdict(target: str, check: str, metric: str, unit: str, limit: str, noise: int) -> Verdict:
    failed = noise == 0
    usual, bad = (2e-6, 18e-6) if unit == "s" else (390e9, 200e9)
    value = bad if failed else usual * (1 + noise / 10_000)
    message = "\n".join(["what was measured, how, and what stood beside it"] * 20)
    return Verdict(
        nodeid=f"suites/test_4_pair.py::{check}[{target}]",
        check=check,
        target=target,
        layer="pair",
        outcome="failed" if failed else "passed",
        metric=metric,
        value=value,
        unit=unit,
        limit=limit,
        limit_source="builtin/cx7-400g-roce.yaml:35",
        message=message if failed else None,
        started=0.0,
        duration=0.01,
    )


def write(folder: Path) -> float:
    """Write the report into a folder as pytest-html does, and return the seconds it took."""
    tests = [
        f"def {check}(target):\n    assert VERDICTS[f'{check}[{{target}}]'].outcome == 'passed'\n"
        for check, *_ in CHECKS
    ]
    suites = folder / "suites"
    suites.mkdir(parents=True, exist_ok=True)
    (folder / "conftest.py").write_text(CONFTEST)
    (suites / "test_4_pair.py").write_text("from conftest import VERDICTS\n\n" + "\n".join(tests))
    began = time.monotonic()
    words = ["-q", "--tb=line", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)]
    report = f"--html={folder / 'report.html'}"
    command = [sys.executable, "-m", "pytest", *words, report, "--self-contained-html"]
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


@dataclass(frozen=True)
class Opened:
    """What it takes to open a page: seconds that pass, and seconds of all processors."""

    seconds: float
    cpu_s: float


def opened(page: Path) -> Opened | None:
    """Return what chromium takes to load and draw a page, None without a chromium.

    Its folder is a new one: what was kept of another page must not help.
    """
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        return None
    shot = page.with_suffix(".png")
    words = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        f"--screenshot={shot}",
    ]
    words += ["--disable-background-networking", "--window-size=1400,1000"]
    with tempfile.TemporaryDirectory() as folder:
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [browser, *words, f"--user-data-dir={folder}", page.as_uri()],
            check=True,
            capture_output=True,
            timeout=120,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Opened(time.monotonic() - began, cpu)


def costs(page: Path, blank: Path) -> dict[str, float | None]:
    """Return what a page takes beside an empty one: a ratio that is alike on every machine."""
    usual, found = opened(blank), opened(page)
    if usual is None or found is None:
        return {"browser_alone_cpu_s": None, "open_cpu_s": None, "open_s": None, "ratio": None}
    return {
        "browser_alone_cpu_s": round(usual.cpu_s, 2),
        "open_cpu_s": round(found.cpu_s, 2),
        "open_s": round(found.seconds, 2),
        "ratio": round(found.cpu_s / usual.cpu_s, 2),
    }


def main() -> None:
    """Print the size of the report and what it costs."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()).resolve()
    seconds = write(folder)
    page = folder / "report.html"
    blank = folder / "blank.html"
    blank.write_text("<!doctype html><title>nothing</title>")
    found = {
        "results": NODES * RAILS * len(CHECKS),
        "megabytes": round(page.stat().st_size / 1e6, 2),
        "write_s": round(seconds, 1),
        **costs(page, blank),
        "page": str(page),
    }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
