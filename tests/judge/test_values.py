"""Values: they know their unit, note what they are compared with, and never pass on nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric import gbps, us
from pytest_fabric.errors import UnitError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.values import Settled, Value


def value(number: float | str, unit: str, ledger: Ledger | None = None) -> Value:
    return Value(number, unit, "ib_write_lat.4.p99", "ib_write_lat 4 B: P99", ledger or Ledger())


def test_a_comparison_decides_and_is_noted() -> None:
    """The report needs value, limit and outcome of what a plain assertion compared."""
    ledger = Ledger()

    assert not value(18e-6, "s", ledger) < us(5)
    assert value(2e-6, "s", ledger) < us(5)

    first, second = ledger.checks
    assert (first.shown, first.limit, first.passed) == ("18 us", "< 5 us", False)
    assert second.passed
    assert ledger.deciding(failed=True) is first
    assert ledger.deciding(failed=False) == second


def test_all_clauses_that_held_are_told() -> None:
    """The last one may be the loosest."""
    ledger = Ledger()

    assert value(2e-6, "s", ledger) < us(3)
    assert value(2e-6, "s", ledger) < us(5)

    deciding = ledger.deciding(failed=False)
    assert deciding is not None
    assert deciding.limit == "< 3 us, < 5 us"


@pytest.mark.parametrize("other", [gbps(5), 5, 5e-6, "5 us", None, True])
def test_units_never_mix(other: object) -> None:
    """A time against a rate, or a bare number, is an error and no verdict."""
    with pytest.raises(UnitError):
        _ = value(2e-6, "s") < other


def test_equality_with_another_unit_is_an_error_too() -> None:
    """`==` of Python would quietly say False, and `!=` would quietly pass."""
    with pytest.raises(UnitError):
        _ = value(2e-6, "s") == 2e-6
    with pytest.raises(UnitError):
        _ = value(2e-6, "s") != us(1)


def test_a_value_is_no_truth_value() -> None:
    """`assert result.p99` would always hold."""
    with pytest.raises(UnitError, match="compare it with a limit"):
        assert value(2e-6, "s")


def test_counts_compare_with_plain_numbers() -> None:
    """`result.growth("pause") == 0` reads as it should."""
    assert value(0, "") == 0
    assert not (value(3, "") <= 0)
    assert value(4096, "B") == 4096


def test_words_know_equality_only() -> None:
    """A state is the declared one or it is not; it has no order."""
    assert value("ACTIVE", "word") == "ACTIVE"
    assert value("DOWN", "word") != "ACTIVE"
    with pytest.raises(UnitError):
        _ = value("DOWN", "word") < "UP"


def test_a_value_cannot_be_hidden_in_a_set() -> None:
    """Equality notes a check, so sets would make checks up."""
    with pytest.raises(TypeError):
        {value(1, "")}


def test_the_first_clause_that_the_failing_value_missed_decides() -> None:
    """A list of limits is told by its tightest broken clause, as it is written first."""
    ledger = Ledger()
    measured = value(9e-6, "s", ledger)
    for limit, passed in (("<= 4 us", False), ("<= 5 us", False), ("<= 10 us", True)):
        Settled(passed, measured).note(limit, None, None)

    check = ledger.deciding(failed=True)

    assert check is not None
    assert check.limit == "<= 4 us"


def test_a_limit_must_be_able_to_be_missed() -> None:
    """Another measured value, or infinity, is no limit."""
    with pytest.raises(UnitError, match="it takes a limit"):
        _ = value(2e-6, "s") >= value(1e-6, "s")
    with pytest.raises(UnitError, match="no number misses it"):
        _ = value(2e-6, "s") < us(float("inf"))


def test_a_quantity_on_the_left_compares_the_same_way() -> None:
    """`us(5) > result.p99` notes the same check."""
    ledger = Ledger()

    assert us(5) > value(2e-6, "s", ledger)
    assert [check.limit for check in ledger.checks] == ["< 5 us"]


@pytest.mark.parametrize(
    ("alone", "tolerant", "passed", "told"),
    [
        ([2.0, 2.1, 2.2], False, True, "18 us under load, 2 us, 2.1 us, 2.2 us alone"),
        ([17.0, 16.0, 18.0], True, False, "18 us under load, 17 us, 16 us, 18 us alone"),
        ([2.0, 17.0, 2.2], False, False, "18 us under load, 2 us, 17 us, 2.2 us alone: unstable"),
        ([17.0, 2.0, 16.0], True, True, "18 us under load, 17 us, 2 us, 16 us alone: unstable"),
    ],
)
def test_what_holds_and_misses_by_turns_is_unstable(
    alone: list[float], tolerant: bool, passed: bool, told: str
) -> None:
    """All its values are shown; it fails unless its profiles allow it."""
    ledger = Ledger()
    others = tuple(value(number * 1e-6, "s") for number in alone)
    one = replace(value(18e-6, "s", ledger), alone=lambda: others, tolerant=tolerant)

    assert (one < us(5)) is passed

    [check] = ledger.checks
    assert check.company == told
    assert (float(check.value) < 5e-6) is passed
