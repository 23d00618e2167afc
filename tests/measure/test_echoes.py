"""What ping told, held against what was asked; the rest is evidence."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_fabric.errors import MeasurementError, NotRecognisedError, ToolError
from pytest_fabric.measure import echoes
from pytest_fabric.measure.echoes import Asked
from pytest_fabric.results import Reach
from pytest_fabric.transport import Outcome

ASKED = Asked("a:r0..b:r0", "client at a:r0", "10.1.0.2", 56, 4)
HEADER = "PING 10.1.0.2 (10.1.0.2) from 10.1.0.1 ens1: 56(84) bytes of data.\n"


def text(times: dict[int, float], sent: int = 4, extra: str = "") -> str:
    replies = "".join(
        f"64 bytes from 10.1.0.2: icmp_seq={seq} ttl=64 time={ms} ms\n" for seq, ms in times.items()
    )
    loss = f"{100 * (sent - len(times)) / sent:g}"
    rtt = "rtt min/avg/max/mdev = 1.0/1.0/1.0/0.0 ms\n" if times else "\n"
    return (
        f"{HEADER}{replies}\n--- 10.1.0.2 ping statistics ---\n"
        f"{sent} packets transmitted, {len(times)} received{extra}, {loss}% packet loss, "
        f"time 6ms\n{rtt}"
    )


ALL = text({1: 0.9, 2: 0.03, 3: 0.04, 4: 0.08})


def ended(stdout: str = "", stderr: str = "", status: int | None = 0, end: str = "exit") -> Outcome:
    return Outcome(end, status, stdout, stderr, False, 1.0)


def test_times_leave_out_the_first_packet() -> None:
    """It waits for the look-up of the neighbour."""
    found = echoes.reach("a:r0", 84, echoes.read(ASKED, ended(ALL)))

    assert (found.sent, found.received, found.loss, found.mtu) == (4, 4, 0.0, None)
    assert found.rtt_min_s == pytest.approx(3e-5)
    assert found.rtt_median_s == pytest.approx(4e-5)
    assert found.rtt_max_s == pytest.approx(8e-5)


def test_what_is_lost_is_a_share() -> None:
    found = echoes.reach("a:r0", 84, echoes.read(ASKED, ended(text({1: 0.9, 3: 0.04}))))
    none = echoes.reach("a:r0", 84, echoes.read(ASKED, ended(text({}), status=1)))

    assert found.loss == 0.5
    assert found.rtt_median_s == pytest.approx(4e-5)
    assert (none.loss, none.rtt_min_s, none.rtt_median_s, none.rtt_max_s) == (1.0, *[None] * 3)


def test_packets_above_the_own_mtu_are_errors_with_that_mtu() -> None:
    told = ended(text({}, extra=", +4 errors"), "ping: local error: message too long, mtu=1500\n")
    found = echoes.reach("a:r0", 84, echoes.read(ASKED, replace(told, status=1)))

    assert (found.errors, found.mtu, found.loss) == (4, 1500, 1.0)


def test_other_words_beside_the_statistics_do_not_hinder() -> None:
    """A shell may complain on the same stream."""
    assert echoes.read(ASKED, ended(ALL, "bash: warning: setlocale: LC_ALL\n")).received == 4


@pytest.mark.parametrize(
    ("outcome", "kind", "message"),
    [
        (ended(end="deadline", status=None), "hang", "did not end within 1 s"),
        (ended(end="cancelled", status=None), "cancelled", "was ended"),
        (replace(ended(ALL), truncated=True), "output", "without end"),
        (ended(ALL, status=139), "tool_failed", "status 139"),
    ],
)
def test_a_ping_that_went_wrong_is_an_error(outcome: Outcome, kind: str, message: str) -> None:
    with pytest.raises(MeasurementError, match=message) as caught:
        echoes.read(ASKED, outcome)
    assert caught.value.kind == kind
    assert str(caught.value).startswith("a:r0..b:r0: ping: client at a:r0: ")


@pytest.mark.parametrize(
    ("stderr", "kind"),
    [
        (
            "ping: cannot flood; minimal interval, allowed for user, is 200ms\n",
            "interval_too_short",
        ),
        ("ping: socket: Operation not permitted\n", "permission"),
        ("ping: connect: Network is unreachable\n", "unreachable"),
        ("ping: unknown iface: ens1\n", "no_such_device"),
    ],
)
def test_what_ping_refuses_is_told_with_its_end(stderr: str, kind: str) -> None:
    with pytest.raises(ToolError, match="ping: client at a:r0") as caught:
        echoes.read(ASKED, ended(stderr=stderr, status=2))
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    "outcome",
    [
        ended(),
        ended("garbage\n"),
        ended(ALL.replace("10.1.0.2", "10.1.0.3")),
        ended(ALL.replace("56(84)", "1000(1028)")),
        ended(text({1: 0.9, 2: 0.03}, sent=2)),
        ended(ALL.replace("4 received", "9 received")),
        ended(ALL[: len(ALL) // 2]),
        ended("\x1b[31m<script>\x00\n", "\ufffe\n"),
    ],
)
def test_anything_else_is_no_value(outcome: Outcome) -> None:
    """Another address or size, fewer packets, a text that is cut off: nothing passes on it."""
    with pytest.raises(NotRecognisedError, match="client at a:r0"):
        echoes.read(ASKED, outcome)


def one(packet_bytes: int, received: int = 9) -> Reach:
    return Reach("a:r0", packet_bytes, 9, received, 0, 0, None, None, None, None)


@pytest.mark.parametrize(
    ("ways", "mtu"),
    [
        ([one(9000), one(9000)], 4096),
        ([one(4200), one(4192)], 4096),
        ([one(9000), one(4191)], 2048),
        ([one(1500), one(9000)], 1024),
        ([one(1500), one(9000, received=0)], None),
        ([one(9000, received=1), one(9000)], 4096),
        ([], None),
    ],
)
def test_the_smaller_way_says_which_rdma_mtu_fits(ways: list[Reach], mtu: int | None) -> None:
    """A full RoCE packet has 96 bytes more than its payload, as the kernel counts it."""
    assert echoes.rdma_mtu(ways) == mtu


def test_evidence_is_short() -> None:
    """Thousands of answers say nothing new; errors and statistics stay."""
    many = text(dict.fromkeys(range(1, 3001), 0.03), sent=3000)
    kept = echoes.abridged(ended(many, "ping: local error: message too long\n" * 3000))

    assert kept.stdout.count("icmp_seq") == 10
    assert "3000 packets transmitted" in kept.stdout
    assert kept.stdout.endswith("[2,990 more lines are left out here]\n")
    assert kept.stderr.count("\n") < 120
    assert echoes.abridged(ended(ALL)).stdout == ALL
