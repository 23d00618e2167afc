"""Pages to sign: a leaf is ready when everything of it was shown, and by nothing less."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fabric.report import papers, signoff
from pytest_fabric.report.about import About
from pytest_fabric.report.sections.growth import watched
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.report.signoff import rows
from pytest_fabric.report.signoff.proof import UNKNOWN, Proven, proven, suites_hash
from pytest_fabric.report.signoff.sheet import Sheet, sheets
from pytest_fabric.results import Fact, Reading

from ..examples import HOSTILE
from ..fabric import NODES, PAIRS, PORTS, about, judged, link, record, with_these

BAD = PORTS[1]


def only(made: RunRecord) -> Sheet:
    """Return the sheet of the one leaf."""
    (found,) = sheets(made)
    return found


def text(sheet: Sheet, proof: Proven | None = None) -> str:
    """Return the words of a page."""
    page = signoff.page(sheet, proof or Proven(None, UNKNOWN), watched(sheet.record))
    return " ".join(
        re.sub(r"<[^>]*>", " ", re.sub(r"<style>.*</style>", "", page, flags=re.S)).split()
    )


def test_a_leaf_is_ready_when_all_of_it_was_shown() -> None:
    found = only(record(with_these()))

    assert found.reasons == []
    assert found.conclusion == "READY"
    assert "Sign-off of leaf-0, lab READY ports 5 declared, 5 seen, 5 measured, 0 excluded" in (
        text(found)
    )


def without(*metrics: str, at: str = "") -> RunRecord:
    """Return a run that did not judge some metrics, or not at one place."""
    return record([v for v in with_these() if not ((v.metric or "") in metrics and at in v.target)])


RUNS: dict[str, tuple[Callable[[], RunRecord], str]] = {
    "a port failed": (lambda: record(with_these(judged(BAD, "link.flaps", "failed"))), "1 failed"),
    "a pair failed": (
        lambda: record(with_these(judged(PAIRS[0], "ib_write_lat.4.p99", "failed"))),
        "1 failed",
    ),
    "a node failed": (
        lambda: record(with_these(judged("gpu002", "host.governor", "failed"))),
        "1 failed",
    ),
    "the fabric failed": (
        lambda: record(with_these(judged("fabric", "wiring.swapped", "failed"))),
        "1 failed",
    ),
    "an error": (
        lambda: record(with_these(judged(BAD, "link.speed", "error"))),
        "1 could not be told",
    ),
    "a word that is no outcome": (
        lambda: record(with_these(judged(BAD, "link.speed", "great"))),
        "1 could not be told",
    ),
    "not run": (lambda: record(with_these(judged(BAD, "link.speed", "not run"))), "1 not run"),
    "an excluded node": (
        lambda: record(with_these(), of=about(excluded={"gpu005": "drained"})),
        "excluded: gpu005:rail0",
    ),
    "a port of which only the link was looked at": (
        lambda: record([v for v in with_these() if BAD not in v.target or v.target == BAD]),
        "latency not measured: gpu002:rail0",
    ),
    "no bandwidth": (
        lambda: without("ib_write_bw.1048576.average"),
        "bandwidth not measured: gpu[001-005]:rail0",
    ),
    "no link": (lambda: without("link.speed", "link.raw_ber"), "link not measured"),
    "a limit that nothing judged": (
        lambda: without("link.raw_ber"),
        "limits that no check has judged: link.raw_ber",
    ),
    "a limit that was judged elsewhere": (
        lambda: without("link.raw_ber", at=BAD),
        "no check has judged: link.raw_ber (gpu002:rail0)",
    ),
    "a limit of another node": (
        lambda: without("host.governor", at="gpu004"),
        "no check has judged: host.governor (gpu004:rail0)",
    ),
    "cables that nobody held against the plan": (
        lambda: without("wiring.misplaced", at=BAD),
        "cables that were not held against their plan: gpu002:rail0",
    ),
    "a run that was killed": (
        lambda: record(with_these(), of=about(ended=None)),
        "the run has not ended",
    ),
    "a run that was interrupted": (
        lambda: record(with_these(), of=about(interrupted=True)),
        "the run was interrupted",
    ),
    "a record that cannot be read": (
        lambda: record(with_these(), problem="cannot read it"),
        "cannot read it",
    ),
    "nothing at all": (lambda: record([]), "link not measured"),
    "nothing but skips": (
        lambda: record([replace(v, outcome="skipped", value=None) for v in with_these()]),
        "bandwidth not measured",
    ),
    "a run of an older version": (
        lambda: record(with_these(), of=about(limits={})),
        "which limits are declared is not known",
    ),
    "values without a check that passed": (
        lambda: record([replace(v, value=None) for v in with_these()]),
        "latency not measured",
    ),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_leaf_is_not_ready_by_less(name: str) -> None:
    """And the page says so at its top, and why."""
    make, reason = RUNS[name]
    found = only(make())

    assert found.conclusion == "NOT READY"
    assert reason in "; ".join(found.reasons)
    assert text(found).startswith("Sign-off of leaf-0 Sign-off of leaf-0, lab NOT READY")
    assert reason[:60] in text(found)


def test_waivers_are_told_beside_ready() -> None:
    waived = judged(BAD, "link.flaps", "waived", message="waived by ops until 2027: <b>RMA</b> 7")
    found = only(record(with_these(waived)))

    assert found.conclusion == "READY WITH WAIVERS"
    assert "1 x test_link_flaps: waived by ops until 2027: &lt;b&gt;RMA&lt;/b&gt; 7" in text(found)


def test_what_a_port_has_not_got_need_not_be_judged() -> None:
    """Copper has no light: every port of the leaf says so."""
    dark = [
        Reading(
            node,
            "link",
            {f"{node}:rail0": {**link(), "link.raw_ber": Fact(None, inapplicable="copper")}},
        )
        for node in NODES
    ]
    verdicts = without("link.raw_ber").run.verdicts
    assert only(record(list(verdicts), dark)).conclusion == "READY"
    assert only(record(list(verdicts), dark[1:])).conclusion == "NOT READY"


def test_leaves_are_signed_apart() -> None:
    """What fails on one leaf is none of the other's business; their pairs are of both."""
    leaves = {**dict.fromkeys(PORTS[:3], "leaf-0"), **dict.fromkeys(PORTS[3:], "leaf-1")}
    own = record(with_these(judged(BAD, "link.flaps", "failed")), of=about(leaves=leaves))
    assert [(s.leaf, s.conclusion) for s in sheets(own)] == [
        ("leaf-0", "NOT READY"),
        ("leaf-1", "READY"),
    ]
    across = judged(PAIRS[2], "ib_write_lat.4.p99", "failed")
    both = record(with_these(across), of=about(leaves=leaves))
    assert {s.conclusion for s in sheets(both)} == {"NOT READY"}
    nowhere = record(with_these(), of=about(leaves={PORTS[0]: "leaf-0"}))
    assert [(s.leaf, len(s.ports)) for s in sheets(nowhere)] == [("leaf-0", 1), (None, 4)]


