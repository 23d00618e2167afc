"""The dead man's switch: a controller that is killed leaves nothing on the nodes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pytest_fabric.transport.runner import NAME
from tests.transport.conftest import SHELLS, Servers, need
from tests.transport.processes import OWN, command_of, running, wait_until

#: Starts three jobs on a node, one with a lease and one that ignores TERM, and waits for ever.
CONTROLLER = """
import sys
from pathlib import Path
from pytest_fabric.transport import Endpoint, Job, Pool
from pytest_fabric.transport.local import open_session

kind, where, lease, mark = sys.argv[1:]
if kind == "ssh":
    endpoint = Endpoint("gpu001", host="gpu001", config=Path(where))
    session = Pool([endpoint], f"run={mark}", lambda node, *commands: None).session("gpu001")
else:
    endpoint = Endpoint("gpu001", "local")
    session = open_session(endpoint, f"run={mark}", lambda node, *commands: None, where.split())
session.start(Job(("sleep", f"{mark}1"), 600, lease=lease))
session.start(Job(("sh", "-c", f"trap '' TERM; sleep {mark}2; sleep {mark}3"), 600))
session.start(Job(("sh", "-c", f"sleep {mark}4 & sleep {mark}5"), 600)).wait()
"""


@contextmanager
def controller(*words: str) -> Iterator[None]:
    """Run a controller in a process of its own, which gets SIGKILL at the end."""
    with subprocess.Popen([sys.executable, "-c", CONTROLLER, *words]) as process:
        try:
            yield
        finally:
            process.kill()


def runner_files(mark: str) -> list[str]:
    """Return patterns of the files that the runners of a controller may make."""
    tokens = {Path(f"/proc/{pid}/cmdline").read_text().split("\0")[-4] for pid in runners(mark)}
    return [f".pytest-fabric-{token}*" for token in tokens]


def runners(mark: str) -> list[int]:
    """Return the node runners of a controller, and their shells for jobs."""
    return [pid for pid in running(f"run={mark}") if NAME in command_of(pid)]


def assert_gone(mark: str, lease: str, patterns: list[str]) -> None:
    """Assert that no process, lease or file of a controller is left within 10 s."""
    wait_until(lambda: not running(f"sleep {mark}", f"run={mark}"), 10)

    subprocess.run(["flock", "-n", lease, "true"], check=True)
    assert patterns
    for pattern in patterns:
        assert [*Path("/dev/shm").glob(pattern), *Path("/tmp").glob(pattern)] == []


def test_a_killed_controller_leaves_nothing_here(tmp_path: Path) -> None:
    """SIGKILL cannot be caught: the runner must notice by itself, in each shell."""
    need("flock", *(words[0] for words in SHELLS.values()))
    leases = {f"74{number}{OWN}": tmp_path / shell for number, shell in enumerate(SHELLS)}
    with ExitStack() as stack:
        for mark, lease in leases.items():
            lease.touch()
            words = " ".join(SHELLS[lease.name])
            stack.enter_context(controller("local", words, str(lease), mark))
        for mark in leases:
            wait_until(lambda: running(f"sleep {mark}2") and running(f"sleep {mark}5"), 20)  # noqa: B023
        files = {mark: runner_files(mark) for mark in leases}

    for mark, lease in leases.items():
        assert_gone(mark, str(lease), files[mark])


def test_a_killed_controller_leaves_nothing_on_a_node(servers: Servers, tmp_path: Path) -> None:
    """The same through sshd: no job, no lease, and no runner."""
    server, mark, lease = servers(), f"744{OWN}", tmp_path / "state"
    need("flock")
    lease.touch()
    with controller("ssh", str(server.config()), str(lease), mark):
        wait_until(lambda: running(f"sleep {mark}2") and running(f"sleep {mark}5"), 20)
        files = runner_files(mark)

    assert_gone(mark, str(lease), files)
    wait_until(lambda: not server.connections())


def test_a_runner_that_is_told_to_end_ends_its_jobs(tmp_path: Path) -> None:
    """An operator's `kill`, or the hang-up of a terminal, is the end of the controller, too."""
    mark, lease = f"745{OWN}", tmp_path / "state"
    lease.touch()
    with controller("local", "sh", str(lease), mark):
        wait_until(lambda: running(f"sleep {mark}2") and running(f"sleep {mark}5"), 20)
        files = runner_files(mark)
        runner = min(runners(mark))
        subprocess.run(["kill", str(runner)], check=True)
        wait_until(lambda: not running(f"sleep {mark}1"), 10)

    assert_gone(mark, str(lease), files)
