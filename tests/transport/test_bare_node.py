"""Nodes that lack what others have: the runner says so, or does without."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pytest_fabric.transport import Collect, Job
from pytest_fabric.transport.client import NodeSession
from pytest_fabric.transport.endpoint import Endpoint
from pytest_fabric.transport.local import open_session
from pytest_fabric.transport.runner import NAME
from tests.transport.conftest import HOLDER, SHELLS, ignore, need
from tests.transport.processes import OWN, command_of, descendants, running, wait_until

#: What the runner itself calls.
NEEDED = ("mkfifo", "rm", "cat", "grep", "wc", "head", "sleep", "tr", "ls", "stat", "tail", "sh")

Opener = Callable[..., NodeSession]


@pytest.fixture
def bare(
    shell: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Opener]:
    """Open sessions that find only the programs that the runner needs, and the given ones."""
    folder = tmp_path / "bin"
    folder.mkdir()
    binary = shutil.which(shell[0])
    assert binary is not None
    with ExitStack() as stack:

        def open_with(*programs: str) -> NodeSession:
            for name in (*NEEDED, *programs):
                source = shutil.which(name)
                assert source is not None
                (folder / name).symlink_to(source)
            monkeypatch.setenv("PATH", str(folder))
            opened = open_session(Endpoint("gpu001", "local"), HOLDER, ignore, (binary, *shell[1:]))
            stack.callback(opened.close)
            return opened

        yield open_with


def test_a_missing_flock_is_named_with_its_package(bare: Opener, tmp_path: Path) -> None:
    """No lease, no measurement."""
    outcome = bare().run(Job(("echo", "ran"), 5, lease="/proc/version"))

    assert (outcome.end, outcome.status, outcome.stdout) == ("exit", 127, "")
    assert "flock" in outcome.stderr
    assert "util-linux" in outcome.stderr


def bounded_without_timeout(session: NodeSession) -> None:
    """Assert that deadlines, cancels and statuses are right."""
    late = session.start(Job(("sleep", f"7301{OWN}"), 1))
    job = session.start(Job(("sh", "-c", f"trap '' TERM; sleep 7302{OWN}"), 60))
    wait_until(lambda: running(f"sleep 7302{OWN}"))
    job.cancel()
    got = session.collect(Collect({"a": ("echo", "x"), "b": ("sleep", f"7303{OWN}")}, 1))

    assert (got["a"].stdout, got["b"].end) == ("x\n", "deadline")
    assert late.wait().end == "deadline"
    assert session.run(Job(("sh", "-c", "echo x; exit 3"), 5)).status == 3
    assert job.wait().end == "cancelled"


def test_without_timeout_the_runner_bounds_its_jobs_itself(bare: Opener) -> None:
    """setsid gives each of them a group that can be ended."""
    bounded_without_timeout(bare("setsid"))

    assert not running(f"sleep 7301{OWN}", f"sleep 7302{OWN}", f"sleep 7303{OWN}")


@pytest.mark.parametrize("shell", [SHELLS["dash"]], ids=["dash"], scope="module")
def test_without_setsid_too_at_least_the_tool_itself_is_ended(bare: Opener) -> None:
    """What it has forked has no group to be ended with."""
    bounded_without_timeout(bare())

    assert not running(f"sleep 7301{OWN}")
    for pid in running(f"sleep 7302{OWN}", f"sleep 7303{OWN}"):
        os.kill(pid, 9)


def test_a_node_with_busybox_alone_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its timeout(1) ends no group and would keep the lease; it must not be used."""
    need("busybox")
    folder = tmp_path / "bin"
    folder.mkdir()
    subprocess.run(["busybox", "--install", "-s", str(folder)], check=True)
    monkeypatch.setenv("PATH", str(folder))
    session = open_session(Endpoint("gpu001", "local"), HOLDER, ignore, (str(folder / "sh"),))
    try:
        late = session.start(Job(("sh", "-c", f"sleep 7304{OWN} & sleep 7305{OWN}"), 1))
        got = session.collect(Collect({"a": ("have", "grep"), "b": ("uname", "-s")}, 5))
        assert late.wait().end == "deadline"
    finally:
        session.close()

    assert got["a"].stdout.strip().endswith("grep")
    assert got["b"].stdout == "Linux\n"
    assert not running(f"sleep 7304{OWN}", f"sleep 7305{OWN}")


def test_a_node_without_room_for_files_says_so(bare: Opener, tmp_path: Path) -> None:
    """A job whose files cannot be made ends with the reason, and the next one may work."""
    session = bare()
    runner_pid = next(pid for pid in descendants(os.getpid()) if NAME in command_of(pid))
    token = Path(f"/proc/{runner_pid}/cmdline").read_text().split("\0")[-4]
    taken = [Path(top) / f".pytest-fabric-{token}.1.o" for top in ("/dev/shm", "/tmp")]
    for path in taken:
        path.touch()
    try:
        outcome = session.run(Job(("sh", "-c", "exit 0"), 5))
    finally:
        for path in taken:
            path.unlink()

    assert (outcome.end, outcome.status) == ("exit", 126)
    assert outcome.stderr.startswith("pytest-fabric: no file can be made in /")
    assert session.run(Job(("sh", "-c", "exit 0"), 5)).status == 0
