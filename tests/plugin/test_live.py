"""The live line: there on a terminal, silent elsewhere, and never in pytest's way."""

from __future__ import annotations

import os
import pty
import re
import select
import sys
import time

import pytest

from pytest_fabric.live import span, text
from pytest_fabric.measure.progress import Progress

RUNNING = ("ib_write_lat gpu001:rail0..gpu002:rail0", "ib_read_lat a", "ib_read_lat b")


@pytest.mark.parametrize(
    ("progress", "failed", "line"),
    [
        (
            Progress(RUNNING, 5, 12, 190.0),
            2,
            "12 of 20 measured; 2 failed; 3 min left; 3 running (ib_write_lat "
            "gpu001:rail0..gpu002:rail0, ib_read_lat a and 1 more)",
        ),
        (Progress((), 0, 7, 0.0), 0, "7 of 7 measured; 0 running"),
        (
            Progress(("x\x1b[31m\ny",), 0, 0, 3.0),
            0,
            "0 of 1 measured; 3 s left; 1 running (x y)",
        ),
    ],
)
def test_the_line_says_what_is_done_failed_left_and_running(
    progress: Progress, failed: int, line: str
) -> None:
    """On one line, whatever a name holds."""
    assert text(progress, failed) == line


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.2, "1 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (9000, "2.5 h")],
)
def test_times_are_said_as_people_say_them(seconds: float, said: str) -> None:
    """Seconds, minutes, hours."""
    assert span(seconds) == said


def on_a_terminal(site: pytest.Pytester, *options: str) -> str:
    """Return what pytest writes to a terminal."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(site.path)
        words = [
            sys.executable,
            "-m",
            "pytest",
            "suites",
            "-k",
            "test_small_write_p99 and not p999",
            *options,
        ]
        os.execve(sys.executable, words, {**os.environ, "COLUMNS": "100", "TERM": "xterm"})
    said, until = b"", time.monotonic() + 90
    while time.monotonic() < until:
        if not select.select([terminal], [], [], 1.0)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        said += data
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    return said.decode()


def slow(site: pytest.Pytester) -> None:
    path = site.path / "cluster.yaml"
    path.write_text(path.read_text().replace("time: 0.02", "time: 1"))


def test_on_a_terminal_the_line_comes_and_goes(site: pytest.Pytester) -> None:
    """Each line that is drawn is taken away before pytest writes its next letter."""
    slow(site)
    said = on_a_terminal(site)

    assert re.search(r"\d of 8 measured; \d+ s left; \d running \(ib_write_lat gpu", said)
    drawn = said.count("\n\r\x1b[2K")
    taken = said.count("\r\x1b[2K\x1b[1A\r")
    assert drawn == taken > 0
    screen = re.sub(r"\r?\n\r\x1b\[2K.*?\r\x1b\[2K\x1b\[1A\r(\x1b\[\d+C)?", "", said, flags=re.S)
    screen = re.sub(r"\x1b\[\d*m", "", screen)
    assert re.search(r"test_4_pair\.py \.{8} +\[100%\]", screen)


def test_with_s_the_terminal_is_the_tests(site: pytest.Pytester) -> None:
    """What tests print must not be mixed with the line."""
    slow(site)
    assert "measured;" not in on_a_terminal(site, "-s")


def test_elsewhere_there_is_no_line(site: pytest.Pytester) -> None:
    """A log of CI has results, and no control characters."""
    slow(site)
    done = site.runpytest_subprocess("suites", "-k", "test_small_write_p99 and not p999")
    assert done.ret == 0
    assert "\x1b" not in done.stdout.str()
    assert "of 8 measured;" not in done.stdout.str()
