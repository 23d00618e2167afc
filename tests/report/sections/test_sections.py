"""The sections of the report: what they say, in which order, and that text stays text."""

from __future__ import annotations

import base64
import gzip
import html as stdlib_html
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bench.report import record as large
from pytest_fabric.report import html
from pytest_fabric.report.concluded import conclusion
from pytest_fabric.report.sections import (
    distributions,
    figures,
    growth,
    inventory,
    markup,
    page,
    training,
    wiring,
)
from pytest_fabric.report.sections.record import Kept, RunRecord, Waived
from pytest_fabric.report.sections.series import hop_class, series
from pytest_fabric.report.summary import Run
from pytest_fabric.results import (
    Exposure,
    Fact,
    Growth,
    Measured,
    NodeFacts,
    PciHop,
    RdmaPort,
    Reading,
    Verdict,
)

from ..examples import BROKEN, HOSTILE, LATENCY, planned
from ..examples import verdict as judged
from ..test_summary import trained

GOLDEN = Path(__file__).parents[1] / "data" / "sections.txt"

#: Elements that HTML never closes.
VOID = {"br", "img", "hr", "meta"}

A, B, C = (f"gpu00{n}:rail0" for n in (1, 2, 3))


class Checked(HTMLParser):
    """Takes a page apart, and fails where an element is not closed in its turn."""

    def __init__(self, parts: Sequence[str]) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.scripts: list[str] = []
        self.titles: list[str] = []
        self.words: list[str] = []
        self.feed("".join(parts))
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        assert not {name for name in named if name.startswith("on")}
        self.ids += [named["id"] or ""] if "id" in named else []
        self.links += [named["href"] or ""] if "href" in named else []
        assert "src" not in named
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
        if tag in ("p", "tr", "h2", "h3", "summary", "li"):
            self.words.append("\n")

    def handle_data(self, data: str) -> None:
        if self.open[-1] == "script":
            self.scripts.append(data)
        elif self.open[-1] != "style":
            self.words += [data, " "]
        if self.open[-1] == "h2":
            self.titles.append(data)

    @property
    def text(self) -> str:
        """Return what a reader sees without pictures, line by line."""
        lines = (" ".join(line.split()) for line in "".join(self.words).split("\n"))
        return "\n".join(line for line in lines if line) + "\n"


def port(firmware: str = "28.39.1002", psid: str = "MT_0000000838") -> RdmaPort:
    return RdmaPort(
        device="mlx5_0",
        number=1,
        pci="0000:1a:00.0",
        driver="mlx5_core",
        guid="0",
        firmware=firmware,
        psid=psid,
        netdevs=(),
        link_layer="Ethernet",
        state="ACTIVE",
        physical_state="LinkUp",
        speed_bps=400e9,
        width=4,
        active_mtu=4096,
        gids=(),
        numa_node=0,
        local_cpus="0",
        irq_cpus=(),
        traffic_class=None,
        pcie=(PciHop("0000:1a:00.0", 32e9, 16, 32e9, 16),),
    )


def node(name: str, firmware: str = "28.39.1002", kernel: str = "6.8.0") -> NodeFacts:
    return NodeFacts(name, kernel, "6.24", {}, None, (0,), {}, {}, (port(firmware),))


def record(verdicts: Sequence[Verdict], kept: Kept | None = None, **more: object) -> RunRecord:
    run = Run([planned(v) for v in verdicts], verdicts, (A, B, C), {"gpu009": "broken fan"})
    return replace(RunRecord(run, kept=kept or Kept()), **more)  # type: ignore[arg-type]


