"""The node runner's protocol: frames, leases, readiness, deadlines, and the end of everything."""

from __future__ import annotations

import shlex

import pytest

from pytest_fabric.lab.protocol import Greeting, greeting

from .clusters import ROCE, fabric
from .controller import CAP, LEASE, TOKEN, Controller
from .perftest_pairs import wait_until

SERVER = "ib_write_lat -d mlx5_0 -p 18515"


@pytest.fixture
def runner() -> Controller:
    return Controller(fabric(), "gpu001")


def test_a_runner_is_told_from_a_command_by_one_word() -> None:
    holder = "run=1 user=ann host=ctl1"
    words = ["sh", "-c", "echo 'a b'; c", "pytest-fabric-runner", TOKEN, "", holder]

    assert greeting("exec " + shlex.join(words)) == Greeting(TOKEN, "", holder)
    assert greeting("echo pytest-fabric-runner") is None
    assert greeting("echo 'open") is None


def test_a_job_starts_and_ends_with_both_streams_apart(runner: Controller) -> None:
    job = runner.start("cat /etc/hostname /none")

    end = runner.next()
    assert end.words[:4] == ("end", job, "exit", "1")
    assert end.stdout == "gpu001\n"
    assert end.stderr == "cat: /none: No such file or directory\n"


def test_words_keep_what_is_quoted_and_match_what_is_not(runner: Controller) -> None:
    end = runner.run(f"echo {shlex.quote('*; a  b')} /sys/class/infiniband/*")

    assert end.stdout == "*; a  b /sys/class/infiniband/mlx5_0 /sys/class/infiniband/mlx5_1\n"


def test_requests_may_come_in_pieces(runner: Controller) -> None:
    runner.runner.feed(b"run 7 5 100 - - hos")
    runner.runner.feed(b"tname\nrun 8 5 100 - - uname -r\n")

    assert runner.end().stdout == "gpu001\n"
    assert runner.end().words[1] == "8"


def test_output_above_the_cap_is_cut_and_said(runner: Controller) -> None:
    end = runner.run("echo 0123456789", cap=4)
    assert (end.stdout, end.words[-1]) == ("0123", "1")

    end = runner.run("echo 012", cap=4)
    assert (end.stdout, end.words[-1]) == ("012\n", "0")


@pytest.mark.parametrize(
    ("request_line", "message"),
    [
        ("run 5 x 100 - - hostname", "cannot understand"),
        ("run 5 1 100 - -", "cannot understand"),
        ("collect 5 9", "cannot understand"),
        ("run 5 1 1000 - - a | b", "the lab's shell cannot do"),
        ("run 5 1 1000 - - a ; b", "expected one command"),
        ("collect 5 1 1000 - - hostname", "expected: section NAME WORDS"),
        ("run 5 1 1000 - - taskset -c 128 id", "taskset: failed to set pid 0's affinity"),
        ("run 5 1 1000 /none - hostname", "cannot open /none, so no lease can be taken"),
    ],
)
def test_what_cannot_be_done_ends_with_an_error(
    runner: Controller, request_line: str, message: str
) -> None:
    runner.send(request_line)

    end = runner.end()
    assert end.words[1:3] == ("5", "exit")
    assert end.status not in ("0", "-")
    assert message in end.stderr


def test_a_server_is_ready_when_it_listens(runner: Controller) -> None:
    job = runner.start(SERVER, port=18515)

    assert runner.next().words == ("ready", job)
    assert runner.fabric.network.is_listening("gpu001", 18515)


def test_a_port_that_listens_already_is_told_and_nothing_started(runner: Controller) -> None:
    runner.start(SERVER, port=18515)
    runner.next()

    job = runner.start("ib_write_lat -d mlx5_1 -p 18515", port=18515)

    assert runner.next().words == ("end", job, "port", "-", "0", "0", "0")


def test_a_job_that_ends_before_it_listens_is_never_ready(runner: Controller) -> None:
    runner.start("ib_write_lat -d none", port=18515)

    assert runner.next().kind == "end"


def test_a_lease_excludes_everybody_else_until_its_job_ends() -> None:
    world = fabric()
    first = Controller(world, "gpu001", "run=1 user=ann host=ctl1")
    second = Controller(world, "gpu001", "run=2 user=bob host=ctl2")
    first.start(SERVER, lease=LEASE, port=18515)
    first.next()

    refused = second.run("hostname", lease=LEASE)
    assert (refused.why, refused.status) == ("lease", "-")
    assert refused.stderr.startswith(f"{LEASE} is held by lab, pid ")
    assert refused.stderr.endswith(f"{SERVER} for run=1 user=ann host=ctl1\n")

    first.send("cancel 1")
    assert first.end().why == "cancelled"
    assert second.run("hostname", lease=LEASE).why == "exit"


