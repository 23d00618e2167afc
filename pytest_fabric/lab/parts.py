"""The parts of a port: its module, the signal that it receives, and the slot of its card."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Module:
    """A module in a port's cage; powers are in dBm for each of four lanes, and repeat from there.

    Copper has no diagnostics: no temperature, no light.
    """

    celsius: float = 48.5
    received_dbm: tuple[float, ...] = (1.12, 0.98, 1.31, 1.05)
    sent_dbm: tuple[float, ...] = (1.43, 1.28, 1.52, 1.36)
    is_copper: bool = False


@dataclass(frozen=True)
class Signal:
    """How well a port receives: its FEC, errors per bit before and after it, and links lost.

    `flaps` are links lost beside those of a usual start; such a link goes down under load too.
    """

    fec: str = "RS"
    raw_ber: float = 3e-9
    effective_ber: float = 0.0
    lost_per_s: float = 0.0
    flaps: int = 0

    def lost(self, uptime_s: float) -> int:
        """Return the blocks that could not be corrected since the node booted."""
        return 12 + int(self.lost_per_s * uptime_s)


@dataclass(frozen=True)
class Slot:
    """The PCIe slot of a card: errors reported since boot, and the largest read, in bytes.

    `max_tps` is what both ends could do, where the link is slower than that.
    """

    correctable: int = 3
    nonfatal: int = 0
    max_read_request: int = 4096
    max_tps: float | None = None


#: What a port has until a fault says otherwise.
GOOD_MODULE, GOOD_SIGNAL, GOOD_SLOT = Module(), Signal(), Slot()
