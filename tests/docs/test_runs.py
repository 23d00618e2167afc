"""Commands of the documentation that are said to run print on the lab what is shown there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.samples import PAGES, REPOSITORY, read

#: A number, which may be another one on another day: that of a core, a port, a value with noise.
NUMBER = re.compile(r"\d[\d,.:-]*")

#: What is left out, also at the end of a line.
REST = "..."


def shown(page: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a page that runs, with the lines that are shown below it."""
    for sample in read(page):
        if "run" in sample.said and sample.language == "console":
            for part in re.split(r"^\$ ", sample.text, flags=re.M)[1:]:
                command, *below = part.splitlines()
                yield command, below


def plain(line: str) -> str:
    return NUMBER.sub("#", " ".join(line.split()))


def missing(wanted: list[str], printed: list[str]) -> str | None:
    """Return the first line that is shown and was not printed in its place, or None."""
    found = iter([plain(line) for line in printed])
    lines = (plain(line) for line in wanted if line.strip() not in ("", REST))
    return next((line for line in lines if not any(line in one for one in found)), None)


PAGES_THAT_RUN = [page for page in PAGES if list(shown(page))]


@pytest.mark.parametrize("page", PAGES_THAT_RUN, ids=lambda page: page.stem)
def test_a_page_shows_what_is_printed(page: Path, tmp_path: Path) -> None:
    """In an empty folder, one command after another."""
    binaries = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    left_out = ("GITHUB_STEP_SUMMARY", "PYTEST_ADDOPTS")
    env = {name: value for name, value in os.environ.items() if name not in left_out}
    env |= {"PATH": binaries, "PYTHONPATH": str(REPOSITORY), "COLUMNS": "200"}
    status = 0
    for command, below in shown(page):
        if command == "echo $?":
            assert below == [str(status)]
            continue
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        status = done.returncode
        lines = (done.stdout + done.stderr).splitlines()
        assert missing(below, lines) is None, f"$ {command}\n" + "\n".join(lines[-60:])


def test_some_pages_run() -> None:
    """An empty list would pass all of the above."""
    assert [page.stem for page in PAGES_THAT_RUN] == ["lab"]


def test_what_is_not_printed_is_found() -> None:
    """Numbers may differ, words and their order may not."""
    printed = ["3 checks: 2 passed", "suspects:", "  1. gpu003:rail1  99%"]

    assert missing(["9 checks: 1 passed", "...", "1. gpu001:rail0 7%"], printed) is None
    assert missing(["suspects:", "9 checks: 1 passed"], printed) == "# checks: # passed"
    assert missing(["3 checks: 2 failed"], printed) == "# checks: # failed"