def test_worst_p1_and_median_are_those_of_the_worse_side() -> None:
    """The worst latency is the largest, the worst bandwidth the smallest."""
    pairs = [f"gpu{a:03}:rail0..gpu{b:03}:rail0" for a in range(1, 15) for b in range(20, 35)]
    lat = [judged(p, "ib_write_lat.4.p99", value=(n + 1) * 1e-6) for n, p in enumerate(pairs)]
    bw = [judged(p, "ib_write_bw.9.average", value=(n + 1) * 1e9) for n, p in enumerate(pairs)]
    ports = tuple(dict.fromkeys(end for pair in pairs for end in pair.split("..")))
    made = record([*lat, *bw], of=about(declared=ports, leaves=dict.fromkeys(ports, "leaf-0")))
    first, second = rows.rows(only(made))

    assert (first.count, first.worst, first.p1, first.median) == (
        210,
        "210.0 us",
        "208.0 us",
        "105.5 us",
    )
    assert (second.worst, second.p1, second.median) == ("1.0 Gb/s", "3.0 Gb/s", "105.5 Gb/s")
    assert first.hops == "same leaf"


def test_exposure_versions_and_hashes_are_told() -> None:
    """Behind each claim stands for how long it was watched."""
    words = text(only(record(with_these())))

    for part in (
        "counted for 85,878 s or more, rates of 8.7e-17 and more show",
        "links lost since boot up for 24.0 h",
        "uncorrectable blocks not told",
        "MT_0838: 28.39 (5)",
        "mlx5_core (5)",
        "6.24 (5)",
        "leaf-0: sonic, version not read",
        f"inventory sha256 {'0' * 64}",
        f"tests sha256 {suites_hash(about().suites)}",
        f"proof of the tests {UNKNOWN}",
        "5 of 5 cables are where the plan has them",
        "handed over: name, date, signature",
    ):
        assert part in words, part


def test_the_release_of_a_switch_is_told_where_it_was_read() -> None:
    release = {"switch.version": Fact("SONiC.202311.4")}
    reading = Reading(
        "leaf-0", "switch", {PORTS[0]: {"switch.version": Fact(None, "late")}, PORTS[1]: release}
    )

    assert "leaf-0: SONiC.202311.4" in text(only(record(with_these(), [reading])))


def proof_in(folder: Path, name: str = "prove-1", **changes: object) -> None:
    """Write a proof of the tests of the run."""
    document = {
        "version": about().version,
        "ended": "2026-01-01",
        "suites": {"suites/test_4_pair.py": "a" * 64, "suites/other.py": "b" * 64},
        "tests": ["suites/test_4_pair.py::test_p99", "suites/other.py::test_other"],
        "is_whole": True,
    }
    (folder / name).mkdir(parents=True)
    (folder / name / "prove.json").write_text(json.dumps({**document, **changes}))


