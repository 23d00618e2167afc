"""Records are read again, also after a run that was killed."""

from __future__ import annotations

import json
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.report import records
from pytest_fabric.results import Reach, Tcp, Verdict

from .examples import LATENCY, verdict


@pytest.mark.parametrize("cut", [1, 40, 60, 300])
def test_a_torn_last_line_is_left_out(tmp_path: Path, cut: int) -> None:
    """A killed run loses what was in flight, and no more, wherever the line was cut."""
    first, second = (records.dumps(verdict(target)).encode() for target in ("gpu001", "gpu002ü"))
    path = tmp_path / "verdicts.jsonl"
    path.write_bytes(first + b"\n" + second[:cut])

    assert [found.target for found in records.read_verdicts(path)] == ["gpu001"]


def test_a_last_line_that_only_lacks_its_end_is_kept(tmp_path: Path) -> None:
    """The record is whole."""
    path = tmp_path / "verdicts.jsonl"
    path.write_text(records.dumps(verdict("gpu001")))

    assert [found.target for found in records.read_verdicts(path)] == ["gpu001"]


@pytest.mark.parametrize(
    "line",
    ["{", "[]", "null", "{}", '{"nodeid": "x"}', "\\xff"],
)
def test_any_other_line_that_is_no_record_is_refused(tmp_path: Path, line: str) -> None:
    """A damaged record is never passed over in silence; the message names file and line."""
    path = tmp_path / "verdicts.jsonl"
    path.write_text(f"{records.dumps(verdict('gpu001'))}\n{line}\n")

    with pytest.raises(NotRecognisedError, match=r"verdicts\.jsonl:2: expected a record"):
        records.read_verdicts(path)


def test_later_keys_do_not_hinder(tmp_path: Path) -> None:
    """A record of a newer version is read for what is known."""
    path = tmp_path / "verdicts.jsonl"
    path.write_text(json.dumps({**asdict(verdict("gpu001")), "new": 1}) + "\n")

    assert records.read_verdicts(path) == [verdict("gpu001")]
    assert [field.name for field in fields(Verdict)] == list(asdict(verdict("gpu001")))


def test_a_record_without_pings_is_read() -> None:
    """Runs of versions that knew none can be replayed and resumed."""
    record = json.loads(records.measurement_line(LATENCY, {}))
    del record["reach"]

    assert records.to_measurement(record).reach == ()


def test_what_came_back_of_a_ping_is_read_as_it_was_written() -> None:
    ways = (Reach("a:r0", 84, 3000, 2999, 1, 2, 28e-6, 32e-6, 9e-5, None),)
    record = json.loads(records.measurement_line(replace(LATENCY, reach=ways), {}))

    assert records.to_measurement(record).reach == ways


def test_streams_of_tcp_are_read_as_they_were_written() -> None:
    """What was not told stays unknown."""
    row = Tcp("3.18", 4, 5.0, 9e9, 8e9, None, 1448, 0.9, None, 6e-5, 9e-5, 9, 0.5, 1.5, "cubic")
    record = json.loads(records.measurement_line(replace(LATENCY, tcp=row), {}))

    assert records.to_measurement(record).tcp == row
    del record["tcp"]
    assert records.to_measurement(record).tcp is None
