"""The waves of a proof, each a run of pytest in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pytest_fabric.declare import SOAK
from pytest_fabric.errors import ConfigError, NotRecognisedError
from pytest_fabric.prove.judge import Judged, judge
from pytest_fabric.prove.plan import Wave
from pytest_fabric.prove.shape import Model, cable_plan, cluster_file
from pytest_fabric.report import context
from pytest_fabric.report.pattern import Known
from pytest_fabric.report.records import read_verdicts

#: A wave is a matter of seconds: one that takes longer hangs.
WAVE_S = 300.0

#: Seconds in which a wave ends what it has started when it is told to.
ENDS_S = 20.0

#: The soak of a wave: the least of 75 s that show the usual limit of a bit error rate, in windows
#: short enough that beginning and end of it can be told apart.
SOAKED = ("--fabric-soak", "96s", "-o", "fabric_soak_window=12s")

#: Exit statuses of a wave that has judged: passed, failed, or something could not be measured.
JUDGED = (0, 1, 10)


@dataclass(frozen=True)
class Site:
    """Where and how pytest was started: what every wave must have alike."""

    here: Path
    root: Path
    ini: Path | None
    plugins: tuple[str, ...]
    overrides: tuple[str, ...]
    options: tuple[str, ...]


@dataclass(frozen=True)
class Shown:
    """What came of a wave: verdicts that are judged, or why there are none."""

    judged: Judged | None
    trouble: str | None


class Driver:
    """Runs waves, several at a time if several threads ask; `close` ends those that run."""

    def __init__(self, site: Site, model: Model, directory: Path) -> None:
        self._site = site
        self._model = model
        self._directory = directory
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    @property
    def layer(self) -> str:
        """Return the link layer of most of the user's fabric."""
        return self._model.layer

    def run(self, number: int, wave: Wave) -> Shown:
        """Run a wave and judge it; its run directory stays in a folder of its own. Raises OSError.

        Ctrl-C is ours: `close` tells the wave, which ends its lab.
        """
        folder = self._directory / f"wave-{number}"
        folder.mkdir()
        (folder / "cluster.yaml").write_text(cluster_file(wave, self._model))
        (folder / "cables.csv").write_text(cable_plan(wave))
        told = folder / "output.txt"
        with told.open("wb") as output:
            status = self._status(command(self._site, wave, folder), output)
        if status is None:
            return Shown(None, f"wave {wave.name}: expected its end within {WAVE_S:g} s")
        if status not in JUDGED:
            last = told.read_text(errors="replace").strip().splitlines() or ["it said nothing"]
            line = next((text for text in last if text.startswith("ERROR")), last[-1])
            return Shown(None, f"wave {wave.name}: exit status {status}: {line} ({told})")
        try:
            verdicts = read_verdicts(folder / "runs" / "latest" / "verdicts.jsonl")
            said = context.read(folder / "runs" / "latest")
        except (OSError, NotRecognisedError, ConfigError) as error:
            return Shown(None, f"wave {wave.name}: expected verdicts: {error}")
        if said is None:
            return Shown(
                None, f"wave {wave.name}: expected a run that ended, found one that did not"
            )
        return Shown(judge(wave, verdicts, Known(said.growth, odd=said.odd)), None)

    def _status(self, words: Sequence[str], output: IO[bytes]) -> int | None:
        """Run a command to its end; None when it took too long and was ended."""
        with self._lock:
            if self._is_closed:
                return -signal.SIGTERM
            process = subprocess.Popen(
                words,
                cwd=self._site.here,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._running.add(process)
        try:
            return process.wait(WAVE_S)
        except subprocess.TimeoutExpired:
            _end(process)
            return None
        finally:
            with self._lock:
                self._running.discard(process)

    def close(self) -> None:
        """End the waves that run, by their pids: each ends its own lab."""
        with self._lock:
            self._is_closed = True
            running = list(self._running)
        for process in running:
            process.send_signal(signal.SIGTERM)
        for process in running:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(ENDS_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def command(site: Site, wave: Wave, folder: Path) -> Sequence[str]:
    """Return the command of a wave: the user's site, and nothing of the options in its ini file."""
    return [
        *(sys.executable, "-m", "pytest"),
        *(str(site.root / item) for item in _items(wave)),
        *("--rootdir", str(site.root)),
        *(("-c", str(site.ini)) if site.ini else ()),
        *(word for plugin in site.plugins for word in ("-p", plugin)),
        *(word for override in site.overrides for word in ("-o", override)),
        *("-o", "addopts=", "-p", "no:cacheprovider", "-q", "--tb=no", "--no-header"),
        *("--fabric-cluster", str(folder / "cluster.yaml")),
        *("--fabric-out", str(folder / "runs"), "--fabric-no-reports"),
        *site.options,
        *(SOAKED if wave.group == SOAK else ()),
        *(f"--fabric-fault={one.fault}@{one.place}" for one in wave.injections),
    ]


def _items(wave: Wave) -> list[str]:
    """Return what a wave runs: functions, with their targets where only some are wanted."""
    if not wave.targets:
        return list(wave.checks)
    return [f"{check}[{target}]" for check in wave.checks for target in wave.targets]


def environment() -> dict[str, str]:
    """Return our environment without options for pytest, which were for this process."""
    return {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
