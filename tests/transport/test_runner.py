"""The node runner, in each shell: jobs run side by side, end as they should, and leave nothing."""

from __future__ import annotations

import os
import signal
import socket
import time
from pathlib import Path

import pytest

from pytest_fabric.transport import Collect, Glob, Job
from pytest_fabric.transport.client import NodeSession
from pytest_fabric.transport.endpoint import Endpoint
from pytest_fabric.transport.local import open_session
from pytest_fabric.transport.runner import NAME
from tests.transport.conftest import HOLDER, SHELLS, ignore
from tests.transport.processes import (
    OWN,
    command_of,
    descendants,
    parents,
    running,
    switches,
    wait_until,
)
from tests.transport.sshd import free_port

#: A server that serves one connection, as perftest does, and ends.
LISTENER = (
    "import socket, sys, time; time.sleep(0.1); listener = socket.socket(); "
    "listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); "
    "listener.bind(('127.0.0.1', int(sys.argv[1]))); listener.listen(); "
    "listener.accept()[0].sendall(b'first')"
)


def sh(script: str, deadline_s: float = 20, **fields: object) -> Job:
    """Return a job that runs a script."""
    return Job(("sh", "-c", script), deadline_s, **fields)  # type: ignore[arg-type]


def leftovers(session: NodeSession) -> list[Path]:
    """Return the runner's files that still have a name."""
    pattern = f".pytest-fabric-{session.token}*"
    return [path for top in ("/dev/shm", "/tmp", "/var/tmp") for path in Path(top).glob(pattern)]


def test_streams_and_status_come_back_apart(session: NodeSession) -> None:
    """Nothing is mixed, trimmed or translated."""
    outcome = session.run(sh("printf 'out\\n\\n'; printf 'err' >&2; exit 3"))

    assert (outcome.end, outcome.status) == ("exit", 3)
    assert (outcome.stdout, outcome.stderr) == ("out\n\n", "err")
    assert not outcome.truncated


@pytest.mark.parametrize("words", [("echo", "a  b"), ("printf", "%s", "$HOME;`id`'\"\\n*")])
def test_words_arrive_as_they_are(session: NodeSession, words: tuple[str, ...]) -> None:
    """No word is split, and nothing in it is expanded."""
    said = session.run(Job(words, 5)).stdout

    assert said == ("a  b\n" if words[0] == "echo" else words[2])


def test_only_globs_are_expanded(session: NodeSession, tmp_path: Path) -> None:
    """A pattern that matches nothing stays, as in any shell."""
    (tmp_path / "a1").touch()
    (tmp_path / "a2").touch()
    words = (Glob(f"{tmp_path}/a*"), Glob(f"{tmp_path}/b*"), f"{tmp_path}/a*")
    said = session.run(Job(("echo", *words), 5)).stdout

    assert said.split() == [f"{tmp_path}/{name}" for name in ("a1", "a2", "b*", "a*")]


def test_a_signal_shows_in_the_status(session: NodeSession) -> None:
    """A crashing tool is not taken for one that ended."""
    assert session.run(sh("kill -SEGV $$")).status == 128 + signal.SIGSEGV


def test_an_unknown_program_is_127(session: NodeSession) -> None:
    """The caller can tell a missing tool from a failing one."""
    outcome = session.run(Job(("ib_nonsense_lat", "-F"), 5))

    assert (outcome.end, outcome.status) == ("exit", 127)
    assert "ib_nonsense_lat" in outcome.stderr


def test_the_environment_is_the_same_everywhere(session: NodeSession) -> None:
    """No decimal comma, no missing /usr/sbin, no input to wait for, no readable files."""
    said = session.run(sh('echo "$LC_ALL $LANG"; umask; pwd; echo "$PATH"; cat')).stdout.split("\n")

    assert said[:3] == ["C C", "0077", "/"]
    assert said[3].endswith(":/usr/local/sbin:/usr/sbin:/sbin")
    assert said[4:] == [""]


def test_large_outputs_on_both_streams_come_back_whole(session: NodeSession) -> None:
    """10 MiB at once on each stream, beside a small job, neither hang nor lose a byte."""
    script = "yes a | head -c 10485760 & yes b | head -c 10485760 >&2; wait"
    big, small = session.start(sh(script)), session.start(Job(("echo", "x"), 5))
    outcome = big.wait()

    assert small.wait().stdout == "x\n"
    assert (len(outcome.stdout), len(outcome.stderr)) == (10485760, 10485760)
    assert set(outcome.stdout) == {"a", "\n"}
    assert set(outcome.stderr) == {"b", "\n"}
    assert not outcome.truncated


