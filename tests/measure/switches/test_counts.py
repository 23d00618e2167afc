"""What a switch has counted in a window: growth, what hides it, and windows that show nothing."""

from __future__ import annotations

import pytest

from pytest_fabric.measure.switches.counts import METRICS, SECTIONS, WAIT, Window, read_window
from pytest_fabric.results import Fact
from pytest_fabric.tools import allowed
from pytest_fabric.transport import Outcome
from tests.clusters import TEXT

from .texts import counters, counts, drops, far, fec, marks, outcome, pause

MOVED = counters("900,000")


def read(
    before: dict[str, Outcome],
    after: dict[str, Outcome],
    text: str = TEXT,
    forced: bool = False,
    quiet: dict[str, Outcome] | None = None,
    receivers: frozenset[str] = frozenset(),
) -> dict[str, Fact]:
    """Return what has grown between two readings, of which the later one saw traffic."""
    middle = None if quiet is None else counts(**quiet)
    rest = (forced, middle, receivers)
    window = Window(counts(**before), counts(**{"counters": MOVED, **after}), 60.0, *rest)
    found = read_window(far(text), window)
    assert found["gpu001:rail0"].keys() == METRICS.keys()
    return dict(found["gpu001:rail0"])


def test_commands_only_read() -> None:
    for words in (*SECTIONS.values(), *WAIT.values()):
        allowed.require(words)


def test_a_healthy_port_has_grown_in_nothing_but_traffic() -> None:
    """Counters of an older life mean nothing; the detail says what was seen, and for how long."""
    found = read({}, {})

    assert "no incast of this run" in (found.pop("switch.ecn_marked").inapplicable or "")
    assert {fact.value for fact in found.values()} == {0}
    assert all("899,000 packets in 60 s" in fact.detail[-1] for fact in found.values())
    assert "at most 4,368 B full" in found["switch.queue_drops"].detail[0]


@pytest.mark.parametrize(
    ("after", "metric", "value"),
    [
        ({"counters": counters("900,000", "10")}, "switch.rx_errors", 3),
        ({"fec": fec("1,003")}, "switch.fec_uncorrected", 1000),
        ({"drops": drops("12")}, "switch.queue_drops", 10),
        ({"pause": pause(rx="6")}, "switch.pause_received", 2),
        ({"pause": pause(tx="1,005")}, "switch.pause_sent", 1000),
        ({"pause": pause(other="3")}, "switch.pause_sent", 3),
        ({"peaks": outcome("", 1)}, "switch.queue_drops", 0),
    ],
)
def test_growth_is_told(after: dict[str, Outcome], metric: str, value: int) -> None:
    assert read({}, after)[metric].value == value


@pytest.mark.parametrize(
    ("before", "after", "metric", "told"),
    [
        ({}, {"counters": counters("900,000", "N/A")}, "switch.rx_errors", "does not count RX_ERR"),
        ({}, {"counters": counters("900,000", "2")}, "switch.rx_errors", "went back from 7 to 2"),
        (
            {},
            {"counters": counters("900,000", since="Last cached time was 2026-01-02 03:04:05\n")},
            "switch.rx_errors",
            "has cleared the counters",
        ),
        ({}, {"counters": counters("1,900")}, "switch.rx_errors", "expected 1,000 packets"),
        ({}, {"counters": counters("1,900")}, "switch.queue_drops", "expected 1,000 packets"),
        ({}, {"fec": outcome("", 1)}, "switch.fec_uncorrected", "ended with status 1"),
        ({}, {"drops": drops(queue="UC4")}, "switch.queue_drops", "expected queue 3 of Ethernet8"),
        ({"drops": drops("N/A")}, {}, "switch.queue_drops", "does not count drops of queue 3"),
        ({}, {"pause": pause(rx="N/A")}, "switch.pause_received", "does not count PFC3"),
        ({"pause": outcome("", 0)}, {}, "switch.pause_sent", "by hand"),
        ({}, {"status": outcome("", 127, "sh: 1: show: not found\n")}, "switch.rx_errors", "SONiC"),
    ],
)
def test_what_cannot_be_told_is_a_problem(
    before: dict[str, Outcome], after: dict[str, Outcome], metric: str, told: str
) -> None:
    """A counter that is not there, or was cleared, has not stood still."""
    fact = read(before, after)[metric]

    assert fact.value is None
    assert told in (fact.problem or "")
    assert fact.inapplicable is None


def test_what_a_switch_cannot_have_is_no_problem() -> None:
    """Releases without counters of FEC, profiles without a lossless class."""
    unknown = outcome("", 2, "Error: No such command 'fec-stats'.\n")
    old = read({}, {"fec": unknown})["switch.fec_uncorrected"]
    blind = read({"fec": fec("N/A")}, {"fec": fec("N/A")})["switch.fec_uncorrected"]
    lossy = read({}, {}, TEXT.replace("lossless: [3], ", ""))["switch.queue_drops"]

    assert "shows no FEC counters" in (old.inapplicable or "")
    assert "counts no FEC" in (blind.inapplicable or "")
    assert "no lossless priority" in (lossy.inapplicable or "")


HALF = counters("500,000")
RECEIVER = frozenset({"gpu001:rail0"})


