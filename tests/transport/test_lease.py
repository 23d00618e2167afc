"""A lease is held by the tool for as long as it lives, and by nobody a moment longer."""

from __future__ import annotations

import getpass
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fabric.transport import Collect, Job
from pytest_fabric.transport.client import NodeSession
from pytest_fabric.transport.endpoint import Endpoint
from pytest_fabric.transport.local import open_session
from tests.transport.conftest import ignore, need
from tests.transport.processes import OWN, running, wait_until


@pytest.fixture
def state(tmp_path: Path) -> str:
    """A file that stands for a port's own file in sysfs."""
    path = tmp_path / "state"
    path.write_text("4: ACTIVE\n")
    return str(path)


@pytest.fixture
def rival(shell: tuple[str, ...]) -> Iterator[NodeSession]:
    """A second controller at the same node."""
    opened = open_session(Endpoint("gpu001", "local"), "run=2 user=bob host=ctl2", ignore, shell)
    yield opened
    opened.close()


def held(state: str) -> bool:
    """Return whether anybody holds the lease."""
    return subprocess.run(["flock", "-n", state, "true"]).returncode != 0


def test_two_controllers_exclude_each_other(
    session: NodeSession, rival: NodeSession, state: str
) -> None:
    """The second one is told who is first, and the first one is not disturbed."""
    job = session.start(Job(("sleep", f"7201{OWN}"), 60, lease=state))
    wait_until(lambda: running(f"sleep 7201{OWN}"))
    refused = rival.run(Job(("sleep", f"7202{OWN}"), 60, lease=state))

    assert (refused.end, refused.status, refused.stdout) == ("lease", None, "")
    assert refused.stderr.count("\n") == 1
    for part in (state, getpass.getuser(), f"sleep 7201{OWN}", "user=ann host=ctl1"):
        assert part in refused.stderr
    assert not running(f"sleep 7202{OWN}")
    job.cancel()
    assert job.wait().end == "cancelled"


def test_sections_hold_their_lease_from_the_first_to_the_last(
    session: NodeSession, rival: NodeSession, state: str
) -> None:
    """Counters before and after a tool belong to its run: nobody comes in between."""
    need("flock")
    look = ("flock", "-n", state, "true")
    got = session.collect(
        Collect({"before": look, "tool": ("true",), "after": look}, 10, lease=state)
    )
    assert [got[name].status for name in ("before", "tool", "after")] == [1, 0, 1]
    assert not held(state)

    running_job = session.begin(Collect({"tool": ("sleep", f"7221{OWN}")}, 60, lease=state))
    wait_until(lambda: running(f"sleep 7221{OWN}"))
    refused = rival.collect(Collect({"before": ("true",), "tool": ("true",)}, 10, lease=state))
    assert {outcome.end for outcome in refused.values()} == {"lease"}
    assert all("user=ann host=ctl1" in outcome.stderr for outcome in refused.values())
    running_job.cancel()
    assert running_job.wait()["tool"].end == "cancelled"
    wait_until(lambda: not held(state), 2)


def test_sections_are_ready_when_one_of_them_listens(session: NodeSession) -> None:
    """A server between two readings is waited for as any other."""
    port = free_port()
    server = f"import socket as s; l = s.create_server(('127.0.0.1', {port})); l.accept()"
    python = shutil.which("python3") or "python3"
    job = session.begin(
        Collect(
            {"before": ("echo", "1"), "tool": (python, "-c", server), "after": ("echo", "2")},
            30,
            listen=port,
        )
    )
    assert job.ready(20)
    with socket.create_connection(("127.0.0.1", port)):
        pass
    got = job.wait()
    assert [got[name].stdout for name in ("before", "after")] == ["1\n", "2\n"]
    assert got["tool"].status == 0


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def test_a_person_with_flock_excludes_us(session: NodeSession, state: str) -> None:
    """Whoever measures by hand under `flock` is safe from us, and named."""
    need("flock")
    with subprocess.Popen(["flock", state, "sleep", f"7203{OWN}"]) as person:
        wait_until(lambda: running(f"sleep 7203{OWN}"))
        outcome = session.run(Job(("true",), 5, lease=state))
        for pid in running(f"sleep 7203{OWN}"):
            subprocess.run(["kill", str(pid)], check=False)
        person.wait()

    assert outcome.end == "lease"
    assert f"sleep 7203{OWN}" in outcome.stderr


def test_the_lease_is_free_when_the_end_is_reported(session: NodeSession, state: str) -> None:
    """The next measurement on the port starts at once, time after time."""
    for _ in range(20):
        assert session.run(Job(("true",), 5, lease=state)).end == "exit"


def test_a_cancelled_job_gives_its_lease_back(session: NodeSession, state: str) -> None:
    """Even one that had to be killed, and had children."""
    job = session.start(Job(("sh", "-c", f"sleep 7204{OWN} & sleep 7205{OWN}"), 60, lease=state))
    wait_until(lambda: running(f"sleep 7205{OWN}"))
    assert held(state)
    job.cancel()
    job.wait()

    assert not held(state)


def test_a_child_that_stays_behind_does_not_keep_the_lease(
    session: NodeSession, state: str
) -> None:
    """What a tool forks is ended with it."""
    job = Job(("sh", "-c", f"sleep 7206{OWN} & exit 0"), 60, lease=state)

    assert session.run(job).status == 0
    assert not held(state)


def test_the_tool_holds_the_lease_not_the_runner(session: NodeSession, state: str) -> None:
    """Killed behind our back, the tool gives it back."""
    job = session.start(Job(("sleep", f"7207{OWN}"), 60, lease=state))
    wait_until(lambda: running(f"sleep 7207{OWN}"))
    assert held(state)
    for pid in running(f"sleep 7207{OWN}"):
        subprocess.run(["kill", "-KILL", str(pid)], check=False)

    assert job.wait().end == "exit"
    assert not held(state)


def test_a_lease_without_a_file_is_refused(session: NodeSession, tmp_path: Path) -> None:
    """A port that has vanished is no reason to measure without a lease."""
    outcome = session.run(Job(("touch", str(tmp_path / "ran")), 5, lease=str(tmp_path / "none")))

    assert (outcome.end, outcome.status) == ("exit", 126)
    assert f"cannot open {tmp_path}/none" in outcome.stderr
    assert not (tmp_path / "ran").exists()


def test_a_readable_file_is_enough(session: NodeSession, state: str) -> None:
    """Files of sysfs are read-only for ordinary users."""
    need("flock")
    Path(state).chmod(0o444)

    assert session.run(Job(("true",), 5, lease=state)).status == 0
    assert shutil.which("flock")