def test_more_than_the_cap_is_cut_and_flagged(session: NodeSession) -> None:
    """A chatty tool neither fails nor fills our memory."""
    outcome = session.run(sh("yes | head -n 1000; echo done >&2", cap_bytes=100))

    assert (outcome.end, outcome.status, outcome.truncated) == ("exit", 0, True)
    assert outcome.stdout == "y\n" * 50
    assert outcome.stderr == "done\n"


def test_a_job_that_writes_for_ever_does_not_fill_the_node(session: NodeSession) -> None:
    """Far above the cap it is ended, long before its deadline."""
    outcome = session.run(Job(("yes",), 20, cap_bytes=1000))

    assert outcome.truncated
    assert outcome.status == 128 + signal.SIGXFSZ


def test_undecodable_bytes_do_not_hurt(session: NodeSession) -> None:
    """A vendor string in Latin-1, a NUL and half a character are shown, not raised."""
    assert session.run(sh("printf 'caf\\351 \\000 \\303'")).stdout == "caf\ufffd \0 \ufffd"


def test_many_jobs_at_once_all_come_back(session: NodeSession, shell: tuple[str, ...]) -> None:
    """200 jobs over one channel, each with its own output; fewer where the shell is slow."""
    count = 200 if shell == ("dash",) else 40
    jobs = [session.start(sh(f"sleep 0.2; echo {n}")) for n in range(count)]

    assert [job.wait().stdout for job in jobs] == [f"{n}\n" for n in range(count)]


def test_a_deadline_ends_a_job_and_keeps_what_it_said(session: NodeSession) -> None:
    """A hanging tool is ended, printing or not, and its last words are the evidence."""
    mute = session.start(Job(("sleep", f"7101{OWN}"), 1))
    telling = session.start(sh(f"echo started; echo oops >&2; exec sleep 7102{OWN}", 1))
    outcome, told = mute.wait(), telling.wait()

    assert (outcome.end, told.end) == ("deadline", "deadline")
    assert 0.9 < outcome.duration_s < 5
    assert (told.stdout, told.stderr) == ("started\n", "oops\n")
    assert not running(f"sleep 7101{OWN}", f"sleep 7102{OWN}")


@pytest.mark.parametrize("shell", [SHELLS["dash"]], ids=["dash"], scope="module")
def test_a_job_that_ignores_term_does_not_outlive_its_deadline_for_long(
    session: NodeSession,
) -> None:
    """Five seconds after TERM comes KILL, and the end is still called a deadline."""
    outcome = session.run(sh(f"trap '' TERM; sleep 7119{OWN}; sleep 7120{OWN}", 1))

    assert (outcome.end, 5.5 < outcome.duration_s < 9) == ("deadline", True)
    assert not running(f"sleep 7119{OWN}", f"sleep 7120{OWN}")


def test_a_job_that_ends_with_timeouts_own_status_has_ended_by_itself(session: NodeSession) -> None:
    """124 alone is no deadline."""
    outcome = session.run(sh("exit 124"))

    assert (outcome.end, outcome.status) == ("exit", 124)


def test_a_cancelled_job_ends_at_once(session: NodeSession) -> None:
    """The other end of a failed pair must not spin on, not even one that is only about to start."""
    jobs = []
    for _ in range(30):
        jobs.append(session.start(Job(("sleep", f"7103{OWN}"), 60)))
        jobs[-1].cancel()
    outcomes = [job.wait() for job in jobs]

    assert {outcome.end for outcome in outcomes} == {"cancelled"}
    assert outcomes[0].duration_s < 2
    assert not running(f"sleep 7103{OWN}")