def test_pauses_are_judged_where_no_congestion_was_forced() -> None:
    """A pause of before is no merit of an incast that came later; one of the incast is."""
    early = read({}, {"pause": pause(tx="9")}, forced=True, quiet={"counters": HALF})
    late = {"counters": HALF, "pause": pause(tx="9")}
    found = read({}, {"pause": pause(tx="99")}, forced=True, quiet=late)["switch.pause_sent"]

    assert early["switch.pause_sent"].value == 0
    assert found.value == 4
    assert "PFC3 tx +4" in found.detail[0]
    assert "before congestion was forced" in found.detail[1]


def test_a_run_that_loaded_nothing_else_shows_no_pause() -> None:
    found = read({}, {"pause": pause(tx="9")}, forced=True, quiet={})

    why = found["switch.pause_sent"].inapplicable or ""
    assert "0 packets before congestion was forced are too few" in why


@pytest.mark.parametrize(
    ("quiet", "marked", "value"),
    [(None, "107", 100), ({"marks": marks("57")}, "107", 50), ({"marks": marks("7")}, "7", 0)],
)
def test_marks_are_those_of_forced_congestion(
    quiet: dict[str, Outcome] | None, marked: str, value: int
) -> None:
    """None at all is a value too: it misses the limit."""
    after = {"marks": marks(marked)}
    fact = read({}, after, forced=True, quiet=quiet, receivers=RECEIVER)["switch.ecn_marked"]

    assert fact.value == value
    assert f"queue 3 marked {value} packets, at most 4,368 B full" in fact.detail[0]


@pytest.mark.parametrize(
    ("after", "told"),
    [
        ({"marks": marks("N/A")}, "counterpoll wredqueue enable"),
        ({"marks": marks("3")}, "marks of queue 3 went back from 7 to 3"),
        ({"marks": marks("9", since="yesterday")}, "has cleared the marks"),
        ({"marks": marks("9", queue="UC4")}, "expected marks of queue 3 of Ethernet8 once"),
        ({"marks": outcome("", 0)}, "by hand"),
    ],
)
def test_marks_that_cannot_be_told_are_a_problem(after: dict[str, Outcome], told: str) -> None:
    fact = read({}, after, forced=True, receivers=RECEIVER)["switch.ecn_marked"]

    assert fact.value is None
    assert told in (fact.problem or "")


def test_marks_are_not_asked_for_where_there_need_be_none() -> None:
    """Old releases, other ports than those of receivers, and profiles without ECN."""
    missing = outcome("", 127, "sh: 1: wredstat: not found\n")
    old = read({}, {"marks": missing}, forced=True, receivers=RECEIVER)["switch.ecn_marked"]
    other = read({}, {}, forced=True)["switch.ecn_marked"]
    plain = TEXT.replace("lossless: [3], ", "")
    lossy = read({}, {}, plain, forced=True, receivers=RECEIVER)["switch.ecn_marked"]

    assert "does not tell marks" in (old.inapplicable or "")
    assert "no incast of this run ended there" in (other.inapplicable or "")
    assert "no lossless priority with ECN" in (lossy.inapplicable or "")


def test_pauses_of_a_run_whose_quiet_part_is_not_known_are_not_judged() -> None:
    """They are what a lossless fabric is for; drops are never right."""
    found = read({}, {"pause": pause(tx="99"), "drops": drops("3")}, forced=True)

    assert "forced congestion" in (found["switch.pause_sent"].inapplicable or "")
    assert "PFC3 tx +94: " in (found["switch.pause_sent"].inapplicable or "")
    assert found["switch.pause_received"].value == 0
    assert found["switch.queue_drops"].value == 1


def both(
    earlier: dict[str, Outcome], later: dict[str, Outcome], forced: tuple[bool, bool]
) -> dict[str, Fact]:
    """Return what is known of a port behind a resumed run: `earlier` is of the first one."""
    found = None
    for after, is_forced in zip((earlier, later), forced, strict=True):
        window = Window(counts(), counts(**{"counters": MOVED, **after}), 60.0, is_forced)
        found = read_window(far(), window, found)
    assert found is not None
    return dict(found["gpu001:rail0"])


def test_what_the_run_that_is_resumed_has_counted_is_not_forgotten() -> None:
    """Else a resume would turn a failure into a pass, or judge load by counters before it."""
    idle = {"counters": counters("1,010")}
    cleared = {"counters": counters("900,000", since="since 12:00")}
    metric = "switch.queue_drops"

    assert both({"drops": drops("12")}, {}, (False, False))[metric].value == 10
    assert both({}, {"drops": drops("12")}, (False, False))[metric].value == 10
    assert both({"drops": drops("12")}, {"drops": drops("5")}, (False, False))[metric].value == 13
    assert both({"drops": drops("12")}, idle, (False, False))[metric].value == 10
    assert both(idle, {"drops": drops("12")}, (False, False))[metric].problem
    assert both({}, cleared, (False, False))["switch.rx_errors"].problem
    for forced in ((True, False), (False, True)):
        told = both({"pause": pause(rx="6")}, {"pause": pause(rx="6")}, forced)
        assert told["switch.pause_received"].value == 2
