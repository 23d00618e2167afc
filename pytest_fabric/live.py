"""The line that tells how far a run is while pytest waits for a measurement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rich.cells import set_cell_size

from pytest_fabric.measure.progress import Progress
from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.text import listed

#: So many of the measurements that run are named.
NAMED = 2


class LiveLine:
    """Draws one line below pytest's own while the main thread waits, and takes it away again.

    Only the main thread writes, so pytest's dots and ours never meet. It is silent where output is
    not a terminal, and where the output of tests goes to it (`-s`).
    """

    def __init__(self, config: pytest.Config, progress: Callable[[], Progress]) -> None:
        self._reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
        self._capture: Any = config.pluginmanager.get_plugin("capturemanager")
        self._progress = progress
        self._is_drawn = False
        self._said = ""
        shares_terminal = config.getoption("capture") == "no"
        self._is_on = (
            self._reporter is not None
            and self._capture is not None
            and self._reporter.isatty
            and not shares_terminal
        )

    def draw(self) -> None:
        """Show how far the run is now."""
        if not self._is_on:
            return
        reporter = self._reporter
        stats = reporter.stats
        failed = len(stats.get("failed", ())) + len(stats.get("error", ()))
        width = reporter._tw.fullwidth - 1
        said = f"{self._said}; " if self._said else ""
        line = set_cell_size(f"{said}{text(self._progress(), failed)}", width).rstrip()
        start = "" if self._is_drawn else "\n"
        self._is_drawn = True
        self._write(f"{start}\r\x1b[2K{line}")

    def say(self, text: str) -> None:
        """Show this too from now on."""
        self._said = clean_line(text)

    def clear(self) -> None:
        """Take the line away, and go back to where pytest left off."""
        if not self._is_drawn:
            return
        self._is_drawn = False
        column = self._reporter._tw.width_of_current_line
        right = f"\x1b[{column}C" if column else ""
        self._write(f"\r\x1b[2K\x1b[1A\r{right}")

    def _write(self, sequence: str) -> None:
        with self._capture.global_and_fixture_disabled():
            # Past pytest's writer, which counts the columns of what it is given.
            stream = self._reporter._tw._file
            stream.write(sequence)
            stream.flush()


def text(progress: Progress, failed: int) -> str:
    """Return how far a run is, in a line: running, done, failed, and the time that is left."""
    shown = f" ({listed(progress.running, NAMED)})" if progress.running else ""
    whole = progress.done + progress.waiting + len(progress.running)
    parts = [
        f"{progress.done:,} of {whole:,} measured",
        f"{failed:,} failed" if failed else "",
        f"{span(progress.left_s)} left" if progress.waiting or progress.running else "",
        f"{len(progress.running)} running{shown}",
    ]
    return clean_line("; ".join(part for part in parts if part))


def span(seconds: float) -> str:
    """Return a time as people say it: `40 s`, `3 min`, `2.5 h`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
