"""Patterns of failures, and the places that they point to."""

from __future__ import annotations

import pytest

from pytest_fabric.report.pattern import Known
from pytest_fabric.report.suspects import suspects
from pytest_fabric.results import Verdict

from .examples import verdict


def ring(
    nodes: int, bad: str = "", rail: str = "rail0", check: str = "test_p99", says: str = ""
) -> list[Verdict]:
    """Return the verdicts of a ring `1..2 2..3 ... N..1` in which pairs with a bad node failed."""
    places = [str(number) for number in range(1, nodes + 1)]
    pairs = zip(places, places[1:] + places[:1], strict=True)
    return [
        verdict(
            f"gpu{client}:{rail}..gpu{server}:{rail}",
            "failed" if {client, server} & set(bad.split()) else "passed",
            check,
            says or None,
        )
        for client, server in pairs
    ]


def port(target: str, check: str = "test_width") -> Verdict:
    """Return the failed verdict of a check on a port."""
    return verdict(target, "failed", check, value=8.0, unit="", limit="== 16")


def error(target: str, message: str, check: str = "test_p99") -> Verdict:
    """Return the verdict of a check that could not be made."""
    return verdict(target, "error", check, message)


def skipped(target: str) -> Verdict:
    """Return the verdict of a check that does not apply."""
    return verdict(target, "skipped", "test_pause")


UP = [verdict(f"gpu{n}:rail0", check="test_state") for n in range(1, 5)]

CASES = {
    "all green": ([*ring(4), *UP, skipped("gpu1:rail0")], []),
    "a port fails by itself": (
        [port("gpu2:rail0"), port("gpu2:rail0", "test_mtu"), verdict("gpu2:rail1")],
        [("gpu2:rail0", "fails test_width (8, limit == 16), test_mtu (8, limit == 16)")],
    ),
    "a node fails by itself": (
        [verdict("gpu2", "failed", "test_memlock", limit=None)],
        [("gpu2", "fails test_memlock")],
    ),
    "one bad port in a ring": (
        ring(4, "2"),
        [("gpu2:rail0", "2 of 2 failing pairs end at it (test_p99)")],
    ),
    "one bad port, seen by two checks": (
        ring(4, "2") + ring(4, "2", check="test_bandwidth"),
        [("gpu2:rail0", "2 of 2 failing pairs end at it (test_p99, test_bandwidth)")],
    ),
    "one bad port on each of two rails": (
        ring(4, "2") + ring(4, "3", "rail1"),
        [
            ("gpu2:rail0", "2 of 4 failing pairs end at it (test_p99)"),
            ("gpu3:rail1", "2 of 4 failing pairs end at it (test_p99)"),
        ],
    ),
    "two bad ports far apart": (
        ring(8, "2 6"),
        [
            ("gpu2:rail0", "2 of 4 failing pairs end at it (test_p99)"),
            ("gpu6:rail0", "2 of 4 failing pairs end at it (test_p99)"),
        ],
    ),
    "two bad neighbours": (
        ring(8, "2 3"),
        [
            ("gpu2:rail0", "2 of 3 failing pairs end at it (test_p99)"),
            ("gpu3:rail0", "2 of 3 failing pairs end at it (test_p99)"),
        ],
    ),
    "two bad neighbours that fail by themselves": (
        [port("gpu2:rail0"), port("gpu3:rail0"), *ring(8, "2 3")],
        [
            (
                "gpu2:rail0",
                "fails test_width (8, limit == 16); 2 of 3 failing pairs end at it (test_p99)",
            ),
            (
                "gpu3:rail0",
                "fails test_width (8, limit == 16); 2 of 3 failing pairs end at it (test_p99)",
            ),
        ],
    ),
    "a whole rail": (
        ring(4, "1 2 3 4") + ring(4, rail="rail1"),
        [("rail0", "4 of 4 failing pairs are on it (test_p99)")],
    ),
    "everything fails": (
        ring(4, "1 2 3 4") + ring(4, "1 2 3 4", "rail1"),
        [("fabric", "8 of 8 failing pairs, everywhere: no single place explains them (test_p99)")],
    ),
    "one pair fails while its ports pass": (
        [*ring(4), verdict("gpu1:rail0..gpu3:rail0", "failed")],
        [
            (
                "gpu1:rail0..gpu3:rail0",
                "1 of 1 failing pair is it; its ports pass with other partners (test_p99)",
            )
        ],
    ),
    "one pair fails and its check names a port": (
        [*ring(4), verdict("gpu1:rail0..gpu3:rail0", "failed", message="gpu3:rail0 paused +7")],
        [
            (
                "gpu1:rail0..gpu3:rail0",
                "1 of 1 failing pair is it; its ports pass with other partners (test_p99)",
            )
        ],
    ),
    "two nodes only": (
        ring(2, "2"),
        [
            (
                "gpu[1-2]:rail0",
                "cannot be told apart: gpu1:rail0, gpu2:rail0; "
                "2 of 2 failing pairs use each of them (test_p99)",
            )
        ],
    ),
    "two nodes, and the checks name one": (
        ring(2, "2", says="beside  gpu2:rail0 sent 18,422 pause frames"),
        [("gpu2:rail0", "2 of 2 failing pairs end at it; test_p99 names it (test_p99)")],
    ),
    "two nodes, and one of the ports fails otherwise": (
        [port("gpu2:rail0"), *ring(2, "2")],
        [
            (
                "gpu2:rail0",
                "fails test_width (8, limit == 16); 2 of 2 failing pairs end at it (test_p99)",
            )
        ],
    ),
    "two nodes, told by another check": (
        ring(2, "2") + ring(2, "2", check="test_pause", says="gpu2:rail0 tx_prio3_pause +9"),
        [
            (
                "gpu2:rail0",
                "2 of 2 failing pairs end at it; test_pause names it (test_p99, test_pause)",
            )
        ],
    ),
    "the names of victims do not outweigh the pattern": (
        [
            verdict("gpu1:rail0..gpu2:rail0", "failed", message="gpu1:rail0 rx_pause +9"),
            verdict("gpu2:rail0..gpu3:rail0", "failed", message="gpu3:rail0 rx_pause +9"),
            verdict("gpu3:rail0..gpu1:rail0"),
        ],
        [("gpu2:rail0", "2 of 2 failing pairs end at it (test_p99)")],
    ),
    "all ports of a node, in pairs": (
        ring(4, "2") + ring(4, "2", "rail1"),
        [("gpu2", "4 of 4 failing pairs end on it (test_p99)")],
    ),
    "all ports of a node, by themselves": (
        [port("gpu2:rail0"), port("gpu2:rail1")],
        [("gpu2", "fails test_width (8, limit == 16)")],
    ),
    "all ports of two nodes that cannot be told apart": (
        ring(2, "2") + ring(2, "2", "rail1"),
        [
            (
                "gpu[1-2]",
                "cannot be told apart: gpu1, gpu2; "
                "4 of 4 failing pairs use each of them (test_p99)",
            )
        ],
    ),
    "one node across rails": (
        [
            verdict("gpu1:rail0..gpu2:rail0", "failed"),
            verdict("gpu2:rail0..gpu3:rail1", "failed"),
            verdict("gpu3:rail1..gpu2:rail1", "failed"),
            verdict("gpu3:rail0..gpu1:rail0"),
        ],
        [("gpu2", "3 of 3 failing pairs end on it (test_p99)")],
    ),
    "one message size fails": (
        [*ring(4, "2"), *ring(4)],
        [("gpu2:rail0", "2 of 2 failing pairs end at it (test_p99)")],
    ),
    "an unreachable node": (
        [
            *(v for v in UP if v.target != "gpu2:rail0"),
            error("gpu2:rail0", "gpu2: connection refused", "test_state"),
            error("gpu1:rail0..gpu2:rail0", "gpu2: connection refused"),
            error("gpu2:rail0..gpu3:rail0", "gpu2: connection refused"),
        ],
        [("gpu2", "nothing could be measured: gpu2: connection refused")],
    ),
    "the partner of an unreachable node is its victim": (
        [
            error("gpu1:rail0..gpu2:rail0", "gpu2: connection refused"),
            error("gpu2:rail0..gpu1:rail0", "gpu2: connection refused"),
        ],
        [("gpu2", "nothing could be measured: gpu2: connection refused")],
    ),
    "nobody is named": (
        [error("gpu1:rail0..gpu2:rail0", "gpu1:rail0..gpu2:rail0: no answer")],
        [
            ("gpu1", "nothing could be measured: gpu1:rail0..gpu2:rail0: no answer"),
            ("gpu2", "nothing could be measured: gpu1:rail0..gpu2:rail0: no answer"),
        ],
    ),
    "an error on a node that was measured otherwise": (
        [*UP, error("gpu2:rail0", "gpu2:rail0: no such counter", "test_pause")],
        [],
    ),
    "not run accuses nobody": ([verdict("gpu2:rail0", "not run")], []),
}


