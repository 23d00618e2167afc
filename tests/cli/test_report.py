"""`pytest-fabric report`: what the run has said, again."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pytest_fabric.report.records import read_verdicts
from tests.cli.inside import call
from tests.cli.test_command import command
from tests.clusters import TEXT

ROOT = Path(__file__).parents[2]


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


EXCLUDED = TEXT.replace("gpu[001-002]:", "gpu[001-003]:").replace(
    "rails:\n",
    'excluded: {gpu003: "drained, <b>INC-4711</b>"}\n'
    "waivers:\n"
    '  - {check: test_port_state, target: "gpu001:rail0", until: 2999-01-15, owner: netops, '
    "reason: RMA 4711}\n"
    "rails:\n",
)


class Sections(HTMLParser):
    """Takes the sections of a report out of its page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.depth = 0
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "div" and (self.depth or ("class", "fabric") in attrs):
            self.depth += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "div" and self.depth:
            self.depth -= 1

    def handle_data(self, data: str) -> None:
        if self.depth:
            self.words += data.split()


def test_a_report_is_the_same_whenever_it_is_made(tmp_path: Path) -> None:
    """Excluded nodes, waivers, leaves and counters are in the record of the run."""
    (tmp_path / "cluster.yaml").write_text(EXCLUDED)
    shutil.copytree(ROOT / "suites", tmp_path / "suites", ignore=shutil.ignore_patterns("__py*"))
    words = ["-q", "-k", "test_port_state or test_write_bandwidth", "-p", "no:cacheprovider"]
    pytest_words = [sys.executable, "-m", "pytest", *words, "suites"]
    ran = subprocess.run(pytest_words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    run = tmp_path / "fabric-runs" / "latest"
    then = Sections((run / "report.html").read_text()).words

    done = command("report", str(run), cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert Sections((run / "report.html").read_text()).words == then
    for words_of_it in ("excluded", "<b>INC-4711</b>", "netops", "INC-4711", "gpu003:rail0"):
        assert words_of_it in " ".join(then)
    assert done.stdout.replace(str(run.resolve()), str(run)) in ran.stdout.replace(
        str(run.resolve()), str(run)
    )


@pytest.mark.parametrize("text", ["", "[]", '{"notes": 1}', '{"odd": {"a": "b"}}', "\xff"])
def test_a_context_that_no_run_wrote_is_one_line(
    text: str, tmp_path: Path, run_directory: Path
) -> None:
    """What is not understood is not left out."""
    run = tmp_path / "run"
    shutil.copytree(run_directory, run)
    (run / "context.json").write_text(text, "latin-1")

    done = call(["report", str(run), "--html", str(tmp_path / "new.html")], tmp_path)

    assert done.returncode == 4
    assert "context.json: expected a record" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "new.html").exists()
