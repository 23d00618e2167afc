"""`sleep SECONDS`, simulated ones."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Process, Result


def run(call: Call) -> Result | Process:
    """End after the seconds."""
    try:
        seconds = float(call.argv[1])
    except (IndexError, ValueError):
        return Result(1, stderr="sleep: invalid time interval\n")
    process = Process()

    def wake() -> None:
        with call.fabric.lock:
            process.end(Result())

    clock = call.fabric.clock
    timer = clock.after(clock.real(seconds), wake)
    process.when_ended(lambda _: timer.cancel())
    return process
