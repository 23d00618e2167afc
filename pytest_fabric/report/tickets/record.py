"""What a ticket says: one for each cable or part that somebody has to put right."""

from __future__ import annotations

from dataclasses import dataclass

#: Counts the changes after which an older version must not read `tickets.json`.
SCHEMA = 1


@dataclass(frozen=True)
class End:
    """One end of a cable, or a port; None is what nobody has told, `unknown` says why.

    `slot` is the PCI address, `card` the board (PSID), firmware and driver; `vendor`, `part` and
    `serial` are those of the module. `lanes` are lines with a value for each lane.
    """

    place: str
    slot: str | None = None
    device: str | None = None
    netdevs: str | None = None
    card: str | None = None
    vendor: str | None = None
    part: str | None = None
    serial: str | None = None
    state: str | None = None
    speed: str | None = None
    fec: str | None = None
    lanes: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        """Return the module as people name it, nothing where it is not known."""
        words = (self.vendor, self.part, self.serial and f"serial {self.serial}")
        return " ".join(word for word in words if word)


@dataclass(frozen=True)
class Value:
    """What was measured of a place, in base units, and the limit that it was held against.

    `outcome` is that of a check, or `read` where none has judged it. A rate of errors has its
    exposure in seconds, and `floor`, the smallest rate that such a time can show.
    """

    target: str
    metric: str
    value: float | str | None
    unit: str
    limit: str | None
    outcome: str
    exposure_s: float | None = None
    floor: float | None = None
    detail: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failed:
    """A check that did not hold, and that holds once the part is mended."""

    nodeid: str
    check: str
    target: str
    layer: str
    outcome: str
    message: str


@dataclass(frozen=True)
class Flap:
    """So often the link was lost in a window of so many seconds that began then (UTC)."""

    begun: str
    seconds: float
    count: int


@dataclass(frozen=True)
class Control:
    """A sound port that is alike, with the same values."""

    port: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Action:
    """What to do next: one of `action.STEPS`, the same in words, and what speaks for it."""

    step: str
    words: str
    why: str


@dataclass(frozen=True)
class Ticket:
    """A cable or part that has to be put right: where, what is known, and what to do next.

    `kind` is one of `parts.KINDS`, `confidence` the chance that it is the place, None where its
    own checks say so. `tried` are the steps after which it was measured again, and was still bad.
    """

    id: str
    kind: str
    place: str
    places: tuple[str, ...]
    summary: str
    confidence: float | None
    action: Action
    tried: tuple[str, ...]
    ends: tuple[End, ...]
    failed: tuple[Failed, ...]
    values: tuple[Value, ...]
    flaps: tuple[Flap, ...]
    log: tuple[str, ...]
    controls: tuple[Control, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True)
class Tickets:
    """All tickets of a run, what is surest first; `run` is the name of its directory."""

    schema: int
    run: str
    cluster: str
    inventory_sha256: str
    tickets: tuple[Ticket, ...]