@pytest.mark.parametrize("case", CASES)
def test_failures_point_to(case: str) -> None:
    """Each pattern has one answer, and a choice is called a choice."""
    verdicts, expected = CASES[case]

    assert [(one.place, one.explanation) for one in suspects(verdicts)] == expected


def test_errors_that_name_one_port_point_to_it() -> None:
    """A server that dies fails no limit: its place is in the messages only."""
    told = "server at b:r0: ended with status 137 and no message"
    found = [
        verdict("a:r0..b:r0", "error", message=f"a:r0..b:r0: ib_write_lat: {told}"),
        verdict("b:r0..c:r0", check="test_x"),
        verdict("a:r0..b:r0", check="test_y"),
    ]

    (suspect,) = suspects(found)
    assert suspect.place == "b:r0"
    assert "1 errors" in suspect.explanation


def test_a_fact_that_is_not_as_declared_settles_a_choice() -> None:
    """Also where no check of it was selected; then nobody has to swap cables."""
    width = "PCIe 32 GT/s x8, declared 32 GT/s x16"

    [suspect] = suspects(ring(2, "2"), Known(odd={"gpu2:rail0": (width,), "gpu1:rail0": ()}))

    assert suspect.place == "gpu2:rail0"
    assert suspect.explanation == f"2 of 2 failing pairs end at it; {width} (test_p99)"
    assert (suspect.advice, (suspect.confidence or 0) > 0.9) == ("", True)


def test_errors_settle_which_end_of_a_pair_it_is() -> None:
    """Where nearly all of a port's measurements could not be judged, one failure tells little."""
    told = "gpu2:rail0 moved only 0% of the payload on the declared priority 3"
    found = [
        verdict("gpu2:rail0..gpu3:rail0", "failed", "test_class"),
        *(error(f"gpu{n}:rail0..gpu2:rail0", told) for n in (1, 3)),
        verdict("gpu3:rail0..gpu1:rail0", check="test_class"),
    ]

    [suspect] = suspects(found)

    assert suspect.place == "gpu2:rail0"
    assert "named by 2 errors" in suspect.explanation
