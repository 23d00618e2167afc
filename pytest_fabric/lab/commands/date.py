"""`date` and `uptime`: the simulated time of all nodes."""

from __future__ import annotations

import time

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result

DAY_S, HOUR_S, MINUTE_S = 86_400, 3600, 60


def date(call: Call) -> Result:
    """Print the time of day in UTC, or by a format as `+%H:%M:%S`."""
    now = time.gmtime(call.fabric.clock.wall())
    words = [word for word in call.argv[1:] if word != "-u"]
    if len(words) > 1 or (words and not words[0].startswith("+")):
        return Result(1, stderr="date: the lab answers only: date [-u] [+FORMAT]\n")
    form = words[0][1:] if words else "%a %b %e %H:%M:%S UTC %Y"
    return Result(0, f"{time.strftime(form, now)}\n")


def uptime(call: Call) -> Result:
    """Print since when the node is up."""
    if call.argv[1:]:
        return Result(1, stderr="uptime: the lab answers only: uptime\n")
    seconds = int(call.fabric.clock.uptime())
    days, hours = seconds // DAY_S, seconds % DAY_S // HOUR_S
    minutes = seconds % HOUR_S // MINUTE_S
    now = time.strftime("%H:%M:%S", time.gmtime(call.fabric.clock.wall()))
    up = f"{days} day{'' if days == 1 else 's'}, {hours:2}:{minutes:02}"
    return Result(0, f" {now} up {up},  1 user,  load average: 0.08, 0.03, 0.01\n")
