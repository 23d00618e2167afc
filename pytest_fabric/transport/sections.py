"""The outputs of a collecting job, told apart by the marks that the runner put between them."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_fabric.transport.frames import Ended
from pytest_fabric.transport.jobs import Outcome


def split(token: str, ended: Ended, names: Iterable[str], duration_s: float) -> dict[str, Outcome]:
    """Return the outcome of each section; one without a status was ended with the job."""
    mark = b"\n" + token.encode()
    said = _by_name(mark + b" section ", ended.stdout)
    complained = _by_name(mark + b" section ", ended.stderr)
    outcomes = {}
    for name in names:
        whole = said.get(name, b"")
        text, _, rest = whole.partition(mark + b" status ")
        is_closed = rest.endswith(b"\n") and rest[:-1].isdigit()
        outcomes[name] = Outcome(
            end="exit" if is_closed else ended.why,
            status=int(rest) if is_closed else None,
            stdout=decoded(text if is_closed else whole),
            stderr=decoded(complained.get(name, complained[""])),
            truncated=ended.cut and not is_closed,
            duration_s=duration_s,
        )
    return outcomes


def decoded(data: bytes) -> str:
    """Return what a tool said; bytes that are no UTF-8 become U+FFFD."""
    return data.decode("utf-8", "replace")


def _by_name(begin: bytes, stream: bytes) -> dict[str, bytes]:
    """Return a stream cut at its marks; what came before the first is under the empty name."""
    first, *parts = stream.split(begin)
    named = (part.partition(b"\n") for part in parts)
    return {"": first, **{name.decode(): text for name, _, text in named}}