def status(folder: Path, of: About | None = None) -> bool | None:
    return proven(of or about(), ["suites/test_4_pair.py::test_p99[a..b]"], folder).is_green


def test_a_proof_is_claimed_where_it_is_known(tmp_path: Path) -> None:
    """Green, or not green; the newest counts."""
    assert status(tmp_path) is None
    proof_in(tmp_path)
    assert status(tmp_path) is True
    proof_in(tmp_path, "prove-2", is_whole=False)
    assert status(tmp_path) is False


@pytest.mark.parametrize(
    "changes",
    [
        {"version": "9"},
        {"suites": {"suites/test_4_pair.py": "c" * 64}},
        {"suites": {}},
        {"suites": None},
        {"tests": []},
        {"tests": None},
        {"tests": [["x"]]},
        {"is_whole": "yes"},
        {"is_whole": 1},
    ],
)
def test_a_proof_of_something_else_is_none(tmp_path: Path, changes: dict[str, object]) -> None:
    """Of another version, of other tests, of files that have changed since."""
    proof_in(tmp_path, "prove-1", **changes)

    assert status(tmp_path) is not True


def test_no_proof_is_claimed_by_nothing(tmp_path: Path) -> None:
    """No hash, no test, a file that could not be read, and what is no JSON."""
    proof_in(tmp_path, suites={}, tests=[])
    assert status(tmp_path, about(suites={})) is None
    assert proven(about(), [], tmp_path).is_green is None
    proof_in(tmp_path, "prove-3", suites={"suites/test_4_pair.py": "unreadable"})
    assert status(tmp_path, about(suites={"suites/test_4_pair.py": "unreadable"})) is None
    for name, said in (("prove-4", "[" * 9999), ("prove-5", "[1]"), ("prove-6", "\xff")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "prove.json").write_text(said, "latin-1")
    assert status(tmp_path) is None


def worst() -> RunRecord:
    """Return a run of which everything is long, and nothing holds."""
    sizes = [(tool, size) for tool in ("write", "read", "send") for size in (2, 4, 64, 4096, 8192)]
    names = ("median", "p99", "p999")
    metrics = [f"ib_{tool}_lat.{size}.{name}" for tool, size in sizes for name in names]
    long = f"{HOSTILE} {'a very long reason ' * 40}"
    bad = [judged(PAIRS[0], one, "failed", limit=f"<= 5 us ({'x ' * 60})") for one in metrics]
    other = [
        judged(port, f"roce.x{n}", word, message=f"{n} {long}")
        for n, port in enumerate(PORTS * 3)
        for word in ("error", "skipped", "waived")
    ]
    readings = [
        Reading(node, "firmware", {f"{node}:rail0": {"firmware.driver": Fact(long)}})
        for node in NODES
    ]
    of = about(user=long, leaves=dict.fromkeys(PORTS, HOSTILE), excluded={"gpu001": long})
    return record(with_these(*bad, *other), readings, of=of)


def test_hostile_text_stays_text() -> None:
    page = signoff.page(only(worst()), Proven(None, HOSTILE), {})

    assert "<script" not in page
    assert "\x1b" not in page
    assert "http" not in page


@pytest.mark.parametrize("paper", ["A4", "letter"])
def test_a_page_is_one_page_on_paper(paper: str, tmp_path: Path) -> None:
    """The worst of all, too: nobody signs half a page."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no chromium to print with")
    for number, made in enumerate((record(with_these()), worst())):
        page = signoff.page(only(made), Proven(None, UNKNOWN), {})
        html = tmp_path / f"{number}.html"
        html.write_text(page.replace("size: auto", f"size: {paper}"))
        command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        command += [f"--user-data-dir={tmp_path}/profile", f"--print-to-pdf={html}.pdf"]
        subprocess.run([*command, html.as_uri()], check=True, capture_output=True, timeout=120)
        pdf = html.with_suffix(".html.pdf").read_bytes()
        assert len(re.findall(rb"/Type\s*/Page[^s]", pdf)) == 1


def test_papers_are_written_beside_the_run(tmp_path: Path) -> None:
    """One page per leaf; a name of a leaf leads nowhere else."""
    leaves = {**dict.fromkeys(PORTS, "../../etc/x"), PORTS[0]: "leaf-0"}
    del leaves[PORTS[4]]
    papers.write(record(with_these(), of=about(leaves=leaves)), tmp_path)

    assert sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*.*")) == [
        "signoff/%2E.%2F..%2Fetc%2Fx.html",
        "signoff/leaf-0.html",
        "signoff/~without-leaf.html",
        "tickets.csv",
        "tickets.json",
    ]
