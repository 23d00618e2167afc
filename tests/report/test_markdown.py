"""Markdown for CI: what did not pass is told, nothing in it is markup, and it has its bounds."""

from __future__ import annotations

import html
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric.report import markdown
from pytest_fabric.report.summary import Run
from pytest_fabric.results import Verdict

from .examples import HOSTILE, planned, verdict

PAIR = "gpu001:rail0..gpu002:rail0"


def run(*verdicts: Verdict) -> Run:
    return Run([planned(one) for one in verdicts], list(verdicts), [], {}, "fabric-runs/now")


def test_a_failure_is_told_with_value_limit_and_place() -> None:
    """In the title, in the counts, and in a row of its own."""
    found = markdown.summary_of(run(verdict(PAIR, "failed", message="slow\nmore")), "pod-a")

    assert found.startswith("## pod-a: failed\n")
    assert "| pair | 1 |" in found
    row = next(line for line in found.splitlines() if line.startswith("| test&#95;p99 "))
    cells = [html.unescape(word.strip()) for word in row.strip("|").split("|")]
    wanted = ["test_p99", PAIR, "failed", "18 us", "<= 5 us (cluster.yaml:41)", "slow"]
    assert cells == wanted


@pytest.mark.parametrize(
    ("outcomes", "word"),
    [
        (["passed", "skipped"], "passed"),
        (["passed", "waived", "skipped"], "passed with waivers"),
        (["waived"], "incomplete"),
        (["passed", "error"], "incomplete"),
        (["passed", "not run"], "incomplete"),
        (["skipped"], "incomplete"),
        (["nonsense"], "incomplete"),
        (["error", "failed"], "failed"),
        ([], "incomplete"),
    ],
)
def test_the_title_says_passed_only_when_something_did(outcomes: list[str], word: str) -> None:
    """Nothing but skips is no pass."""
    verdicts = [verdict(f"gpu{n}", outcome) for n, outcome in enumerate(outcomes)]
    assert markdown.summary_of(run(*verdicts), "pod").splitlines()[0] == f"## pod: {word}"


EVIL = st.text(max_size=60) | st.sampled_from(
    [
        HOSTILE,
        "@octocat",
        "https://evil.example",
        "www.evil.example",
        "</pre>",
        "a|b",
        "`x`",
        "<!--",
    ]
)


@settings(deadline=None)
@given(words=EVIL)
def test_no_text_becomes_markup(words: str) -> None:
    """Cells stay cells, nobody is mentioned, nothing is a link, and no tag is opened."""
    shown = markdown.cell(words)

    assert not re.search(r"[<|`@*_\[\]\n\\]|://|www\.", shown)
    whole = markdown.summary_of(
        run(replace(verdict(words, "failed", message=words), check=words or "x", layer=words)),
        words,
    )
    assert whole.count("</pre>") == 1
    assert whole.encode()


def test_a_pipe_that_nobody_reads_is_an_error_and_no_wait(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)

    with pytest.raises(OSError, match="No such device"):
        markdown.append(path, run(verdict("gpu001")), "pod-a")


def test_the_file_has_an_end(tmp_path: Path) -> None:
    """GitHub refuses more than a mebibyte, with all that the job has written before."""
    path = tmp_path / "summary.md"
    many = [verdict(f"gpu{n}:rail0", "failed", message="x" * 5000) for n in range(3000)]
    markdown.append(path, run(*many), "pod")
    text = path.read_text()
    assert len(text) < 100_000
    assert "and 2,900 more" in text

    path.write_text("x" * (markdown.MAX_BYTES - 100))
    markdown.append(path, run(*many), "pod")
    assert path.read_text().endswith("## pod: failed\n")
    path.write_text("x" * markdown.MAX_BYTES)
    markdown.append(path, run(*many), "pod")
    assert path.stat().st_size == markdown.MAX_BYTES
