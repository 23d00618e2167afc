"""Two runs that know nothing of each other, on the same nodes at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pytest_fabric import config, endpoints
from pytest_fabric.report.records import read_measurements, read_verdicts
from pytest_fabric.transport import Job, Pool

from .runs import unplanned

NODES = 3


@pytest.fixture
def shared(site: pytest.Pytester) -> Iterator[Path]:
    """Return a folder whose cluster file reaches the nodes of one lab over plain SSH."""
    path = site.path / "cluster.yaml"
    # The plan has a fourth node.
    text = unplanned(path.read_text().replace("gpu[001-004]:", f"gpu[001-00{NODES}]:"))
    path.write_text(text)
    with closing(endpoints.Lab(config.load(path), ())) as lab:
        _describe(site.path, lab, text)
        yield site.path


def _describe(folder: Path, lab: endpoints.Lab, text: str) -> None:
    key = folder / "id_lab"
    key.write_text(lab.address["client_key"])
    key.chmod(0o600)
    ports = lab.address["nodes"]
    known = folder / "known_hosts"
    known.write_text(
        "".join(f"[127.0.0.1]:{p} {lab.address['host_key']}\n" for p in ports.values())
    )
    (folder / "ssh_config").write_text(
        f"Host 127.0.0.1\n  User {lab.address['user']}\n  IdentityFile {key}\n"
        f"  IdentitiesOnly yes\n  UserKnownHostsFile {known}\n"
    )
    nodes = "\n".join(
        f'  {name}: {{profile: cx7, address: "127.0.0.1:{port}"}}' for name, port in ports.items()
    )
    head, rest = text.split("nodes:\n", 1)
    rest = rest.split("\n\n", 1)[1]
    head = head.replace("transport: lab", "transport: ssh\nssh: {config: ssh_config}")
    (folder / "cluster.yaml").write_text(f"{head}nodes:\n{nodes}\n\n{rest}")


def begin(folder: Path, out: str, *options: str) -> subprocess.Popen[str]:
    words = (sys.executable, "-m", "pytest", "suites", f"--fabric-out={out}", *options)
    return subprocess.Popen(
        words,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTEST_ADDOPTS": "-p no:cacheprovider"},
    )


def spans(folder: Path, out: str) -> list[tuple[str, float, float]]:
    """Return each port with the time for which its tool and its window were there."""
    found = read_measurements(folder / out / "latest" / "measurements.jsonl")
    return [(end, m.started, m.started + m.duration) for m in found for end in m.target.split("..")]


def test_two_runs_share_the_ports_and_both_finish(shared: Path) -> None:
    """A lease that is held is waited for: every check of both passes, nothing is disturbed."""
    options = ("-m", "pair", "-k", "p99 or bandwidth or pause")
    runs = [begin(shared, out, *options) for out in ("one", "two")]
    told = [run.communicate(timeout=240)[0] for run in runs]

    assert [run.returncode for run in runs] == [0, 0], told
    for out in ("one", "two"):
        found = read_verdicts(shared / out / "latest" / "verdicts.jsonl")
        assert len(found) == 2 * NODES * 17
        assert {verdict.outcome for verdict in found} == {"passed"}
    waited = [
        attempt.outcome
        for out in ("one", "two")
        for m in read_measurements(shared / out / "latest" / "measurements.jsonl")
        for attempt in m.attempts
        if "in use" in attempt.outcome
    ]
    assert waited
    assert all("held by" in told and "run=" in told and "user=" in told for told in waited)


def test_a_lease_that_is_never_given_back_is_told_with_its_holder(shared: Path) -> None:
    """After --fabric-lease-wait it is an error that says who, from where, which run, since when.

    Only the pairs of that port suffer, and nothing failed: exit status 10.
    """
    reached = endpoints.of(config.load(shared / "cluster.yaml"), None)
    with closing(Pool(reached, "run=night user=ann host=ctl1", lambda node, *words: None)) as pool:
        lease = "/sys/class/infiniband/mlx5_0/ports/1/state"
        pool.session("gpu001").start(Job(("sleep", "60000"), 60000, lease=lease))
        done = begin(
            shared,
            "two",
            "-k",
            "test_small_write_p99 and not p999",
            "--fabric-lease-wait=1s",
            "--fabric-allow-busy",
        )
        text = done.communicate(timeout=120)[0]

    assert done.returncode == 10, text
    found = read_verdicts(shared / "two" / "latest" / "verdicts.jsonl")
    errors = [verdict for verdict in found if verdict.outcome == "error"]
    assert {"gpu001:rail0" in verdict.target for verdict in errors} == {True}
    assert len(errors) == 2
    assert {v.outcome for v in found if "gpu001:rail0" not in v.target} == {"passed"}
    for verdict in errors:
        for part in ("gpu001:rail0 is in use", "run=night", "user=ann", "host=ctl1", "since"):
            assert part in (verdict.message or "")
        assert "; waited 1 s" in (verdict.message or "") or "; waited 2 s" in (
            verdict.message or ""
        )
