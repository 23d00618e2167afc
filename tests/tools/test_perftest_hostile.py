"""No damage to a capture makes a wrong value of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.tools import perftest, perftest_table

DATA = Path(__file__).parents[1] / "data" / "perftest"
TEXTS = {path.stem: path.read_text() for path in sorted(DATA.glob("*.txt"))}
WANTED: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text()) for path in sorted(DATA.glob("*.json"))
}

#: Captures whose rows are right, but do not count because of what stands around them.
REFUSED_ROWS = {"lat-all-sizes-cut-off": "lat-all-sizes-warnings"}


def read(text: str) -> tuple[list[perftest.Record], str | None]:
    try:
        return perftest.records(text), None
    except ToolError as error:
        return [], error.kind
    except NotRecognisedError:
        return [], "not_recognised"


def true_rows(case: str) -> list[perftest.Record]:
    wanted = WANTED[REFUSED_ROWS.get(case, case)]
    rows: list[perftest.Record] = wanted["results"] or wanted.get("facts", {}).get("rows", [])
    return rows


def agrees(row: perftest.Record, true: perftest.Record) -> bool:
    """Return whether a row says nothing but what the true one says, of its counters too."""
    counters, told = row.get("counters", {}), true.get("counters", {})
    assert isinstance(counters, dict)
    assert isinstance(told, dict)
    rest = {name: value for name, value in row.items() if name != "counters"}
    known = {name: value for name, value in true.items() if name != "counters"}
    return rest == known and counters.items() <= told.items()


#: A whole row, and an error behind it: cut between the two, nothing shows that one was to come. A
#: run is known to be whole by its exit status.
ERROR_AFTER_ROW = {"error-below-limit", "error-free-text-after-row", "error-shell-after-row"}


@settings(max_examples=500, deadline=None)
@given(data=st.data())
def test_a_capture_cut_anywhere_gives_its_first_rows_or_none(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(sorted(TEXTS.keys() - ERROR_AFTER_ROW)))
    length = data.draw(st.integers(0, len(TEXTS[case])))

    rows, _ = read(TEXTS[case][:length])

    true = true_rows(case)[: len(rows)]
    assert all(agrees(row, one) for row, one in zip(rows, true, strict=True))


@pytest.mark.parametrize("case", ["lat-iterations", "bw-mebibytes", "json-bandwidth"])
def test_a_capture_cut_near_its_row_gives_the_whole_row_or_none(case: str) -> None:
    text = TEXTS[case]

    read_in_part = [read(text[:length])[0] for length in range(len(text) - 200, len(text))]

    assert [rows for rows in read_in_part if rows not in ([], true_rows(case))] == []


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_capture_that_lost_a_piece_never_gives_other_rows(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from([case for case in sorted(TEXTS) if true_rows(case)]))
    lines = TEXTS[case].splitlines(keepends=True)
    lost = data.draw(st.integers(0, len(lines) - 1))

    rows, _ = read("".join(lines[:lost] + lines[lost + 1 :]))

    true = true_rows(case)
    assert [row for row in rows if not any(agrees(row, one) for one in true)] == []


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
def test_random_bytes_are_no_result(noise: bytes) -> None:
    assert read(noise.decode("utf-8", errors="replace"))[0] == []


PIECES = st.sampled_from(
    [
        *perftest_table.HEADERS,
        "-" * 87,
        "#, usec",
        "1, 1.9",
        "{",
        "},",
        "}",
        "results: {",
        '"test_info": {',
        "MsgSize: 2,",
        "2 1000 1.00 1.00 0.062500",
        "2 1000 1.00 3.00 2.00 2.00 0.10 2.50 2.90",
        "65536 0 0.00 0.00 0.000000",
        "RDMA_Write BW Test",
        "Version: 6.29",
        " Mtu : 4096[B]",
        "\x1b[31m",
        "\r",
        "9" * 400,
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES | st.text(max_size=12), max_size=12), st.sampled_from([" ", "\n"]))
def test_any_mixture_is_recognised_or_refused_by_name(pieces: list[str], glue: str) -> None:
    rows, error = read(glue.join(pieces))

    assert rows == [] or error is None
    assert all(value is None or value > 0 for row in rows for value in row.values())  # type: ignore[operator]


def test_ten_megabytes_of_one_line_are_refused_at_once() -> None:
    assert read("Failed status-" * 700_000)[1] == "not_recognised"
