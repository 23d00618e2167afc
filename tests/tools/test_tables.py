"""Tables of SONiC: cells are found by their columns, and what keeps to none is no row."""

from __future__ import annotations

import pytest

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import tables

TEXT = """First:
    Port    Name
--------  ------
Ethernet0
Ethernet4    a b
Second: more
  Port    Name
------  ------
  eth0

  eth1       c
Note: no more
"""


def test_cells_are_found_by_their_columns() -> None:
    first, second = tables.read(TEXT.replace("Ethernet", "Ether "), right=False)[0]

    assert first.rows == ({"Port": "Ether 0", "Name": ""}, {"Port": "Ether 4", "Name": "a b"})
    assert second.rows == ({"Port": "eth0", "Name": ""}, {"Port": "eth1", "Name": "c"})


def test_a_row_that_leaves_its_columns_ends_the_table() -> None:
    (first, second), others = tables.read(TEXT, right=False)

    assert first.rows == ()
    assert (first.caption, second.caption) == ("First:", "Second: more")
    assert others == ["First:", "Ethernet0", "Ethernet4    a b", "Second: more", "Note: no more"]


@pytest.mark.parametrize("row", ["  eth0     1", "  eth0"])
def test_a_row_flush_right_reaches_the_end_of_its_columns(row: str) -> None:
    assert tables.read("  Port    Name\n------  ------\n  eth0      12\n")[0][0].rows

    with pytest.raises(NotRecognisedError, match="whole row"):
        tables.read(f"  Port    Name\n------  ------\n{row}\n")


@pytest.mark.parametrize("cell", ["1,23", "1,2345", "1.5", "-1", "x", "1,,000", "\u0661", ""])
def test_a_counter_is_whole_and_well_separated(cell: str) -> None:
    with pytest.raises(NotRecognisedError):
        tables.count(cell)


def test_separators_and_absent_counters() -> None:
    assert [tables.count(cell) for cell in ("0", "1,234,567", "N/A")] == [0, 1234567, None]
