"""`cat [FILE]...`; without files, what comes in through a pipe."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result


def run(call: Call) -> Result:
    """Print files; status 1 when one cannot be read."""
    out, err = [call.stdin or ""] if not call.argv[1:] else [], []
    for path in call.argv[1:]:
        try:
            out.append(f"{call.view.read(path)}\n")
        except OSError as error:
            err.append(f"cat: {path}: {error.strerror}\n")
    return Result(1 if err else 0, "".join(out), "".join(err))
