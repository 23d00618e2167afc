"""A person at a lab node: lines are typed, echoed where there is a terminal, and carried out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from pytest_fabric.lab.process import Result

#: What a terminal sends for the keys that mean something else than a letter.
ENTER, ERASE, INTERRUPT, END = "\r\n", "\x7f\b", "\x03", "\x04"

#: The longest line that a person may type, in characters.
LINE = 4096


class Channel(Protocol):
    """The part of an SSH channel that a person types into."""

    def recv(self, size: int) -> bytes:
        """Return what was typed, nothing at the end."""

    def sendall(self, data: bytes) -> None:
        """Show something."""

    def send_exit_status(self, status: int) -> None:
        """Tell how the session ended."""

    def close(self) -> None:
        """End the session."""


def serve(channel: Channel, prompt: str, run: Callable[[str], Result]) -> None:
    """Run the lines of a person until `exit` or the end; an empty prompt is for no terminal."""
    newline = "\r\n" if prompt else "\n"
    status = 0
    channel.sendall(prompt.encode())
    for line in _lines(channel, is_echoed=bool(prompt)):
        word, _, rest = line.strip().partition(" ")
        if word in ("exit", "logout"):
            status = int(rest) if rest.isdecimal() else status
            break
        if word:
            result = run(line)
            status = result.status
            told = (result.stdout + result.stderr).replace("\n", newline)
            channel.sendall(told.encode("utf-8", "surrogateescape"))
        channel.sendall(prompt.encode())
    channel.send_exit_status(status)
    channel.close()


def _lines(channel: Channel, is_echoed: bool) -> Iterator[str]:
    """Yield what is typed line by line; Ctrl-C forgets a line, Ctrl-D ends on an empty one."""
    line = ""
    while data := channel.recv(1024):
        echo = ""
        for letter in data.decode("utf-8", "replace"):
            if letter in ENTER:
                if is_echoed:
                    channel.sendall(f"{echo}\r\n".encode())
                echo, typed, line = "", line, ""
                yield typed
            elif letter == END and not line:
                return
            elif letter == INTERRUPT:
                echo, line = f"{echo}^C\r\n", ""
                yield ""
            elif letter in ERASE:
                echo += "\b \b" if line else ""
                line = line[:-1]
            elif letter.isprintable() and len(line) < LINE:
                echo, line = echo + letter, line + letter
        if is_echoed and echo:
            channel.sendall(echo.encode())
