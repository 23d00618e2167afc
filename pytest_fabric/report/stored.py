"""The run directory of an earlier run, read again: nothing in it is trusted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from pytest_fabric.errors import ConfigError, NotRecognisedError
from pytest_fabric.metrics import KEPT
from pytest_fabric.report import records, typed
from pytest_fabric.report.about import SCHEMA, About
from pytest_fabric.report.rundir import read_raw, safe_name
from pytest_fabric.results import Measured, Measurement, NodeFacts, Reading

#: A line number of measurements.jsonl with what of that line is needed to judge.
Line = tuple[int, Measurement]


class Stored:
    """What an earlier run has left. Raises ConfigError with one line for what cannot be read."""

    def __init__(self, path: Path, about: About) -> None:
        self.path = path
        self.about = about
        self._counters: dict[str, set[str]] = {}
        self._files: dict[str, list[tuple[str, str]]] = {}
        self._groups = self._read_groups()

    @property
    def measured(self) -> list[Measured]:
        """Return each measurement once, the latest of its key, with its repetitions alone.

        Raw text and counters without a meaning are left out.
        """
        return [Measured(first, tuple(r for _, r in rest)) for (_, first), *rest in self._groups]

    @property
    def counters(self) -> dict[str, frozenset[str]]:
        """Return the names of all counters that any measurement saw, by port."""
        return {port: frozenset(names) for port, names in self._counters.items()}

    @property
    def files(self) -> dict[str, list[tuple[str, str]]]:
        """Return the files of raw text by target, each with the key of its measurement."""
        return self._files

    @property
    def settled(self) -> list[Measurement]:
        """Return the measurements and repetitions that need not be made again, in their order."""
        return [record for _, record in self._settled()]

    @cached_property
    def facts(self) -> dict[str, NodeFacts]:
        """Return the facts of each node of which there are any."""
        folder = self.path / "facts"
        found = {}
        try:
            for path in sorted(folder.glob("*.json")):
                facts = _facts(path)
                found[facts.node] = facts
        except OSError as error:
            raise _unreadable(folder, error) from None
        return found

    @cached_property
    def readings(self) -> dict[tuple[str, str], Reading]:
        """Return what nodes said about topics, by topic and node."""
        folder = self.path / "readings"
        try:
            found = [_reading(path) for path in sorted(folder.glob("*.json"))]
        except OSError as error:
            raise _unreadable(folder, error) from None
        return {(reading.topic, reading.node): reading for reading in found}

    def copies(self, settled_only: bool) -> Iterator[Measurement]:
        """Yield the measurements whole, with their raw text; errors only where they are wanted."""
        lines = self._settled() if settled_only else (line for g in self._groups for line in g)
        wanted = {number for number, _ in lines}
        try:
            for number, record in self._lines():
                if number in wanted:
                    yield replace(record, raw=self._texts(record))
        except OSError as error:
            raise _unreadable(self.path, error) from None

    def _settled(self) -> Iterator[Line]:
        for first, *rest in self._groups:
            if _is_settled(first[1]):
                yield first
                yield from (line for line in rest if _is_settled(line[1]))

    def _read_groups(self) -> list[list[Line]]:
        try:
            files = self._raw_files()
            groups: dict[str, list[Line]] = {}
            for number, record in self._lines():
                self._require_raw(number, record, files)
                for grown in record.growth:
                    self._counters.setdefault(grown.port, set()).add(grown.name)
                for name in dict.fromkeys(record.raw.values()):
                    self._files.setdefault(record.target, []).append((record.key, name))
                key = f"{record.target} {record.key}"
                if not record.is_repetition:
                    groups[key] = []  # repetitions belong to the measurement before them
                if key in groups:
                    groups[key].append((number, _slim(record)))
        except OSError as error:
            raise _unreadable(self.path, error) from None
        return list(groups.values())

    def _lines(self) -> Iterator[Line]:
        path = self.path / "measurements.jsonl"
        if not path.exists():  # a run that was killed before its first measurement
            return
        _require_file(path)
        try:
            yield from enumerate(records.each_measurement(path), 1)
        except NotRecognisedError as error:
            raise ConfigError(f"{error}: take the line out to go on without it") from None

    def _raw_files(self) -> set[str]:
        """Return the names of raw files; a link could lead anywhere and is none of them."""
        folder = self.path / "raw"
        if not folder.is_dir():
            return set()
        with os.scandir(folder) as entries:
            return {f"raw/{one.name}" for one in entries if one.is_file(follow_symlinks=False)}

    def _require_raw(self, number: int, record: Measurement, files: set[str]) -> None:
        for name in record.raw.values():
            if name not in files:
                raise ConfigError(
                    f"{self.path / 'measurements.jsonl'}:{number}: expected a file of raw text in "
                    f"raw/, found none named {name[:60]!r}: restore it, or take the line out"
                )

    def _texts(self, record: Measurement) -> dict[str, str]:
        """Return the raw text of each stream; one that a kill cut short is empty."""
        files = {name: read_raw(self.path / name) for name in set(record.raw.values())}
        return {stream: files[name].get(stream, "") for stream, name in record.raw.items()}


def open_run(option: str, path: Path) -> Stored:
    """Return the run directory at `path`, which an option names. Raises ConfigError."""
    remedy = "give the directory of a run, as fabric-runs/latest"
    try:
        found = path.resolve(strict=True)  # `latest` will point elsewhere in a moment
        if not found.is_dir():
            raise ConfigError(f"{option}: expected a directory, found a file at {path}: {remedy}")
        if not (found / "run.json").exists():
            raise ConfigError(
                f"{option}: expected the directory of a run, found no run.json in {path}: {remedy}"
            )
        about = _about(found / "run.json")
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(
            f"{option}: expected the directory of a run at {path}, found none ({reason}): {remedy}"
        ) from None
    return Stored(found, about)


def _about(path: Path) -> About:
    _require_file(path)
    try:
        record = records.loads(path.read_bytes())
        schema = record["schema"]
        if schema == SCHEMA:
            return typed.read(About, record)
    except (ValueError, KeyError, TypeError) as error:
        raise _no_record(path, error) from None
    raise ConfigError(
        f"{path}: expected schema {SCHEMA}, found {str(schema)[:20]!r}: another version wrote it, "
        "use that one"
    )


def _facts(path: Path) -> NodeFacts:
    _require_file(path)
    try:
        facts = records.to_facts(records.loads(path.read_bytes()))
    except (ValueError, KeyError, TypeError) as error:
        raise _no_record(path, error) from None
    if f"{safe_name(facts.node)}.json" != path.name:
        raise ConfigError(f"{path}: expected the facts of that node, found {facts.node[:60]!r}")
    return facts


def _reading(path: Path) -> Reading:
    _require_file(path)
    try:
        reading = typed.read(Reading, records.loads(path.read_bytes()))
    except (ValueError, KeyError, TypeError) as error:
        raise _no_record(path, error) from None
    if f"{reading.topic}-{safe_name(reading.node)}.json" != path.name:
        raise ConfigError(f"{path}: expected a reading of that node, found {reading.node[:60]!r}")
    return reading


def _is_settled(record: Measurement) -> bool:
    """Return whether a measurement has values, and may be judged by them."""
    # A window of a soak without a value stays one: what its links have lost must not be forgotten.
    has_health = any(row.seconds > 0 for row in record.health)
    return (record.error is None and not record.doubts) or has_health


def _slim(record: Measurement) -> Measurement:
    """Return what of a measurement is needed to judge it: a fabric has thousands of them."""
    grown = tuple(growth for growth in record.growth if growth.meaning in KEPT)
    return replace(record, raw={}, growth=grown)


def _require_file(path: Path) -> None:
    if not path.is_file():  # reading a pipe would wait for ever
        raise ConfigError(f"{path}: expected a file, found something else")


def _no_record(path: Path, error: Exception) -> ConfigError:
    return ConfigError(f"{path}: expected a record of this product, got {repr(error)[:200]}")


def _unreadable(path: Path, error: OSError) -> ConfigError:
    return ConfigError(f"{error.filename or path}: cannot read it: {error.strerror}")
