"""`pytest-fabric retest`: what was repaired is measured again, and nothing is mended by nothing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_fabric.cli import retesting
from pytest_fabric.report import retested, schema
from pytest_fabric.report.retested import CHANGED, MENDED, NOT_TOLD, STILL_BAD
from pytest_fabric.report.tickets import files
from pytest_fabric.report.tickets.make import tickets_of
from pytest_fabric.report.tickets.record import Ticket
from pytest_fabric.results import Verdict
from tests.cli.inside import call
from tests.cli.test_command import command
from tests.cli.test_runs import problems
from tests.clusters import TEXT
from tests.plugin.runs import unplanned
from tests.report.examples import HOSTILE
from tests.report.fabric import PAIRS, PORTS, judged, record, with_these

ROOT = Path(__file__).parents[2]

BAD, SOUND = PORTS[1], PORTS[0]


def ticket() -> Ticket:
    """Return that of a port that loses its link, and is slow because of it."""
    failed = [judged(BAD, "link.flaps", "failed", 42)]
    failed += [judged(PAIRS[1], "ib_write_bw.1048576.average", "failed", 1e9)]
    failed += [judged("gpu002", "node.slowest", "failed", 0.1)]
    (found,) = tickets_of(record(with_these(*failed))).tickets
    return found


def test_the_run_is_the_last_that_has_the_ticket(tmp_path: Path) -> None:
    """A retest of one ticket is a run without the others."""
    first, second = tmp_path / "20260101-000000", tmp_path / "20260102-000000"
    both = with_these(judged(BAD, "link.flaps", "failed"), judged(SOUND, "link.flaps", "failed"))
    one = with_these(judged(SOUND, "link.flaps", "failed"))
    for folder, verdicts in ((first, both), (second, one)):
        folder.mkdir()
        files.write(folder, tickets_of(record(verdicts)))
    (tmp_path / "20260103-000000").mkdir()  # still measures

    assert retesting.last_with(f"cable-{BAD}", tmp_path) == first
    assert retesting.last_with(BAD, tmp_path) == first
    assert retesting.last_with(f"cable-{SOUND}", tmp_path) == second
    assert retesting.last_with("cable-gpu099:rail0", tmp_path) == tmp_path / "latest"


def again(*verdicts: Verdict) -> retested.Retested:
    """Return what a retest says in which these are the verdicts, beside a sound leaf."""
    usual = (
        judged(BAD, "link.flaps", "passed", 0),
        judged(PAIRS[1], "ib_write_bw.1048576.average", "passed", 3.9e11),
    )
    now = record(with_these(*usual, *verdicts))
    before = retested.measured(with_these(*usual))
    return retested.retested(ticket(), "run-1", now, [SOUND], before)


def test_a_ticket_is_mended_when_its_checks_hold() -> None:
    """What all ports of its node show at once is not asked for again."""
    found = again()

    assert (found.word, found.reasons) == (MENDED, ("all 2 checks hold",))
    row = next(row for row in found.values if row.metric == "link.flaps")
    assert (row.before, row.after, row.limit) == ("42", "0", "<= 5")
    pair = next(row for row in found.values if row.metric.startswith("ib_write_bw"))
    assert (pair.before, pair.after) == ("1 Gb/s", "390 Gb/s")
    assert found.next_step == ""


@pytest.mark.parametrize(
    ("verdict", "word", "reason"),
    [
        (judged(BAD, "link.flaps", "failed", 42), STILL_BAD, "1 of 2 checks fail again"),
        (judged(BAD, "link.flaps", "waived", 42), STILL_BAD, "1 of 2 checks fail again"),
        (judged(BAD, "link.flaps", "error"), NOT_TOLD, "1 of 2 checks have no value"),
        (judged(BAD, "link.flaps", "skipped"), NOT_TOLD, "1 of 2 checks have no value"),
        (judged(BAD, "link.flaps", "not run"), NOT_TOLD, "1 of 2 checks have no value"),
        (judged(BAD, "link.flaps", "splendid"), NOT_TOLD, "1 of 2 checks have no value"),
        (judged(BAD, "link.speed", "failed"), CHANGED, "now fails, and did not before"),
        (judged(PAIRS[0], "ib_write_lat.4.p99", "failed"), CHANGED, "now fails, and did not"),
        (judged(SOUND, "link.flaps", "failed"), CHANGED, "the fault may have moved: now fails"),
        (judged(BAD, "link.speed", "error"), NOT_TOLD, "could not be told"),
        (
            judged(f"{BAD}..{SOUND}", "ib_write_lat.4.p99", "failed"),
            CHANGED,
            "fails, and was not measured before: test_ib_write_lat_4_p99",
        ),
    ],
)
def test_nothing_else_is_mended(verdict: Verdict, word: str, reason: str) -> None:
    found = again(verdict)

    assert found.word == word
    assert reason in "; ".join(found.reasons)
    assert bool(found.next_step) == (word == STILL_BAD)
    assert next(iter(retested.lines(found))) == f"cable-{BAD}: {word}"


def test_a_part_that_is_still_bad_has_no_new_failures_where_nothing_was_measured() -> None:
    """Its pairs with the controls are measured for the first time: they say the same once more."""
    pair = judged(f"{BAD}..{SOUND}", "ib_write_bw.1048576.average", "failed")
    found = again(judged(BAD, "link.flaps", "failed", 42), pair)

    assert found.word == STILL_BAD
    assert not [line for line in found.reasons if "did not before" in line]
    assert [line for line in found.reasons if line.startswith("fails, and was not measured before")]


def test_what_was_not_measured_is_not_mended() -> None:
    """A run that lacks the port, a ticket without checks."""
    empty = retested.retested(ticket(), "run-1", record([]), [])
    assert empty.word == NOT_TOLD
    assert {r.after for r in empty.values if r.metric.startswith("ib_")} == {"not measured"}
    bare = replace(ticket(), failed=())
    assert retested.retested(bare, "run-1", record(with_these()), []).word == NOT_TOLD


def test_hostile_values_are_lines_of_their_own() -> None:
    bad = judged(BAD, "module.vendor", "failed", f"evil\n{HOSTILE}")
    (one,) = tickets_of(record(with_these(bad))).tickets
    found = retested.retested(one, "run-1", record(with_these(bad)), [])

    assert all(line.isprintable() for line in retested.lines(found))


def site(folder: Path) -> Path:
    """Return a folder with three nodes of the lab and the suite of links."""
    text = (ROOT / "cluster.yaml").read_text().replace("gpu[001-004]", "gpu[001-003]")
    (folder / "cluster.yaml").write_text(unplanned(text))
    (folder / "suites").mkdir()
    shutil.copy(ROOT / "suites" / "test_1_link.py", folder / "suites")
    return folder


def test_a_repair_is_seen_and_one_that_was_none_too(tmp_path: Path) -> None:
    """On the lab: still bad with the fault in it, and mended without."""
    folder = site(tmp_path)
    words = ["-q", "-k", "received_power or port_state", "-p", "no:cacheprovider", "suites"]
    fault = "dirty_optic@gpu002:rail0"
    run = [sys.executable, "-m", "pytest", *words, "--fabric-fault", fault]
    ran = subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 1, ran.stdout
    assert "pytest-fabric retest cable-gpu002:rail0" in ran.stdout
    first = (folder / "fabric-runs" / "latest").resolve()

    bad = command("retest", "cable-gpu002:rail0", "--fault", fault, cwd=folder)
    assert (bad.returncode, bad.stderr) == (1, "")
    assert "measuring gpu002:rail0 again, 4 pairs; controls: gpu001:rail0, gpu003:rail0" in (
        bad.stdout
    )
    assert "cable-gpu002:rail0: still bad" in bad.stdout
    assert "next: swap the cables of gpu002:rail0 and gpu001:rail0" in bad.stdout
    second = (folder / "fabric-runs" / "latest").resolve()
    kept = json.loads((second / "tickets.json").read_text())["tickets"][0]
    assert (kept["tried"], kept["action"]["step"]) == (["clean"], "swap")
    assert "NOT READY" in (second / "signoff" / "leaf-0.html").read_text()

    good = command("retest", "gpu002:rail0", "--run", str(first), cwd=folder)
    assert (good.returncode, good.stderr) == (0, "")
    assert "cable-gpu002:rail0: mended" in good.stdout
    third = (folder / "fabric-runs" / "latest").resolve()
    told = json.loads((third / "retest.json").read_text())
    assert problems(told, schema.schema("retest")) == []
    assert (told["word"], told["before"]) == ("mended", first.name)
    assert {v["target"].partition(":")[0] for v in lines(third / "verdicts.jsonl")} == {
        "gpu001",
        "gpu002",
        "gpu003",
    }
    assert len({first, second, third}) == 3


def lines(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_wrong_call_is_one_line(run_directory: Path, tmp_path: Path) -> None:
    """No such ticket, no run, no suites, another cluster, a fault of no lab."""
    (tmp_path / "suites").mkdir()
    other = tmp_path / "other.yaml"
    other.write_text(TEXT.replace("name: two", "name: other"))
    ssh = tmp_path / "ssh.yaml"
    ssh.write_text(TEXT.replace("name: two", "name: lab").replace("lab\nnodes", "ssh\nnodes"))
    run = ["--run", str(run_directory)]
    name = json.loads((run_directory / "tickets.json").read_text())["tickets"][0]["id"]
    for words, said in (
        (["nosuch", *run], "expected a ticket of"),
        ([name, "--run", str(tmp_path)], "expected the directory of a run"),
        ([name, *run, "--suites", "nowhere"], "expected the tests at nowhere"),
        ([name, *run, "--cluster", str(other)], "expected a run on cluster other"),
        ([name, *run, "--cluster", str(tmp_path / "none.yaml")], "none.yaml"),
        ([name, *run, "--cluster", str(ssh), "--fault", "x@y"], "expected transport lab"),
    ):
        done = call(["retest", *words], tmp_path)
        assert (done.returncode, done.stdout) == (4, ""), words
        assert said in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fault", "nosuch@gpu002:rail0"], "nosuch"),
        (["--suites", "empty"], "retest: expected tests in empty, found none"),
    ],
)
def test_what_cannot_be_measured_is_no_traceback(
    words: list[str], said: str, run_directory: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    shutil.copytree(ROOT / "suites", tmp_path / "suites")
    name = json.loads((run_directory / "tickets.json").read_text())["tickets"][0]["id"]
    done = command("retest", name, "--run", str(run_directory), *words, cwd=tmp_path)

    assert done.returncode == 4
    assert said in done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    assert done.stderr.count("\n") == 1
