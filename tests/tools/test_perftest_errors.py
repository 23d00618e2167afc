"""What perftest says when it fails has one kind, a cause and a remedy."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_fabric.errors import ToolError
from pytest_fabric.tools import perftest_errors

DATA = Path(__file__).parents[1] / "data" / "perftest"


def kind_of(*lines: str) -> str:
    with pytest.raises(ToolError) as caught:
        perftest_errors.check(lines)
    return caught.value.kind


def message_of(*lines: str) -> str:
    with pytest.raises(ToolError) as caught:
        perftest_errors.check(lines)
    return str(caught.value)


def test_every_kind_is_proven_by_a_capture_or_follows_from_another() -> None:
    captured = {json.loads(path.read_text())["error"] for path in DATA.glob("*.json")}
    causes = {kind.word for kind in perftest_errors.KINDS if kind.rank != perftest_errors.FOLLOWS}

    assert causes - captured == set()


@pytest.mark.parametrize("kind", perftest_errors.KINDS, ids=lambda kind: str(kind.word))
def test_every_kind_has_a_stable_word_a_cause_and_a_remedy(kind: perftest_errors.Kind) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", kind.word)
    assert kind.cause
    assert kind.remedy


PEER = "ethernet_read_keys: Couldn't read remote address"
FOLLOWS = " Couldn't create IB resources"


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ((PEER,), "peer_lost"),
        ((PEER, FOLLOWS), "resources"),
        ((PEER, FOLLOWS, "Couldn't allocate MR"), "mr_alloc"),
        (("Couldn't allocate MR", PEER, "Couldn't create CQ"), "mr_alloc"),
        (("Segmentation fault (core dumped)",), "crashed"),
        ((" Unable to init the socket connection",), "socket"),
        ((" Unable to Connect the HCA's through the link", PEER), "qp_connect"),
        ((" Completion with error at client", PEER), "completion"),
        (("client write: Broken pipe",), "peer_lost"),
        ((" Port number 2 state is Active Defer",), "port_down"),
        (("Couldn't listen to port 18515Unable to open file descriptor",), "port_in_use"),
    ],
)
def test_the_first_line_with_its_own_cause_decides(lines: tuple[str, ...], kind: str) -> None:
    assert kind_of(*lines) == kind


def test_lines_that_are_no_errors_pass() -> None:
    perftest_errors.check(["Requested SQ size might be too big. Try reducing TX depth", "", "ok"])


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (" Failed status 12: wr_id 0 syndrom 0x81", ("status 12", "0x81", "retry counter")),
        (" Failed status 5: wr_id 3 syndrom 0xf9", ("status 5", "0xf9", "flushed")),
        (
            " Failed status-transport retry counter exceeded (12): wr_id 0 syndrom 0x81",
            ("status 12", "0x81", "retry counter"),
        ),
        (" Failed status 99: wr_id 0", ("status 99", "unknown status")),
    ],
)
def test_a_failed_completion_says_status_meaning_and_vendor_error(
    line: str, parts: tuple[str, ...]
) -> None:
    message = message_of(" Completion with error at client", line)

    assert all(part in message for part in parts)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "Couldn't connect to 192.0.2.9:18515Unable to open",
            "Couldn't connect to 192.0.2.9:18515:",
        ),
        ("Couldn't connect to 2001:db8::7:18515", "Couldn't connect to 2001:db8::7:18515:"),
        (" Duplicated argument: report_gbits", "Duplicated argument: report_gbits:"),
        ("IB device mlx5_9 not found", "IB device mlx5_9 not found:"),
    ],
)
def test_the_message_quotes_what_the_tool_said(line: str, said: str) -> None:
    assert message_of(line).startswith(said)


def test_a_message_is_one_printable_line_of_bounded_length() -> None:
    message = message_of("IB device \x00\x07" + "x" * 5000 + " not found")

    assert message.isprintable()
    assert len(message) < 400
