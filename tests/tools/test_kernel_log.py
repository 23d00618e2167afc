"""A kernel log: what matters is told, all the rest is counted."""

from __future__ import annotations

from pytest_fabric.tools import kernel_log


def test_lines_that_tell_nothing_are_counted() -> None:
    text = (
        "[    0.000000] Linux version 6.8.0\n"
        "[    1.000000] NVRM: Xid (PCI:0000:41:00): 79, pid=1\n"
        "a line that goes on\n"
        "\n"
        "[    2.000000] usb 1-1: new device\n"
    )

    log = kernel_log.parse(text)

    assert [event.number for event in log.events] == [79]
    assert log.ignored == 3


def test_what_a_message_says_is_made_printable() -> None:
    (event,) = kernel_log.parse("[ 1.5] NVRM: Xid (PCI:0000:41:00): 13, a\x1b]0;b\n").events

    assert event.message == "NVRM: Xid (PCI:0000:41:00): 13, a?]0;b"