def usual() -> RunRecord:
    """Return a run that has something for every section."""
    cable = replace(judged(A, "failed", "test_cable", "gpu001:rail0: in swp2"), layer="wiring")
    rate = "test_bandwidth", ">= 380.3 Gb/s (97% of payload rate 392.1 Gb/s)"
    verdicts = [
        replace(cable, metric="wiring.misplaced", value=1, unit="", limit="== 0"),
        judged(f"{A}..{B}", "failed", message=f"{A}..{B}  P99 18 us\n  by hand  x"),
        judged(f"{B}..{C}"),
        judged(f"{C}..{A}", "error", message=f"{C}..{A}: expected a table, found nothing"),
        replace(judged(f"{C}..{B}"), contention="18 us under load, 2.1 us alone"),
        replace(
            judged(f"{A}..{B}", check=rate[0], value=390e9, unit="b/s", limit=rate[1]),
            metric="ib_write_bw.1048576.average",
        ),
        judged("no-fabric", "skipped", "test_subnet", "no port is InfiniBand"),
    ]
    grown = judged(f"{A}..{B}", "failed", "test_in_sequence", value=7, unit="", limit="== 0")
    verdicts.append(replace(grown, metric="out_of_sequence.growth"))
    exposed = Fact(3e-9, exposure=Exposure(600.0, 4e11))
    kept = Kept(
        measured=[Measured(LATENCY, (replace(LATENCY, alone=True),)), Measured(BROKEN)],
        counters={A: frozenset({"rx_prio3_pause"}), B: frozenset({"out_of_sequence", "x"})},
        files={f"{A}..{B}": [("ib_write_lat size=4", "raw/000001.txt")]},
        facts={
            "gpu001": node("gpu001"),
            "gpu002": node("gpu002"),
            "gpu003": node("gpu003", "28.1"),
        },
        readings={
            ("link", "gpu001"): Reading("gpu001", "link", {A: {"link.raw_ber": exposed}}),
            ("wiring", "gpu001"): Reading(
                "gpu001", "wiring", {A: {"wiring.switch": Fact("leaf-0")}}
            ),
        },
    )
    waiver = Waived("test_small_write_p99", "gpu002:rail0", "2027-01-01", "ops", "TICKET-7")
    leaves = {A: "leaf-0", B: "leaf-0", C: "leaf-1"}
    notes = {"notes": ["a note"], "baseline": ["compared with baseline (1 run): 8 values: 8 same"]}
    return record(verdicts, kept, waivers=[waiver], leaves=leaves, **notes)


def test_what_to_act_on_comes_first() -> None:
    """The order of the sections is the order in which a reader needs them."""
    found = Checked(page(usual()))

    assert found.titles == [
        *("Tickets", "Pairs", "Counters", "Inventory", "Wiring", "Latency and bandwidth"),
        *("What was not measured, and why", "Evidence", "Results"),
    ]
    assert found.text.startswith(
        "\u2717 Not fit: 3 checks are outside the limits; 1 could not be told"
    )


def test_the_text_is_readable_without_scripts() -> None:
    """Everything but the pictures is text: the golden file has it all."""
    assert Checked(page(usual())).text == GOLDEN.read_text(encoding="utf-8")


def test_the_cost_of_training_reads_as_agreed() -> None:
    """Both algorithms, the difference, what was assumed, and where the model is from."""
    golden = GOLDEN.with_name("section_training.txt")

    assert Checked(training.section(RunRecord(trained()))).text == golden.read_text("utf-8")


def test_every_link_leads_to_evidence_or_raw_text() -> None:
    """Failed cells of tables and pictures name places that are in the page."""
    found = Checked(page(usual()))
    marks = re.findall(r'"customdata":\["([^"]+)"', "".join(found.scripts))

    assert len(marks) == 3  # one failed, one without a value, one that missed under load
    assert {link.removeprefix("#") for link in found.links} - set(found.ids) == {"raw/000001.txt"}
    assert set(marks[:2]) <= set(found.ids)


