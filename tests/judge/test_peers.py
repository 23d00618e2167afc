"""Limits that compare with other pairs, and with earlier runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from pytest_fabric.config import Baseline
from pytest_fabric.errors import MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.limits import Limits
from pytest_fabric.judge.misses import misses
from pytest_fabric.judge.peers import Group
from pytest_fabric.judge.views import PairResult
from pytest_fabric.report import text
from pytest_fabric.results import Failure, Measured, Measurement
from tests.clusters import TEXT, cluster
from tests.report.examples import LATENCY

GOLDEN = Path(__file__).parents[1] / "data" / "compare"
PEERS = TEXT.replace('"<= 5 us"', '["<= 5 us", "within 10% of peers"]')
BASELINE = TEXT.replace(
    '"<= 5 us"',
    """
        - "<= 5 us"
        - "<= 1.10 x baseline\"""",
)
KIND = "same leaf, profile ours"


def p99(us: float, number: int = 0, company: int = 1) -> Measurement:
    """Return a latency on one of many pairs."""
    assert LATENCY.latency is not None
    row = replace(LATENCY.latency, p99_s=us / 1e6)
    target = f"gpu{2 * number + 1:03d}:rail0..gpu{2 * number + 2:03d}:rail0"
    return replace(LATENCY, target=target, latency=row, company=company, growth=())


class Skipped(Exception):
    pass


def skip(reason: str) -> NoReturn:
    raise Skipped(reason)


def limits(text: str, *, without_baseline: bool = False) -> Limits:
    profile = cluster(text).nodes["gpu001"].profile
    without = (Baseline,) if without_baseline else ()
    return Limits(p99(1).target, (profile,), skip, without=without)


def result(record: Measurement, peers: Sequence[Measurement], ledger: Ledger) -> PairResult:
    return PairResult(record, ledger, group=lambda: Group((record, *peers), KIND))


def said(ledger: Ledger) -> str:
    """Return a failure as a test of a user shows it."""
    check = ledger.deciding(failed=True)
    assert check is not None
    place = f"{check.source}, profile {check.profile}"
    return text.failure(
        p99(1).target, check.label, check.shown, check.limit, place, list(check.beside)
    )


@pytest.mark.parametrize(("us", "is_in"), [(2.19, True), (2.21, False), (0.5, True)])
def test_a_value_may_be_worse_than_its_peers_by_a_share(us: float, is_in: bool) -> None:
    """Nobody is punished for being better."""
    peers = [p99(value, number) for number, value in enumerate((1.9, 1.95, 2, 2.05, 9), 1)]
    found = result(p99(us), peers, Ledger())

    assert (found.p99 in limits(PEERS)["ib_write_lat.p99"]) is is_in


def test_a_failure_names_the_clause_and_the_peers() -> None:
    ledger = Ledger()
    peers = [p99(value, number) for number, value in enumerate((1.9, 1.95, 2, 2.05, 2.1, 9), 1)]
    lost = replace(p99(1, 9), latency=None, error=Failure("hangs", "no"))

    assert result(p99(3.5), [*peers, lost], ledger).p99 not in limits(PEERS)["ib_write_lat.p99"]
    assert said(ledger) == (GOLDEN / "peers.txt").read_text().rstrip("\n")


def test_too_few_peers_are_an_error() -> None:
    """What could not be measured is no peer, and neither is the pair itself."""
    broken = replace(p99(1, 9), latency=None, error=Failure("hangs", "no"))
    found = result(p99(2), [p99(2, 1), p99(2, 2), p99(2, 3), broken], Ledger())

    with pytest.raises(MissingValueError) as caught:
        _ = found.p99 in limits(PEERS)["ib_write_lat.p99"]
    assert str(caught.value) == (
        "gpu001:rail0..gpu002:rail0: ib_write_lat.4.p99: expected at least 5 peers, found 3 (1 "
        f"more could not be measured): {KIND}: measure more pairs of this kind, or take the peers "
        "clause out"
    )


