"""The soak against the lab: only where it is asked for, what shows over time, and going on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_fabric.report.records import read_measurements

from .runs import at_once, bad, ended, latest, run, told, verdicts

SUITE = "suites/test_8_soak.py"

#: Windows of a few simulated seconds, which take a tenth of that.
SHORT = ("-o", "fabric_soak_window=4s", "--fabric-no-reports")
LONG = ("-o", "fabric_soak_window=18s", "--fabric-no-reports")


def small(site: pytest.Pytester, dedicated: str = "true") -> None:
    """Make the lab two nodes, and its errors rates of the few seconds that there are."""
    path = site.path / "cluster.yaml"
    text = path.read_text().replace("gpu[001-004]", "gpu[001-002]").replace("0.02", "0.1")
    text = text.replace("dedicated: true", f"dedicated: {dedicated}")
    text = text.replace("    limits:\n", '    limits:\n      soak.effective_ber: "<= 1e-11"\n')
    path.write_text(text)
    plan = site.path / "cables.csv"
    rows = plan.read_text().splitlines()
    plan.write_text("\n".join(row for row in rows if "gpu003" not in row and "gpu004" not in row))


def start(site: pytest.Pytester, *options: str) -> subprocess.Popen[str]:
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", SUITE, *SHORT, *options]
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.Popen(words, cwd=site.path, text=True, **pipe)  # type: ignore[call-overload, no-any-return]


def windows(folder: Path) -> list[int]:
    """Return the numbers of the windows that a run has written down."""
    path = folder / "measurements.jsonl"
    if not path.exists():
        return []
    whole = path.read_bytes().rpartition(b"\n")[0].splitlines()
    return [json.loads(line)["settings"]["window"] for line in whole]


def await_windows(site: pytest.Pytester, process: subprocess.Popen[str], count: int) -> None:
    until = time.monotonic() + 60
    while len(windows(latest(site))) < count:
        assert process.poll() is None
        assert time.monotonic() < until
        time.sleep(0.05)


def test_a_soak_that_nobody_asked_for_is_skipped_and_has_not_passed(site: pytest.Pytester) -> None:
    done = run(site, "--fabric-no-reports", suites=[SUITE])

    assert done.ret == 10  # nothing was measured
    assert {verdict.outcome for verdict in verdicts(site)} == {"skipped"}
    assert all("--fabric-soak 24h asks for it" in (v.message or "") for v in verdicts(site))
    assert not windows(latest(site))


def test_what_gets_worse_is_named_and_nothing_else(site: pytest.Pytester) -> None:
    """A flap, and bit errors that creep, on ports that every other check takes for sound."""
    small(site)
    faults = ("ber_creep@gpu001:rail0", "flap_now_and_then@gpu002:rail1")
    done = run(site, "--fabric-soak", "126s", *LONG, suites=[SUITE], faults=faults)

    assert done.ret == 1
    assert ended(site) == {
        ("test_soak_bit_errors_do_not_creep", "gpu001:rail0"): "failed",
        ("test_soak_flaps", "gpu002:rail1"): "failed",
    }
    done.stdout.fnmatch_lines(
        [
            "soak: 7 of 7 windows of 18 s, 2.1 min of 2.1 min, 4 ports",
            "  shown: * flaps (gpu002:rail1); 0 uncorrectable blocks; BER behind FEC of every*",
        ]
    )


def test_a_soak_that_was_killed_goes_on_where_it_was(site: pytest.Pytester) -> None:
    """What is left is measured, once each; SIGTERM writes what has been shown, SIGKILL cannot."""
    small(site)
    first = start(site, "--fabric-soak", "20s")
    await_windows(site, first, 1)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    done = windows(latest(site))

    second = start(site, "--fabric-resume", "latest")
    await_windows(site, second, len(done) + 1)
    second.send_signal(signal.SIGTERM)
    text, _ = second.communicate(timeout=60)
    assert second.returncode == 2
    records = list(read_measurements(latest(site) / "measurements.jsonl"))
    shown = sum(record.error is None for record in records)
    assert f"soak: {shown} of 5 windows" in text
    assert "BER behind FEC of every link below" in text
    assert "go on: pytest suites/ --fabric-resume" in text
    assert (latest(site) / "run.json").exists()

    third = start(site, "--fabric-resume", "latest")
    text, _ = third.communicate(timeout=120)
    assert third.returncode == 0, text
    assert "soak: 5 of 5 windows" in text
    assert sorted(windows(latest(site))) == list(range(1, 6))
    records = list(read_measurements(latest(site) / "measurements.jsonl"))
    assert all(record.error is None and len(record.health) == 4 for record in records)


def test_a_fabric_that_others_use_is_loaded_on_its_leaves_only(site: pytest.Pytester) -> None:
    """Light load has no soak; full load keeps off the uplinks, by pairs of one leaf."""
    small(site, dedicated="false")
    light = run(site, "--fabric-soak", "4s", "--fabric-load", "light", *SHORT, suites=[SUITE])
    assert light.ret == 10
    assert {v.outcome for v in verdicts(site)} == {"skipped"}
    assert "full load, this run may only be light" in (verdicts(site)[0].message or "")

    full = run(site, "--fabric-soak", "16s", *SHORT, suites=[SUITE])
    assert full.ret == 0, told(site, "failed") | told(site, "error")
    assert not bad(site)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--fabric-soak", "soon"), "--fabric-soak: expected a time such as 90s*'soon'"),
        (("--fabric-soak", "0s"), "--fabric-soak: expected a time such as 90s*'0s'"),
        (("--fabric-soak", "4"), "--fabric-soak: expected a time such as 10m*a window of 60 s*'4'"),
        (
            ("--fabric-soak", "1h", "-o", "fabric_soak_window=1s"),
            "*fabric_soak_window: expected whole seconds from 4 to 3600, got 1 s",
        ),
        (("--fabric-soak", "1h", "--fabric-prove"), "*--fabric-prove: expected no --fabric-soak*"),
        (("--fabric-soak", "1h", "-n2"), "*--fabric-soak: expected no -n beside it*"),
    ],
)
def test_wrong_calls_are_one_line(site: pytest.Pytester, words: tuple[str, ...], line: str) -> None:
    done = at_once(site, SUITE, *words)

    assert done.ret == 4
    done.stderr.fnmatch_lines([f"*{line}*"])
    assert not (site.path / "fabric-runs").exists()


def test_a_plan_tells_of_the_soak(site: pytest.Pytester) -> None:
    done = at_once(site, SUITE, "--fabric-soak", "24h", "--fabric-plan")

    assert done.ret in (0, 5)
    done.stdout.fnmatch_lines(
        ["soak        1,440 windows of 60 s, each a permutation of all ports: 8 pairs at once; *"]
    )
