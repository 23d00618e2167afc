"""What a run has seen, as the search for places takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Which way the payload of a tool flows: from the client, from the server, or both ways.
FORWARD, BACKWARD, BOTH = "forward", "backward", "both"


@dataclass(frozen=True)
class Seen:
    """What one check said of one pair; `client` and `server` are port ids.

    `flow` says which way the payload went. `counts` is how much a pass clears what the pair uses:
    1, or 0 for a pass whose value stands out among its peers.
    """

    check: str
    client: str
    server: str
    flow: str
    failed: bool
    counts: float = 1.0

    @property
    def target(self) -> str:
        """Return the pair's id."""
        return f"{self.client}..{self.server}"

    @property
    def senders(self) -> tuple[str, ...]:
        """Return the ports that sent payload."""
        ends = {FORWARD: (self.client,), BACKWARD: (self.server,)}
        return ends.get(self.flow, (self.client, self.server))

    @property
    def receivers(self) -> tuple[str, ...]:
        """Return the ports that payload was sent to."""
        ends = {FORWARD: (self.server,), BACKWARD: (self.client,)}
        return ends.get(self.flow, (self.client, self.server))


@dataclass(frozen=True)
class Sign:
    """What a port or node says of itself: `ratio` is how much likelier it makes a fault there.

    `direction` is tx or rx where it speaks for one direction only. A ratio of 1 is told, and
    changes nothing: a victim's counters.
    """

    place: str
    text: str
    ratio: float = 1.0
    direction: str | None = None


@dataclass(frozen=True)
class Evidence:
    """All that is known: checks of pairs, signs, and the leaf of each port where it is declared."""

    seen: tuple[Seen, ...]
    signs: tuple[Sign, ...] = ()
    leaves: Mapping[str, str] = field(default_factory=dict)


def flow_of(metric: str | None) -> str:
    """Return which way the payload of a metric flows; both ways where it does not say.

    Writes and sends go from client to server, reads come back; latency and pings are both.
    """
    tool, _, rest = (metric or "").partition(".")
    if rest.endswith("bidirectional"):
        return BOTH
    return {"ib_write_bw": FORWARD, "ib_send_bw": FORWARD, "ib_read_bw": BACKWARD}.get(tool, BOTH)
