"""The outputs of a collecting job, told apart by the marks that the runner put between them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_fabric.transport.frames import Ended
from pytest_fabric.transport.jobs import Outcome


def split(token: str, ended: Ended, names: Iterable[str], duration_s: float) -> dict[str, Outcome]:
    """Return the outcome of each section; one without a status was ended with the job."""
    mark = re.escape(token.encode())
    begin = re.compile(rb"\n" + mark + rb" section ([a-z0-9_-]+)\n")
    status = re.compile(rb"\n" + mark + rb" status (\d+)\n")
    said, complained = _by_name(begin, ended.stdout), _by_name(begin, ended.stderr)
    rest = complained[""]
    outcomes = {}
    for name in names:
        text = said.get(name, b"")
        closed = status.search(text)
        outcomes[name] = Outcome(
            end="exit" if closed else ended.why,
            status=int(closed[1]) if closed else None,
            stdout=decoded(text[: closed.start()] if closed else text),
            stderr=decoded(complained.get(name, rest)),
            truncated=ended.cut and not closed,
            duration_s=duration_s,
        )
    return outcomes


def decoded(data: bytes) -> str:
    """Return what a tool said; bytes that are no UTF-8 become U+FFFD."""
    return data.decode("utf-8", "replace")


def _by_name(begin: re.Pattern[bytes], stream: bytes) -> dict[str, bytes]:
    """Return a stream cut at its marks; what came before the first is under the empty name."""
    first, *parts = begin.split(stream)
    names = (name.decode() for name in parts[::2])
    return {"": first, **dict(zip(names, parts[1::2], strict=True))}
