"""The end of a run fits on a screen and leaves nothing out in silence."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fabric.judge.training import Work
from pytest_fabric.report.summary import Run, lines
from pytest_fabric.results import Verdict
from pytest_fabric.said import UNLOADED

from .examples import HOSTILE, planned, verdict

DATA = Path(__file__).parent / "data"
PORTS = [f"gpu{node:03}:rail{rail}" for node in range(1, 5) for rail in range(2)]


def flood(count: int) -> list[Verdict]:
    """Return the verdicts of a fabric in which about everything is broken in its own way."""
    made = []
    for n in range(count):
        port = f"gpu{n:04}:rail{n % 8}"
        made += [
            verdict(
                port, "failed", f"test_{n % 90}", message=f"{port} {n}", value=float(n), unit=""
            ),
            verdict(f"{port}..gpu{n * 7 % count:04}:rail0", "failed" if n % 3 else "passed"),
            verdict(port, "error", f"test_e{n % 50}", message=f"{port}: {n} " + "long " * 100),
            verdict(port, "skipped", f"test_s{n}", message=f"reason {n}"),
        ]
    return made


def a_few_failures() -> Run:
    """Return a run with one bad port, one unreachable node and one excluded one."""
    pairs = [
        verdict("gpu001:rail0..gpu002:rail0", "failed"),
        replace(verdict("gpu002:rail0..gpu003:rail0", "failed"), value=40e-6),
        verdict("gpu003:rail0..gpu001:rail0"),
        verdict("gpu001:rail1..gpu002:rail1"),
    ]
    checks = [
        *(verdict(port, check="test_state") for port in PORTS[:6]),
        *(verdict(p, "error", "test_state", f"{p[:6]}: refused\nmore") for p in PORTS[6:]),
        *(verdict(p, "skipped", "test_pause", "pause: not counted by rxe") for p in PORTS[:2]),
        *pairs,
    ]
    plan = [*map(planned, checks), planned(verdict("gpu001", check="test_late"))]
    excluded = {"gpu017": "drained, INC-4711", "gpu018": "drained, INC-4711"}
    declared = [*PORTS, "gpu017:rail0", "gpu018:rail0"]
    return Run(plan, checks, declared, excluded, "fabric-runs/20261129-132105")


def root_cause() -> Run:
    """Return a run in which a slot that is too narrow explains what pairs of its port miss."""
    port = "gpu002:rail1"
    fact = verdict(port, "failed", "test_pcie_width", value=8.0, unit="", limit="== 16")
    others = ["gpu001:rail1", "gpu003:rail1", "gpu004:rail1"]
    pairs = [
        replace(
            verdict(
                f"{one}..{other}", outcome, check, value=value, unit="b/s", limit=">= 380 Gb/s"
            ),
            metric=metric,
        )
        for check, metric in (
            ("test_write_bandwidth", "ib_write_bw.1048576.average"),
            ("test_read_bandwidth", "ib_read_bw.1048576.average"),
        )
        for one in (port, *others)
        for other in (port, *others)
        if one != other
        for outcome, value in [("failed", 226e9) if port in (one, other) else ("passed", 390e9)]
    ]
    stray = verdict("gpu003:rail0", "failed", "test_link_mtu", value=1024.0, unit="B")
    checks = [
        replace(fact, metric="pcie.width", layer="link"),
        replace(stray, metric="link.mtu", layer="link", limit="== 4096 B"),
        *pairs,
    ]
    return Run([], checks, PORTS, {}, "fabric-runs/x")


def waived() -> Run:
    """Return a run in which somebody answers for what failed, and a waiver is of no use."""
    told = "waived by netops until 2027-01-15: RMA 4711\ngpu001:rail0  PCIe width 8"
    checks = [
        *(verdict(p, "waived", "test_width", told, 8.0, "", "== 16") for p in PORTS[:2]),
        *(verdict(port, check="test_width") for port in PORTS[2:]),
    ]
    checks = [replace(one, value=8.0) for one in checks]
    unused = ["test_mtu gpu003 (storage: mended?)"]
    return Run([], checks, PORTS, {}, "fabric-runs/x", unused)


def trained() -> Run:
    """Return a run of 32 nodes of which one port sends and receives at half of its rate."""
    ports = [f"gpu{node:03}:rail0" for node in range(1, 33)]
    pairs = [
        replace(
            verdict(f"{one}..{ports[(n + far) % 32]}", check="test_bw", value=value, unit="b/s"),
            metric="ib_write_bw.1048576.average",
            limit=">= 40 Gb/s",
        )
        for n, one in enumerate(ports)
        for far in (1, 2, 3)
        for value in [49e9 if 6 in (n, (n + far) % 32) else 98e9]
    ]
    near = [
        replace(verdict(f"{one}..{ports[n - 1]}", value=2e-6), metric="ib_write_lat.4.median")
        for n, one in enumerate(ports)
    ]
    work = Work(256, 8, 8, 500e6, 0.3, 0.0)
    return Run([], [*pairs, *near], ports, {}, "fabric-runs/x", workload=work)


CASES = {
    "trained": trained(),
    "untrained": replace(a_few_failures(), workload=trained().workload),
    "waived": waived(),
    "root_cause": root_cause(),
    "healthy": Run([], [verdict(port) for port in PORTS], PORTS, {}, "fabric-runs/x"),
    "a_few_failures": a_few_failures(),
    "nothing": Run([], [], [], {}, None),
}


@pytest.mark.parametrize("case", CASES)
def test_summary_reads_as_agreed(case: str) -> None:
    """Counts and coverage first, then what went wrong, then where to look."""
    shown = "\n".join(lines(CASES[case])) + "\n"

    assert shown == (DATA / f"summary_{case}.txt").read_text()


@pytest.mark.parametrize("count", [5, 60, 1000])
def test_a_flood_still_fits_on_a_screen(count: int) -> None:
    """30 lines of at most 160 characters, and every part says how much it leaves out."""
    excluded = {f"gpu{n}": f"reason {n}" for n in range(40)}
    shown = lines(Run([], flood(count), PORTS, excluded, "fabric-runs/x"))

    assert len(shown) <= 30
    assert max(map(len, shown)) <= 160
    assert shown[-1] == "run directory: fabric-runs/x"
    cut = [line.strip() for line in shown if line.strip().startswith("and ")]
    assert len(cut) == 5
    assert all(re.fullmatch(r"and [\d,]+ more [a-z ]+", line) for line in cut)


def test_waivers_and_more_pairs_still_fit_on_the_screen() -> None:
    """Every part at once, each longer than its room."""
    told = (f"waived by team{n} until 2027-01-15: RMA {n}\nmore" for n in range(9))
    owned = [verdict(f"gpu{n}:rail7", "waived", "test_w", text) for n, text in enumerate(told)]
    contended = [
        replace(verdict(f"gpu{n}:rail6..gpu0:rail6", check=f"test_c{n}"), contention="9 us, 2 us")
        for n in range(9)
    ]
    excluded = {f"gpu{n}": f"reason {n}" for n in range(40)}
    unused = [f"test_x gpu{n} (netops: mended?)" for n in range(99)]
    checks = [*flood(60), *owned, *contended]
    run = Run([], checks, PORTS, excluded, "fabric-runs/x", unused, followed="measured " * 99)
    run = replace(run, workload=trained().workload)
    shown = lines(run)

    assert 27 < len(shown) <= 30
    assert max(map(len, shown)) <= 160
    parts = ("waived:", "waivers that", "training", "measured measured", "suspects:", "contention")
    assert [part for part in parts if not any(line.startswith(part) for line in shown)] == []


def test_a_thousand_failures_of_one_rail_are_folded() -> None:
    """Suspects, folded failures, the directory and the next command: what a reader acts on."""
    nodes = [f"gpu{n:03}" for n in range(1, 501)]
    bad = nodes[2:9]
    facts = [
        verdict(f"{node}:rail{rail}", "failed" if node in bad else "passed", check, value=8.0,
                unit="", limit="== 16")
        for node in nodes
        for rail in range(8)
        for check in ("test_pcie_width", "test_pcie_path")
    ]  # fmt: skip
    pairs = [
        verdict(f"{one}:rail{rail}..{other}:rail{rail}",
                "failed" if {one, other} & {*bad} else "passed", f"test_{n}")
        for n in range(7)
        for rail in range(8)
        for one, other in zip(nodes, [*nodes[1:], nodes[0]], strict=True)
        if n < 1 or {one, other} & {*bad}
    ]  # fmt: skip
    extra = [verdict(f"{node}:rail0", "failed", "test_mtu") for node in nodes[100:600]]
    failed = [v for v in (*facts, *pairs, *extra) if v.outcome == "failed"]
    shown = lines(Run([], [*facts, *pairs, *extra], PORTS, {}, "fabric-runs/x"))
    text = "\n".join(shown)

    assert len(failed) >= 900
    assert len(shown) <= 30
    assert max(map(len, shown)) <= 160
    assert "gpu[003-009]" in text
    assert "suspects:" in text
    assert shown[-1] == "run directory: fabric-runs/x"
    assert shown[-2] == "next, once that is mended: pytest suites/ --lf"


def test_notes_are_part_of_the_thirty_lines() -> None:
    """Whatever is to be said of the run as a whole, its end stays on the screen."""
    for count in (1, 5, 6, 400):
        shown = lines(Run([], flood(60), PORTS, {}, "fabric-runs/x"), ["a note " * 99] * count)

        assert len(shown) <= 30
        assert shown[0].startswith("a note")
        assert max(len(line) for line in shown if not line.startswith("a note")) <= 160
        assert shown[-1] == "run directory: fabric-runs/x"


def test_a_note_is_told_to_its_end() -> None:
    """It may end with the path to look at, or with what has changed."""
    note = f"replay of {'/a' * 99} (cluster.yaml has changed since): not measured again"

    assert lines(Run([], flood(5), PORTS, {}, "fabric-runs/x"), [note])[0] == note


def test_what_had_no_load_accuses_nobody() -> None:
    """Only the last suite was selected: one line tells what was not measured."""
    checks = [
        verdict(port, "error", check, f"{port}: leaf-0: found 0 in {n} s: {UNLOADED}")
        for n, port in enumerate(PORTS)
        for check in ("test_a", "test_b", "test_c", "test_d")
    ]
    shown = lines(Run([], checks, PORTS, {}, "fabric-runs/x"))

    assert "suspects:" not in shown
    where = "gpu[001-004]:rail[0-1]"
    told = "not measured without load: test_a, test_b, test_c and 1 more"
    assert f"  32 x {where}: {told}" in shown
    assert shown[-2].startswith("next: pytest suites/ (all of them")


def test_an_error_of_its_own_is_still_suspected_beside_those_without_load() -> None:
    checks = [
        verdict("gpu001:rail0", "error", "test_a", f"gpu001:rail0: found 0: {UNLOADED}"),
        verdict("gpu002", "error", "test_b", "gpu002: refused"),
    ]
    shown = lines(Run([], checks, PORTS, {}, "fabric-runs/x"))

    assert any("gpu002  nothing could be measured" in line for line in shown)
    assert not any("gpu001  nothing could be measured" in line for line in shown)
    assert shown[-2] == "next, once that is mended: pytest suites/ --fabric-resume fabric-runs/x"


def test_hostile_text_stays_on_its_line() -> None:
    """Messages and reasons come from nodes and files."""
    broken = [
        verdict("gpu1", outcome, message=HOSTILE + "\n\x1b[2J") for outcome in ("error", "skipped")
    ]
    shown = lines(Run([], broken, [], {"gpu2": HOSTILE}, None))

    assert not set("".join(shown)) & set("\n\x1b\x00\x9b\ud800\ufffe")


def test_a_failure_without_value_shows_its_message() -> None:
    """A plain assertion has no limit to show."""
    shown = lines(Run([], [verdict("gpu1", "failed", message="lost\nmore", limit=None)], [], {}))

    assert "  1 x test_p99  gpu1: lost" in shown


def test_values_of_several_limits_are_not_mixed() -> None:
    """A range is shown only of values that were held against one limit."""
    mixed = [verdict("a", "failed"), verdict("b", "failed", limit="<= 9 us")]

    assert "  2 x test_p99  a, b" in lines(Run([], mixed, [], {}))


def test_the_run_directory_is_never_cut() -> None:
    """A path that was cut cannot be copied."""
    assert lines(Run([], [], [], {}, "/long" * 60))[-1] == f"run directory: {'/long' * 60}"