def test_hostile_text_stays_text() -> None:
    """Neither markup nor scripts nor control characters of a node reach the page as such."""
    bad = [
        replace(judged(f"{A}..{B}", "failed", HOSTILE, HOSTILE, limit=HOSTILE), layer=HOSTILE),
        judged(f"{HOSTILE}:rail0..{B}", "error", "test_p99", HOSTILE),
        judged(HOSTILE, "skipped", "test_x", HOSTILE),
        replace(judged(A, "failed", "test_cable", HOSTILE), layer="wiring"),
    ]
    facts = replace(node("gpu001"), kernel=HOSTILE, ports=(replace(port(HOSTILE), driver=HOSTILE),))
    grown = replace(LATENCY, counter_errors={"pause": HOSTILE})
    reading = Reading("gpu001", "wiring", {A: {"wiring.switch": Fact(HOSTILE)}})
    kept = Kept(
        measured=[Measured(grown)],
        files={f"{A}..{B}": [(HOSTILE, HOSTILE), (HOSTILE, "raw/1.txt")]},
        facts={"gpu001": facts},
        readings={("wiring", "gpu001"): reading},
    )
    waiver = Waived(*[HOSTILE] * 5)
    parts = page(record(bad, kept, notes=[HOSTILE], baseline=[HOSTILE], waivers=[waiver]))
    ours = "".join(part for part in parts if figures.PACKED not in part[:60])

    plain = Checked([ours])
    assert not [script for script in plain.scripts if "alert" in script and "\\u003c" not in script]
    assert not set(ours) & set("\x1b\x00\x9b\ud800\ufffe")
    assert "javascript:" not in ours
    for data in re.findall(r'<script type="application/json">(.*?)</script>', ours):
        assert json.loads(data)["data"]


def test_a_page_asks_nobody_for_anything() -> None:
    """Links stay within the page and the run directory; nothing is loaded (`src` fails anyway)."""
    parts = page(usual())
    ours = "".join(part for part in parts if figures.PACKED not in part[:60])

    assert "http" not in ours
    assert "url(" not in ours
    [packed] = [part for part in parts if figures.PACKED in part[:60]]
    found = re.fullmatch(
        r'<script type="text/plain" id="[a-z-]+">([A-Za-z0-9+/=]+)</script>', packed
    )
    assert found is not None
    assert b"plotly.js v" in gzip.decompress(base64.b64decode(found[1]))[:60]


def test_without_pairs_there_is_no_plotly() -> None:
    """Five megabytes of scripts are for pictures; a run of facts has none."""
    parts = page(record([judged(A)]))

    assert sum(map(len, parts)) < 10_000
    assert figures.scripts(parts) == []


def test_ten_thousand_results_stay_below_fifteen_megabytes() -> None:
    """Sections with plotly.js, and the rows as pytest-html stores them, 600 bytes of frame each."""
    found = large()
    cells = ['<td class="col-result">Passed</td>', "<td>{}</td>", "<td>3 ms</td>", "<td></td>"]
    rows = 0
    for v in found.verdicts:
        named = [cells[0], cells[1].format(v.nodeid), *cells[2:]]
        data = {"testId": v.nodeid, "target": v.target, "resultsTableRow": html.row(named, v)}
        frame = {
            v.nodeid: [{"extras": [], "result": "Passed", "duration": "6 ms", **data, "log": ""}]
        }
        rows += len(stdlib_html.escape(json.dumps(frame)).replace("&#x27;", "&#39;"))

    assert len(found.verdicts) > 10_000
    assert rows + sum(map(len, page(found))) < 12e6


def test_nothing_is_drawn_before_it_is_near_to_be_seen() -> None:
    """Reading five megabytes of scripts is most of what it takes to open a small report."""
    scripts = [part for part in page(usual()) if part.startswith("<script>")]

    assert sum(map(len, scripts)) < 10_000
    assert any("IntersectionObserver" in script for script in scripts)
    assert any("beforeprint" in script for script in scripts)


def test_many_passed_results_wait_for_their_box() -> None:
    """A browser needs long for ten thousand rows; what did not pass is always there."""
    [script] = [part for part in page(large(16, 8)) if "'visible', " in part]
    shown = re.search(r"'visible', '([a-z,]+)'", script)

    assert shown is not None
    assert "passed" not in shown[1].split(",")
    assert {"failed", "error", "skipped"} <= set(shown[1].split(","))
    assert not [part for part in page(usual()) if "'visible', " in part]


@pytest.mark.parametrize(
    ("outcomes", "short", "expected"),
    [
        (["passed", "skipped"], False, "passed"),
        (["passed", "failed", "error"], False, "failed"),
        (["passed", "error"], False, "error"),
        (["passed", "not run"], False, "error"),
        (["passed", "no such outcome"], False, "error"),
        (["skipped"], False, "error"),
        ([], False, "error"),
        (["passed"], True, "error"),
        (["passed", "waived"], False, "passed"),
        (["waived", "failed"], False, "failed"),
    ],
)
def test_the_verdict_is_fit_only_where_everything_was_shown(
    outcomes: list[str], short: bool, expected: str
) -> None:
    """Never pass on nothing."""
    verdicts = [judged(f"gpu{n:03}:rail0", name) for n, name in enumerate(outcomes)]

    assert conclusion(record(verdicts, is_coverage_short=short))[0] == expected


