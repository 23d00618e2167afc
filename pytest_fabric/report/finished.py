"""What an earlier run has come to: what it was, what it planned, and its verdicts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from pytest_fabric.errors import ConfigError
from pytest_fabric.report import records, typed
from pytest_fabric.report.about import About
from pytest_fabric.report.planned import OUTCOMES, Planned, terminal
from pytest_fabric.report.stored import open_run
from pytest_fabric.results import Verdict

T = TypeVar("T")

#: What reading a record raises for a text that is none.
UNREADABLE = (ValueError, KeyError, TypeError, RecursionError)

#: The year 3000, in seconds since the epoch: no run is later, and every calendar has it.
LATEST_S = 32_503_680_000


@dataclass(frozen=True)
class Finished:
    """A run directory without its measurements; a run that was killed is one, too."""

    path: Path
    about: About
    planned: tuple[Planned, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def results(self) -> list[tuple[Planned, Verdict]]:
        """Return every planned check once, `not run` where it has no verdict."""
        return terminal(self.planned, self.verdicts)


def read(option: str, path: Path) -> Finished:
    """Return the run directory that an option names. Raises ConfigError for what is none."""
    run = open_run(option, path)
    planned = tuple(_plan(run.path / "plan.json"))
    verdicts = tuple(_lines(run.path / "verdicts.jsonl", Verdict))
    _require_sense(run.path, run.about, verdicts)
    if not planned and not verdicts:
        raise ConfigError(f"{option}: expected checks in {run.path}, found none: it was killed")
    return Finished(run.path, run.about, planned, verdicts)


def _require_sense(path: Path, about: About, verdicts: Iterable[Verdict]) -> None:
    """Raise ConfigError for records of the right form that no run can have written."""
    try:
        datetime.fromisoformat(about.started)
    except ValueError as error:
        raise _no_record(f"{path}/run.json", error) from None
    for number, verdict in enumerate(verdicts, 1):
        for what, value, is_right in (
            ("outcome", verdict.outcome, verdict.outcome in OUTCOMES),
            ("started", verdict.started, 0 <= verdict.started < LATEST_S),
            ("duration", verdict.duration, 0 <= verdict.duration < LATEST_S),
        ):
            if not is_right:
                raise _no_record(f"{path}/verdicts.jsonl:{number}", ValueError(f"{what} {value!r}"))


def _plan(path: Path) -> Iterator[Planned]:
    if not path.exists():  # killed before it had one
        return
    try:
        found = json.loads(_bytes(path))
        if not isinstance(found, list):
            raise TypeError(f"expected a list, got {type(found).__name__}")
        yield from (typed.read(Planned, one) for one in found)
    except UNREADABLE as error:
        raise _no_record(str(path), error) from None


def _lines(path: Path, kind: type[T]) -> Iterator[T]:
    if not path.exists():
        return
    data = _bytes(path)
    *lines, rest = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        try:
            yield typed.read(kind, records.loads(line))
        except UNREADABLE as error:
            raise _no_record(f"{path}:{number}", error) from None
    del rest  # a line that a kill cut short never was a verdict


def _bytes(path: Path) -> bytes:
    if not path.is_file():
        raise ConfigError(f"{path}: expected a file, found something else")
    try:
        return path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: cannot read it: {error.strerror}") from None


def _no_record(place: str, error: Exception) -> ConfigError:
    return ConfigError(f"{place}: expected a record of this product, got {repr(error)[:200]}")