def test_a_miss_under_load_is_held_against_the_peers_again_alone() -> None:
    record, ledger = p99(3.5), Ledger()
    peers = [p99(2, number) for number in range(1, 7)]
    found = replace(result(record, peers, ledger), alone=lambda: (p99(2.1, company=0),))

    assert found.p99 in limits(PEERS)["ib_write_lat.p99"]
    assert [check.company for check in ledger.checks] == [
        None,
        "3.5 us under load, 2.1 us alone",
    ]


def run(*records: Measurement) -> Measured:
    return Measured(records[0], records[1:])


def against(record: Measurement, *past: Measured | None, ledger: Ledger | None = None) -> bool:
    named = [(f"2026010{n}", measured) for n, measured in enumerate(past, 1)]
    found = PairResult(record, ledger or Ledger(), past=lambda: named)
    return found.p99 in limits(BASELINE)["ib_write_lat.p99"]


def test_a_value_is_held_against_the_median_of_earlier_runs() -> None:
    """Each run counts once."""
    runs = [run(p99(value)) for value in (2.0, 2.1, 4.0)]

    assert against(p99(2.3), *runs)
    assert not against(p99(2.32), *runs)


def test_alone_is_held_against_alone_where_any_run_has_it() -> None:
    """A value under load says nothing about one that had the fabric for itself."""
    runs = [run(p99(4.0), p99(2.0, company=0)), run(p99(4.4))]

    assert against(p99(4.3), *runs)
    assert not against(p99(2.3, company=0), *runs)
    assert against(p99(4.3, company=0), run(p99(4.4)))


def test_a_failure_names_the_clause_and_the_runs() -> None:
    """The clause stands on a line of its own."""
    ledger = Ledger()
    runs = [run(p99(value)) for value in (2.0, 2.1, 2.05)]

    assert not against(p99(3.5), *runs, ledger=ledger)
    assert said(ledger) == (GOLDEN / "baseline.txt").read_text().rstrip("\n")


@pytest.mark.parametrize(
    ("past", "found"),
    [
        ((None, None), "found no such measurement of this target"),
        ((None, run(replace(p99(1), error=Failure("hangs", "it hangs")))), "found it hangs"),
        ((run(replace(p99(1), doubts=("foreign traffic",))),), "found foreign traffic"),
    ],
)
def test_what_the_baseline_lacks_is_an_error(past: tuple[Measured | None], found: str) -> None:
    with pytest.raises(MissingValueError, match=f"in the baseline .*{found}: give --fabric-basel"):
        against(p99(1), *past)


def test_without_a_baseline_its_clauses_are_left_out_and_nothing_passes_on_none() -> None:
    ledger = Ledger()

    assert (
        PairResult(p99(4.9), ledger).p99
        in limits(BASELINE, without_baseline=True)["ib_write_lat.p99"]
    )
    assert [check.limit for check in ledger.checks] == ["<= 5 us"]
    for rest in ('"<= 1.10 x baseline"', '["<= 1.10 x baseline", "within 10% of peers"]'):
        with pytest.raises(Skipped, match=r"leaves out `<= 1\.1 x baseline`, its only"):
            limits(TEXT.replace('"<= 5 us"', rest), without_baseline=True)["ib_write_lat.p99"]


def test_what_misses_the_baseline_is_confirmed_before_its_test_asks() -> None:
    """What misses its peers is not known while they are measured."""
    profile = cluster(BASELINE).nodes["gpu001"].profile
    past = [("20260101", run(p99(2.0)))]

    assert misses(p99(2.3), (profile,), past=lambda: past)
    assert not misses(p99(2.1), (profile,), past=lambda: past)
    assert not misses(p99(2.3), (profile,))
    assert not misses(p99(4), (cluster(PEERS).nodes["gpu001"].profile,))