def test_growth_is_marked_where_a_check_failed_because_of_it() -> None:
    """Growth alone is no verdict; ports that nothing was read of are named."""
    text = Checked(growth.section(usual())).text

    assert f"{B} +36,844 \u2717 +14" in text
    assert "gpu003:rail0 ? nothing was read 0 0 s" in text
    assert "2 x crc errors: gpu001:rail0: rx_crc_errors_phy is saturated" in text


def test_an_unreadable_run_directory_is_said() -> None:
    """An empty table would look like nothing grew."""
    text = Checked(page(record([judged(A)], Kept(problem="raw/1.txt: gone")))).text

    assert "? raw/1.txt: gone" in text


def test_the_odd_firmware_is_marked() -> None:
    """Alike ports share a row, and only of the same board is another firmware odd."""
    facts = {f"gpu{n:03}": node(f"gpu{n:03}") for n in range(5)}
    facts["gpu006"] = node("gpu006", "28.36")
    facts["gpu007"] = replace(node("gpu007"), ports=(port("1.0", "OTHER"),))
    text = Checked(inventory.section(record([], Kept(facts=facts)))).text

    assert "gpu[000-004]:mlx5_0 5 mlx5_core" in text
    assert text.count("\u2260 28.36") == 1
    assert "\u2260 1.0" not in text
    assert "nothing is known of gpu[001-003]" not in text


def test_cables_that_are_wrong_come_first() -> None:
    """Cables are told of only where they were judged."""
    good, bad = (replace(judged(p, o), layer="wiring") for p, o in ((A, "passed"), (B, "failed")))
    text = Checked(wiring.section(record([good, bad]))).text

    assert text.index(f"failed {B}") < text.index(f"passed {A}")
    assert wiring.section(record([judged(A)])) == []


def test_an_error_belongs_to_what_its_check_measured_elsewhere() -> None:
    """A pair without a value has no metric, and must be in the matrix all the same."""
    [found] = series([judged(f"{A}..{B}"), judged(f"{B}..{C}", "error")])

    assert [v.outcome for v in found.verdicts] == ["passed", "error"]
    assert found.title == "ib_write_lat 4 B P99"


def test_limits_and_payload_rate_become_lines() -> None:
    """Numbers are taken from the limits that were judged by."""
    [_, bandwidth] = series(usual().verdicts)

    assert bandwidth.limits == [("limit >= 380.3 Gb/s", 380.3e9)]
    assert bandwidth.payload == [("payload rate 392.1 Gb/s", 392.1e9)]


def test_hop_classes_need_declared_leaves() -> None:
    """What is not declared is not guessed."""
    leaves = {A: "leaf-0", B: "leaf-0", C: "leaf-1"}

    assert hop_class(f"{A}..{B}", leaves) == "same leaf"
    assert hop_class(f"{A}..{C}", leaves) == "across leaves"
    assert hop_class(f"{A}..gpu009:rail0", leaves) == "leaf not declared"


def test_percentiles_are_values_that_were_measured() -> None:
    """P99 of eight values is the largest of them, not a number between two."""
    values = [float(n) for n in range(1, 9)]

    assert distributions.percentile(values, 0.99) == 8
    assert distributions.percentile(values, 0) == 1
    assert distributions.percentile(values, 0.5) == 4


def test_a_word_that_is_no_state_is_an_error() -> None:
    """Signs stand beside colours, and nothing unknown looks green."""
    assert markup.mark("fine", "x") == '<span class="error">? x</span>'


def test_growth_of_pauses_is_told_by_direction() -> None:
    """Who sends pauses is slow; who receives them is a victim."""
    sent = replace(LATENCY, growth=(Growth(A, "tx_pause", "pause", 3, "tx", 3),))
    text = Checked(growth.section(record([], Kept(measured=[Measured(sent)])))).text

    assert "port pause sent" in text