def test_descriptors_of_the_log_in_shell_are_not_taken_for_the_runners(
    shell: tuple[str, ...],
) -> None:
    """A wrapper or an rc file may leave some open; a cancel must not be sent too early for that."""
    opens = ("sh", "-c", 'exec 4</dev/null 5</dev/null 9</dev/null; exec "$@"', "sh")
    made = open_session(Endpoint("gpu001", "local"), HOLDER, ignore, (*opens, *shell))
    try:
        jobs = []
        for _ in range(5):
            jobs.append(made.start(Job(("sleep", f"7107{OWN}"), 60)))
            jobs[-1].cancel()
        outcomes = [job.wait() for job in jobs]
    finally:
        made.close()

    assert {outcome.end for outcome in outcomes} == {"cancelled"}


def test_an_end_that_meets_a_cancel_is_reported(session: NodeSession) -> None:
    """Whichever comes first: a frame that is lost would cost the node."""
    for _ in range(4):
        jobs = [session.start(Job(("true",), 30)) for _ in range(10)]
        for job in jobs:
            job.cancel()
        outcomes = [job.wait() for job in jobs]

        assert {outcome.end for outcome in outcomes} <= {"exit", "cancelled"}


def test_jobs_that_were_only_just_asked_for_end_with_the_session(shell: tuple[str, ...]) -> None:
    """At once, and with all that they have started."""
    for _ in range(3):
        made = open_session(Endpoint("gpu001", "local"), HOLDER, ignore, shell)
        for _ in range(3):
            made.start(Job(("sleep", f"7108{OWN}"), 60))
        begun = time.monotonic()
        made.close()

        assert time.monotonic() - begun < 5
        assert not running(f"sleep 7108{OWN}")


def test_cancelling_what_has_ended_does_nothing(session: NodeSession) -> None:
    """A cancel may always come too late."""
    job = session.start(Job(("true",), 5))
    job.wait()
    job.cancel()

    assert job.wait().end == "exit"
    assert session.run(Job(("true",), 5)).status == 0


def test_a_job_that_ignores_term_is_killed_with_its_children(session: NodeSession) -> None:
    """Two seconds after TERM comes KILL, for the whole process group."""
    script = f"trap '' TERM; sleep 7104{OWN} & sleep 7105{OWN} & wait; wait; sleep 7106{OWN}"
    job = session.start(sh(script, 60))
    wait_until(lambda: running(f"sleep 7105{OWN}"))
    job.cancel()
    outcome = job.wait()

    assert outcome.end == "cancelled"
    assert 1.8 < outcome.duration_s < 6
    assert not running(f"sleep 7104{OWN}", f"sleep 7105{OWN}", f"sleep 7106{OWN}")


def test_what_a_job_leaves_behind_is_ended_with_it(session: NodeSession) -> None:
    """A wrapper that forks and exits does not leave a load on the port."""
    outcome = session.run(sh(f"sleep 7107{OWN} & echo $!"))

    assert (outcome.end, outcome.status) == ("exit", 0)
    wait_until(lambda: not running(f"sleep 7107{OWN}"), 1)


def test_a_collecting_job_tells_its_sections_apart(session: NodeSession, tmp_path: Path) -> None:
    """Facts of a node come in one job; a missing tool costs only its own section."""
    (tmp_path / "state").write_text("4: ACTIVE\n")
    got = session.collect(
        Collect(
            {
                "rdma": ("grep", "-sH", ".", Glob(f"{tmp_path}/stat*")),
                "mtu": ("ibv_nonsense",),
                "tools": ("have", "sh", "ibv_nonsense", "grep"),
                "uverbs": ("usable", str(tmp_path / "state"), "/nonsense"),
                "noise": ("sh", "-c", "echo oops >&2; printf x; exit 3"),
            },
            10,
        )
    )

    assert got["rdma"].stdout == f"{tmp_path}/state:4: ACTIVE\n"
    assert (got["mtu"].status, got["mtu"].stdout) == (127, "")
    assert "ibv_nonsense" in got["mtu"].stderr
    assert [Path(line).name for line in got["tools"].stdout.split()] == ["sh", "grep"]
    assert got["uverbs"].stdout == f"rw {tmp_path}/state\n-- /nonsense\n"
    assert (got["noise"].stdout, got["noise"].stderr, got["noise"].status) == ("x", "oops\n", 3)
    assert {outcome.end for outcome in got.values()} == {"exit"}


def test_a_hanging_section_costs_itself_and_those_behind_it(session: NodeSession) -> None:
    """What was read before stays good."""
    got = session.collect(
        Collect({"a": ("echo", "x"), "b": ("sleep", f"7108{OWN}"), "c": ("echo", "y")}, 1)
    )

    assert [got[name].end for name in "abc"] == ["exit", "deadline", "deadline"]
    assert got["a"].stdout == "x\n"
    assert not running(f"sleep 7108{OWN}")


