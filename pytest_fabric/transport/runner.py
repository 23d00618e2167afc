"""The node runner's program, and the command that starts it."""

from __future__ import annotations

import functools
import re
import secrets
import shlex
from importlib import resources

#: The word by which the runner is known in argument vectors.
NAME = "pytest-fabric-runner"

#: Lines after which a `;` would be a syntax error.
_GOES_ON = re.compile(r"(?:^|[\s;])(?:\{|do|then|else|in|;;|&|&&|\|\|?)$")


def new_token() -> str:
    """Return 16 hexadecimal digits that no text of a node can know beforehand."""
    return secrets.token_hex(8)


@functools.cache
def program() -> str:
    """Return runner.sh as one line, without comments."""
    return one_line(resources.files(__package__).joinpath("runner.sh").read_text())


def one_line(script: str) -> str:
    """Return a script of whole-line comments and plain lines as one line of shell."""
    lines = (line.strip() for line in script.splitlines())
    kept = [line for line in lines if line and not line.startswith("#")]
    return "".join(f"{line} " if _GOES_ON.search(line) else f"{line} ; " for line in kept)


def words(token: str, path: str | None, holder: str) -> tuple[str, ...]:
    """Return what follows the shell: the program, and its four words that argument vectors show."""
    return ("-c", program(), NAME, token, path or "", " ".join(holder.split()))


def command(token: str, path: str | None, holder: str) -> str:
    """Return the command that starts the runner, for any log-in shell."""
    return "exec sh " + shlex.join(words(token, path, holder))
