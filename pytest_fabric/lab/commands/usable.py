"""The node runner's `usable PATH...`: whether each path can be read and written."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result


def run(call: Call) -> Result:
    """Print `rw`, `r-` or `--` and the path; only devices can be written in the lab."""

    def letters(path: str) -> str:
        if not call.view.exists(path):
            return "--"
        return "rw" if path.startswith("/dev/") else "r-"

    return Result(0, "".join(f"{letters(path)} {path}\n" for path in call.argv[1:]))
