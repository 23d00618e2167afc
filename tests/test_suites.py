"""The shipped suites say which faults they find, and the lab has each of them."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from pytest_fabric.lab.faults import CATALOGUE

SUITES = Path(__file__).parents[1] / "suites"

#: Tests of which no fault of the lab proves that they can fail.
UNPROVEN: set[str] = set()


def declared() -> Iterator[tuple[str, list[str]]]:
    """Yield each test with the faults that it says it catches."""
    for path in sorted(SUITES.glob("test_*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                calls = [one for one in node.decorator_list if isinstance(one, ast.Call)]
                named = [call for call in calls if ast.unparse(call.func) == "catches"]
                yield node.name, [ast.literal_eval(arg) for call in named for arg in call.args]


def test_every_fault_that_a_test_catches_is_in_the_catalogue() -> None:
    unknown = {(name, one) for name, faults in declared() for one in faults if one not in CATALOGUE}

    assert not unknown


def test_the_tests_that_nothing_proves_are_known() -> None:
    """One that is proven from now on is taken off the list."""
    assert {name for name, faults in declared() if not faults} == UNPROVEN


def test_names_are_those_of_one_test() -> None:
    names = [name for name, _ in declared()]

    assert len(set(names)) == len(names)


def test_what_suites_import_is_the_marker_whatever_was_loaded_before() -> None:
    """The package has a folder of the same name."""
    lines = "import pytest_fabric.measure.plan; from pytest_fabric import measure; measure(1)"
    done = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, check=False
    )

    assert "expected a measurement" in done.stderr
