"""A person at a lab node: what is typed is echoed, mended, and carried out line by line."""

from __future__ import annotations

import pytest

from pytest_fabric.lab import console
from pytest_fabric.lab.process import Result


class Typist:
    """A channel into which a person types."""

    def __init__(self, *typed: bytes) -> None:
        self._typed = list(typed)
        self.shown = b""
        self.status: int | None = None

    def recv(self, size: int) -> bytes:
        return self._typed.pop(0) if self._typed else b""

    def sendall(self, data: bytes) -> None:
        self.shown += data

    def send_exit_status(self, status: int) -> None:
        self.status = status

    def close(self) -> None:
        self._typed.clear()


@pytest.mark.parametrize(
    ("typed", "ran"),
    [
        ([b"uname\r", b"id\r"], ["uname", "id"]),
        ([b"un", b"am", b"e\n"], ["uname"]),
        ([b"unx\x7fame\r"], ["uname"]),
        ([b"\x7f\x7fid\r"], ["id"]),
        ([b"rm -rf\x03id\r"], ["id"]),
        ([b"id\r\x04uname\r"], ["id"]),
        ([b"id\rexit\runame\r"], ["id"]),
        ([b"\r\r"], []),
        ([b"\x1b[Aid\r"], ["[Aid"]),
        ([b"a" * 9000 + b"\r"], ["a" * 4096]),
        ([b"never finished"], []),
    ],
)
def test_lines_are_carried_out_as_typed(typed: list[bytes], ran: list[str]) -> None:
    done: list[str] = []

    def run(line: str) -> Result:
        done.append(line)
        return Result()

    console.serve(Typist(*typed), "$ ", run)

    assert done == ran


def test_a_terminal_sees_what_is_typed_and_what_comes_out() -> None:
    typist = Typist(b"id\r", b"exit 3\r")
    console.serve(typist, "$ ", lambda line: Result(0, "lab\n"))

    assert typist.shown == b"$ id\r\nlab\r\n$ exit 3\r\n"
    assert typist.status == 3


def test_without_a_terminal_there_is_output_only() -> None:
    typist = Typist(b"id\nfalse\n")
    console.serve(typist, "", lambda line: Result(int(line == "false"), f"{line}\n"))

    assert typist.shown == b"id\nfalse\n"
    assert typist.status == 1
