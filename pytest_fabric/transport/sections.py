"""The outputs of a collecting job, told apart by the marks that the runner put between them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_fabric.transport.frames import Ended
from pytest_fabric.transport.jobs import SECTION, Outcome


def marks(token: str) -> re.Pattern[str]:
    """Return what finds the marks of a runner: the name of a section, or the status at its end."""
    word = re.escape(token)
    return re.compile(rf"\n{word} (?:section ({SECTION.pattern})|status ([0-9]{{1,3}}))\n")


def split(
    mark: re.Pattern[str], ended: Ended, names: Iterable[str], duration_s: float
) -> dict[str, Outcome]:
    """Return the outcome of each section; one without a status was ended with the job.

    Where the job has ended by itself, it said more than is kept (`cut`), or its shell was killed.
    """
    lost = ended.why if ended.why != "exit" else "cut" if ended.cut else "killed"
    said, complained = (_by_name(mark, stream) for stream in (ended.stdout, ended.stderr))
    outcomes = {}
    for name in names:
        text, status = said.get(name, ("", None))
        is_closed = status is not None
        outcomes[name] = Outcome(
            end="exit" if is_closed else lost,
            status=status,
            stdout=text,
            stderr=complained.get(name, complained[""])[0],
            truncated=ended.cut and not is_closed,
            duration_s=duration_s,
        )
    return outcomes


def decoded(data: bytes) -> str:
    """Return what a tool said; bytes that are no UTF-8 become U+FFFD."""
    return data.decode("utf-8", "replace")


def _by_name(mark: re.Pattern[str], stream: bytes) -> dict[str, tuple[str, int | None]]:
    """Return text and status of each section; what came before the first has the empty name.

    A status ends a section only if nothing follows it there.
    """
    name = ""
    first, *marked = mark.split(decoded(stream))
    found: dict[str, tuple[str, int | None]] = {name: (first, None)}
    for section, status, text in zip(marked[::3], marked[1::3], marked[2::3], strict=True):
        if section is not None:
            name = section
            found[name] = text, None
        else:
            found[name] = found[name][0] + text, None if text else int(status)
    return found
