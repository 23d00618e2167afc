"""What is added to paramiko's connection, message by message."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import paramiko
import pytest
from paramiko.common import (
    cMSG_CHANNEL_CLOSE,
    cMSG_CHANNEL_DATA,
    cMSG_CHANNEL_EOF,
    cMSG_CHANNEL_WINDOW_ADJUST,
)

from pytest_fabric.transport.connection import _Transport
from pytest_fabric.transport.link import Link


@pytest.fixture
def transport() -> Iterator[_Transport]:
    """A connection that has not begun."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield _Transport(Link(ours))


def message(kind: bytes, *numbers: int) -> paramiko.Message:
    """Return a message of the connection protocol."""
    built = paramiko.Message()
    built.add_byte(kind)
    for number in numbers:
        built.add_int(number)
    return built


def test_nothing_follows_the_close_of_a_channel(
    transport: _Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sshd ends the whole connection for it, and with it every other node behind a jump host."""
    sent: list[bytes] = []
    monkeypatch.setattr(
        paramiko.Transport,
        "_send_user_message",
        lambda self, message: sent.append(message.asbytes()),
    )
    for kind, channel in (
        (cMSG_CHANNEL_DATA, 5),
        (cMSG_CHANNEL_CLOSE, 5),
        (cMSG_CHANNEL_DATA, 5),
        (cMSG_CHANNEL_EOF, 5),
        (cMSG_CHANNEL_CLOSE, 5),
        (cMSG_CHANNEL_DATA, 6),
        (cMSG_CHANNEL_WINDOW_ADJUST, 5),
    ):
        transport._send_user_message(message(kind, channel))

    assert [(bytes(one[:1]), one[4]) for one in sent] == [
        (cMSG_CHANNEL_DATA, 5),
        (cMSG_CHANNEL_CLOSE, 5),
        (cMSG_CHANNEL_DATA, 6),
        (cMSG_CHANNEL_WINDOW_ADJUST, 5),
    ]


def test_a_number_that_is_used_again_is_open_again(
    transport: _Transport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """sshd gives the lowest free number to the next channel."""
    sent: list[bytes] = []
    monkeypatch.setattr(
        paramiko.Transport,
        "_send_user_message",
        lambda self, message: sent.append(message.asbytes()),
    )
    monkeypatch.setattr(
        paramiko.Transport, "_parse_channel_open_success", lambda self, message: None
    )
    transport._send_user_message(message(cMSG_CHANNEL_CLOSE, 5))
    opened = paramiko.Message(message(b"", 1, 5, 100, 100).asbytes())
    transport._parse_channel_open_success(opened)
    transport._send_user_message(message(cMSG_CHANNEL_DATA, 5))

    assert [bytes(one[:1]) for one in sent] == [cMSG_CHANNEL_CLOSE, cMSG_CHANNEL_DATA]