def test_leases_of_other_ports_and_nodes_do_not_exclude() -> None:
    world = fabric()
    holder = Controller(world, "gpu001")
    holder.start(SERVER, lease=LEASE, port=18515)

    other_port = LEASE.replace("mlx5_0", "mlx5_1")
    assert Controller(world, "gpu001").run("hostname", lease=other_port).why == "exit"
    assert Controller(world, "gpu002").run("hostname", lease=LEASE).why == "exit"


def test_a_deadline_ends_a_job(runner: Controller) -> None:
    end = runner.run("sleep 60000", deadline=1)

    assert (end.why, end.status) == ("deadline", "124")


def test_cancelling_ends_a_job_and_an_unknown_one_is_ignored(runner: Controller) -> None:
    job = runner.start("sleep 60000")
    runner.send("cancel 99")
    runner.send(f"cancel {job}")

    end = runner.end()
    assert (end.words[1], end.why, end.status) == (job, "cancelled", "143")


def test_jobs_run_beside_one_another(runner: Controller) -> None:
    runner.start("sleep 60000")
    assert runner.run("hostname").stdout == "gpu001\n"
    runner.start("sleep 0.01")
    assert runner.end().words[1] == "3"


def test_sections_are_bracketed_in_both_streams(runner: Controller) -> None:
    end = runner.collect(one="hostname", two="cat /none", three="sleep 0.01")

    assert (end.why, end.status) == ("exit", "0")
    assert end.stdout == (
        f"\n{TOKEN} section one\ngpu001\n\n{TOKEN} status 0\n"
        f"\n{TOKEN} section two\n\n{TOKEN} status 1\n"
        f"\n{TOKEN} section three\n\n{TOKEN} status 0\n"
    )
    assert end.stderr == (
        f"\n{TOKEN} section one\n\n{TOKEN} section two\n"
        f"cat: /none: No such file or directory\n\n{TOKEN} section three\n"
    )


def test_a_section_that_hangs_leaves_those_before_it(runner: Controller) -> None:
    sections = "section one hostname ; section two sleep 60000 ; section x id"
    runner.send(f"collect 1 1 {CAP} - - {sections}")

    end = runner.end()
    assert end.why == "deadline"
    assert (
        end.stdout == f"\n{TOKEN} section one\ngpu001\n\n{TOKEN} status 0\n\n{TOKEN} section two\n"
    )


def test_many_sections_are_no_problem(runner: Controller) -> None:
    end = runner.collect(**{f"s{number}": "hostname" for number in range(2000)})

    assert end.stdout.count("gpu001\n") == 2000


def test_the_end_of_the_controller_ends_its_jobs_and_frees_what_they_held() -> None:
    world = fabric()
    first = Controller(world, "gpu001")
    first.start(SERVER, lease=LEASE, port=18515)
    first.next()
    first.runner.close()

    assert not world.network.is_listening("gpu001", 18515)
    second = Controller(world, "gpu001")
    second.start(SERVER, lease=LEASE, port=18515)
    assert second.next().kind == "ready"


def test_a_running_pair_ends_when_the_controller_of_one_end_goes() -> None:
    world = fabric()
    server, client = Controller(world, "gpu002"), Controller(world, "gpu001")
    server.start("ib_write_bw -D 100000", port=18515)
    server.next()
    client.start("ib_write_bw -D 100000 10.1.0.2")
    wait_until(lambda: not world.network.is_listening("gpu002", 18515), world)

    server.runner.close()

    assert client.end().status == "1"


def test_foreign_traffic_has_its_rate_in_the_nodes_own_time() -> None:
    """Uptime and counters are of one time, however fast it passes."""
    one = Controller(fabric(ROCE, "foreign_traffic@gpu001:rail0"), "gpu001")
    read = "grep -h . /proc/uptime " + LEASE.replace("state", "counters/port_xmit_data")

    end = one.collect(before=read, pause="sleep 1000", after=read)

    said = [line for line in end.stdout.splitlines() if line and TOKEN not in line]
    (start, first), (stop, second) = (
        (float(said[place].split()[0]), int(said[place + 1])) for place in (0, 2)
    )
    assert stop - start >= 1000
    assert (second - first) * 32 / (stop - start) == pytest.approx(100e9, rel=0.02)