@pytest.mark.parametrize("words", [("have", "sh", "nonsense"), ("usable", "/nonsense")])
def test_the_runners_own_words_are_jobs_too(session: NodeSession, words: tuple[str, ...]) -> None:
    """`have` and `usable` need no collecting job around them."""
    outcome = session.run(Job(words, 5))

    assert (outcome.end, outcome.status) == ("exit", 0)
    assert outcome.stdout.strip().endswith("sh" if words[0] == "have" else "-- /nonsense")


def test_readiness_is_seen_without_connecting(session: NodeSession) -> None:
    """A perftest server takes one connection only, and a probe would be it."""
    port = free_port()
    job = session.start(Job(("python3", "-c", LISTENER, str(port)), 20, listen=port))

    assert job.ready(20)
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        assert client.recv(5) == b"first"
    assert job.wait().status == 0


def test_a_job_that_ends_before_it_listens_is_not_ready(session: NodeSession) -> None:
    """The client is not started against a server that is gone."""
    job = session.start(sh("echo no >&2; exit 1", listen=free_port()))

    assert job.ready(10) is False
    assert (job.wait().end, job.wait().status, job.wait().stderr) == ("exit", 1, "no\n")


def test_a_job_that_never_listens_is_not_waited_for(session: NodeSession) -> None:
    """The caller's patience ends, the job is still theirs to cancel."""
    job = session.start(Job(("sleep", f"7109{OWN}"), 20, listen=free_port()))
    with pytest.raises(TimeoutError, match=r"0\.3 s"):
        job.ready(0.3)
    job.cancel()

    assert job.wait().end == "cancelled"


def test_a_taken_port_is_found_before_the_start(session: NodeSession, tmp_path: Path) -> None:
    """The client would connect to the wrong listener and hang."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        outcome = session.run(Job(("touch", str(tmp_path / "ran")), 5, listen=port))

    assert (outcome.end, outcome.status) == ("port", None)
    assert not (tmp_path / "ran").exists()


def test_an_ipv6_listener_counts(session: NodeSession) -> None:
    """perftest listens on a dual-stack socket, which only /proc/net/tcp6 shows."""
    with socket.socket(socket.AF_INET6) as listener:
        listener.bind(("::1", 0))
        listener.listen()
        port = listener.getsockname()[1]

        assert session.run(Job(("true",), 5, listen=port)).end == "port"


def test_closing_ends_every_job(shell: tuple[str, ...]) -> None:
    """Nothing outlives the session: no process, no file with a name."""
    session = open_session(Endpoint("gpu001", "local"), HOLDER, ignore, shell)
    jobs = [session.start(Job(("sleep", f"{7110 + n}{OWN}"), 60)) for n in range(5)]
    wait_until(lambda: len(running(*(f"sleep {7110 + n}{OWN}" for n in range(5)))) >= 5)
    session.close()

    assert {job.wait().end for job in jobs} == {"cancelled"}
    assert not running(*(f"sleep {number}{OWN}" for number in range(7110, 7115)))
    assert leftovers(session) == []


def test_the_runner_leaves_no_zombies(session: NodeSession) -> None:
    """Thousands of jobs a minute do not fill the process table of a node."""
    for _ in range(20):
        session.run(Job(("true",), 5))
    runners = [pid for pid in descendants(os.getpid()) if NAME in command_of(pid)]
    zombies = [pid for pid, parent in parents(zombies=True).items() if parent in runners]

    assert len(zombies) <= 2


def test_a_running_job_is_not_polled(session: NodeSession) -> None:
    """The measured node has its cores for itself: between start and end the runner sleeps."""
    job = session.start(Job(("sleep", f"7118{OWN}"), 10))
    wait_until(lambda: running(f"sleep 7118{OWN}"))
    time.sleep(0.2)
    ours = [pid for pid in descendants(os.getpid()) if NAME in command_of(pid)]
    before = [switches(pid) for pid in ours]
    time.sleep(0.3)

    assert [switches(pid) for pid in ours] == before
    assert len(ours) == 2  # the runner and the shell of the job
    job.cancel()
    job.wait()
