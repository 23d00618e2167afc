"""What reports say of a soak: its end, what it read of links, and how long it must be."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from pytest_fabric.config.wording import like
from pytest_fabric.judge.soak import Asked, Soak
from pytest_fabric.report import soak as told
from pytest_fabric.report.sections import growth
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.report.signoff import rows
from pytest_fabric.report.signoff.sheet import sheets
from pytest_fabric.results import Health

from .examples import LATENCY
from .fabric import PORTS, record, with_these


def soaked(windows: int = 4, lost: int = 0) -> Soak:
    """Return a soak of four windows of which some are made; the first port lost blocks."""
    soak = Soak(Asked(240.0, 60.0))
    for number in range(1, windows + 1):
        health = tuple(
            Health(port, 60.0, 4e11, 0, lost if port == PORTS[0] else 0, 9, 40.0) for port in PORTS
        )
        window = replace(
            LATENCY,
            tool="soak_window",
            settings={"window": number, "duration_s": 60.0},
            health=health,
            growth=(),
        )
        soak.add(window)
    return soak


def run(soak: Soak) -> RunRecord:
    """Return a run on the leaf that has measured nothing but a soak."""
    made = record(with_these())
    kept = replace(made.kept, measured=())
    return replace(made, kept=kept, run=replace(made.run, soak=soak))


def test_a_soak_that_has_ended_is_not_said_to_go_on() -> None:
    assert [line for line in told.lines(soaked(), None) if line.startswith("  shown: ")]
    assert not [line for line in told.lines(soaked(), None) if "so far" in line]
    assert [line for line in told.lines(soaked(3), None) if line.startswith("  so far: ")]


def test_the_counters_of_a_soak_are_those_of_its_links() -> None:
    """What grew, and that everything was looked at; no port is one of which nothing was read."""
    text = re.sub(r"<[^>]*>", " ", "".join(growth.section(run(soaked(lost=2)))))

    assert "blocks beyond FEC over the soak" in text
    assert "+8" in text
    assert "links lost, blocks beyond FEC, bits that FEC corrected, module temperature" in text
    assert "nothing was read" not in text


def test_a_soak_in_which_nothing_grew_has_been_looked_at() -> None:
    text = re.sub(r"<[^>]*>", " ", "".join(growth.section(run(soaked()))))

    assert "No counter that tells of errors or congestion grew." in text
    assert "of the link" in text


@pytest.mark.parametrize(("lost", "words"), [(0, "BER behind FEC below 3.1e-14"), (2, "8 blocks")])
def test_the_page_to_sign_has_the_soak(lost: int, words: str) -> None:
    (sheet,) = sheets(run(soaked(lost=lost)))
    found = dict(rows.exposures(sheet, {}))

    assert found["soak"].startswith("4 min or more per port: 0 links lost")
    assert words in found["soak"]


def test_many_words_are_not_listed() -> None:
    """Whoever mistypes one of hundreds is told the nearest one, however far it is."""
    words = [f"metric{number}.p99" for number in range(150)]

    assert like("a metric", "nonsense", words).startswith('a metric such as "metric')
    assert len(like("a metric", "nonsense", words)) < 60
    assert like("a word", "zzz", ["one", "two"]) == "a word: one or two"
