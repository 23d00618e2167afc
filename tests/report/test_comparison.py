"""A comparison as text, JSON and HTML: short, whole, and safe to open."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

from pytest_fabric.judge.compare.comparison import Comparison, compare
from pytest_fabric.judge.compare.run import Run
from pytest_fabric.report.comparison import WIDTH, lines
from pytest_fabric.report.comparison_html import document, page
from pytest_fabric.results import Fact, Measured, Reading
from tests.judge.compare.runs import PAIRS, bandwidth, latency, of, run

from .examples import HOSTILE

GOLDEN = Path(__file__).parents[1] / "data" / "compare" / "comparison.txt"


def both(name: str, slower: dict[str, float], said: str) -> Run:
    """Return a run with latency and bandwidth in which gpu003 says something."""
    lat, bw = run(f"{name}-lat", slower), run(f"{name}-bw", 1.0, 0.002, bandwidth, 380.0)
    driver = Reading("gpu003", "firmware", {"gpu003:rail0": {"firmware.driver": Fact(said)}})
    return replace(
        lat,
        name=name,
        measured=(*lat.measured, *bw.measured),
        readings={("firmware", "gpu003"): driver},
    )


def upgraded(said: str = "24.10-0.7.0") -> Comparison:
    """Return what happened when gpu003 got another driver, and a cable came loose elsewhere."""
    slower = {**of("gpu003:rail0", 1.25), PAIRS[5]: 1.4}
    before = [both(f"2026112{n}-090000", {}, "23.10-0.5.5") for n in range(3)]
    return compare(before, [both(f"2026120{n}-090000", slower, said) for n in range(3)])


def test_the_text_tells_the_story() -> None:
    """What is worse comes first; numbers stand beside the facts of their places."""
    assert "\n".join(lines(upgraded())) + "\n" == GOLDEN.read_text()


def test_the_text_has_sixty_lines_whatever_happened() -> None:
    """A fabric where every fact, number and pair is another one."""
    found = upgraded(HOSTILE)
    many = replace(
        found,
        findings=found.findings * 40,
        facts=found.facts * 40,
        lost=(f"{PAIRS[0]}: {HOSTILE}",) * 40,
        notes=("x" * 500,) * 9,
    )

    shown = lines(many)
    assert len(shown) <= 60
    assert all(line.isprintable() and len(line) <= WIDTH for line in shown)
    assert "  and 36 more" in shown


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        assert not {name for name, _ in attrs} & {"src", "href", "onload", "onclick"}


def test_the_page_is_whole_and_what_nodes_say_is_escaped() -> None:
    """No script, nothing that is fetched, and every metric, fact and place is in it."""
    found = upgraded(HOSTILE)
    text = page(found)
    tags = Tags()
    tags.feed(text)

    assert "script" not in tags.seen
    assert "&lt;script&gt;" in text
    assert re.search(r"https?://", text) is None
    for name in ("ib_write_lat 4 B median", "gpu003:rail0", PAIRS[5], "firmware.driver"):
        assert name in text


def test_the_document_says_everything_in_plain_values() -> None:
    found = document(upgraded())

    assert found["verdict"] == "worse"
    metrics = found["metrics"]
    assert isinstance(metrics, list)
    (median,) = (one for one in metrics if one["metric"] == "median")
    assert {one["place"] for one in median["places"]} == {"gpu003:rail0", PAIRS[5]}
    assert median["low"] < median["change"] < median["high"]
    assert median["unit"] == "s"
    assert median["company"] == "under load"


def test_a_value_that_is_alone_says_so() -> None:
    runs = [run(name) for name in ("b1", "b2", "a1", "a2")]
    alone = [
        replace(one, measured=[Measured(replace(m.record, company=0)) for m in one.measured])
        for one in runs
    ]

    assert any(
        "ib_write_lat 4 B median, alone" in row for row in lines(compare(alone[:2], alone[2:]))
    )
    assert latency(PAIRS[0], 4).company
