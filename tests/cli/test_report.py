"""`pytest-fabric report`: what the run has said, again."""

from __future__ import annotations

import html
import json
import re
import shutil
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

from pytest_fabric.report.records import read_verdicts
from tests.cli.inside import call
from tests.cli.test_command import command


def rows(path: Path) -> Counter[str]:
    """Return how many rows of an HTML report have each result."""
    found = re.search(r'data-jsonblob="([^"]*)"', path.read_text())
    assert found
    tests = json.loads(html.unescape(found[1]))["tests"]
    return Counter(row["result"] for results in tests.values() for row in results)


def test_the_reports_of_a_run_are_made_again(run_directory: Path, tmp_path: Path) -> None:
    """The same rows, columns and summary as the run itself has written."""
    page, xml = tmp_path / "page.html", tmp_path / "cases.xml"
    done = command(
        "report", str(run_directory), "--html", str(page), "--junit", str(xml), cwd=tmp_path
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f"run directory: {run_directory}"
    outcomes = Counter(v.outcome for v in read_verdicts(run_directory / "verdicts.jsonl"))
    assert outcomes["failed"]
    assert rows(page) == rows(run_directory / "report.html")
    assert rows(page)["Failed"] == outcomes["failed"]
    text = page.read_text()
    assert "lab: RDMA fabric acceptance" in text
    assert "gpu001:rail0..gpu002:rail0  ib_write_lat 4 B: P99" in html.unescape(html.unescape(text))
    assert len(list(ET.parse(xml).iter("testcase"))) == outcomes.total()


def test_a_run_that_was_killed_is_reported_as_far_as_it_came(
    run_directory: Path, tmp_path: Path
) -> None:
    """What has no verdict did not pass, and a torn line is none."""
    killed = tmp_path / "killed"
    shutil.copytree(run_directory, killed)
    lines = (killed / "verdicts.jsonl").read_bytes().splitlines(keepends=True)
    (killed / "verdicts.jsonl").write_bytes(b"".join(lines[:3]) + lines[3][:50])
    about = json.loads((killed / "run.json").read_text())
    (killed / "run.json").write_text(json.dumps({**about, "ended": None, "exit_status": None}))
    done = command("report", str(killed), cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("this run has not ended")
    assert f"{len(lines) - 3} not run" in done.stdout
    assert rows(killed / "report.html")["Error"] == len(lines) - 3
    assert len(list(ET.parse(killed / "junit.xml").iter("error"))) == len(lines) - 3


def test_what_cannot_be_reported_is_one_line(run_directory: Path, tmp_path: Path) -> None:
    """No run, no such group, no such place."""
    for words in (
        ["report", str(tmp_path)],
        ["report", str(run_directory), "--group", "rack"],
        ["report", str(run_directory), "--junit", "/proc/none/x.xml"],
    ):
        done = call(words, tmp_path)
        assert (done.returncode, done.stderr.count("\n"), done.stdout) == (4, 1, "")
