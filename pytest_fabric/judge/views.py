"""What a test reads: the fields of a record as values, and an error where there is none."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass

from pytest_fabric.errors import CounterError, MeasurementError, MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.values import Value
from pytest_fabric.metrics import MEANINGS
from pytest_fabric.results import Growth, Measurement, NodeFacts, PciHop, RdmaPort
from pytest_fabric.units import render

#: Samples that a percentile needs: with fewer, perftest's P99 is the maximum (n <= 102) or rests on
#: a handful of samples; its P99.9 equals the maximum up to n = 1002 (perftest_resources.c, print of
#: the latency report).
SAMPLES = {"p99": 500, "p999": 10_000}

#: Where each name of a pair result stands in the record, and its unit.
FIELDS = {
    "min": ("latency", "min_s", "s"),
    "median": ("latency", "median_s", "s"),
    "mean": ("latency", "mean_s", "s"),
    "p99": ("latency", "p99_s", "s"),
    "p999": ("latency", "p999_s", "s"),
    "max": ("latency", "max_s", "s"),
    "average": ("bandwidth", "average_bps", "b/s"),
    "peak": ("bandwidth", "peak_bps", "b/s"),
    "message_rate": ("bandwidth", "message_rate", "/s"),
}

LABELS = {"p99": "P99", "p999": "P99.9"}


def _unknown(kind: str, name: str, known: tuple[str, ...]) -> MissingValueError:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f", did you mean {close[0]}?" if close else f": it has {', '.join(known)}"
    return MissingValueError(f"{kind} has no value {name!r}{hint}")


def everything(metric: str) -> None:
    """Let every metric be read: for targets whose profile leaves nothing out."""


@dataclass(frozen=True)
class PairResult:
    """The result of one measurement on a pair: `result.p99`, `result.average`, `result.growth()`.

    Latency: min, median, mean, p99, p999, max. Bandwidth: average, peak, message_rate. Both: mtu,
    class_share. Raises MissingValueError for what was not measured, and MeasurementError when the
    traffic did not go where it was sent. `available` is called with each metric before it is read,
    and skips what the profile says that this hardware cannot show.
    """

    record: Measurement
    ledger: Ledger
    available: Callable[[str], None] = everything

    @property
    def title(self) -> str:
        """Return the tool and the message size, as people name a measurement."""
        row = self.record.latency or self.record.bandwidth
        return f"{self.record.tool} {render(row.bytes, 'B')}" if row else self.record.tool

    def __getattr__(self, name: str) -> Value:
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in FIELDS:
            raise _unknown(self.record.tool, name, (*FIELDS, "mtu", "class_share", "growth"))
        kind, field, unit = FIELDS[name]
        self.available(f"{self.record.tool}.{name}")
        self._refuse_doubts()
        row = getattr(self.record, kind)
        number = getattr(row, field) if row is not None else None
        if number is None:
            raise MissingValueError(f"{self.record.target}: {self.title} did not measure {name}")
        if row.iterations < SAMPLES.get(name, 0):
            raise MissingValueError(
                f"{self.record.target}: {LABELS[name]} needs at least {SAMPLES[name]:,} "
                f"iterations, this run had {row.iterations:,}: raise traffic.iterations"
            )
        metric = f"{self.record.tool}.{row.bytes}.{name}"
        return self._value(metric, f"{self.title}: {LABELS.get(name, name)}", number, unit)

    @property
    def mtu(self) -> Value:
        """Return the RDMA MTU that both ends agreed on, in bytes."""
        self.available("link.mtu")
        if self.record.mtu is None:
            raise MissingValueError(f"{self.record.target}: {self.title} did not print its MTU")
        return self._value("link.mtu", f"{self.title}: MTU", self.record.mtu, "B")

    @property
    def class_share(self) -> Value:
        """Return the least share of the traffic that an end moved on the declared priority."""
        self.available("class.share")
        traffic = self.record.traffic
        if traffic is None or traffic.class_share is None:
            raise MissingValueError(
                f"{self.record.target}: the drivers have no byte counter per priority, so the "
                "traffic class cannot be told: add `class` to not_available of the profile"
            )
        detail = (f"{traffic.class_port} moved the least of it there",)
        label = f"{self.title}: share of payload in the declared class"
        return self._value("class.share", label, round(traffic.class_share, 4), "", detail)

    def growth(self, meaning: str) -> Value:
        """Return by how much the counters of a meaning grew during the run, at both ends."""
        if meaning not in MEANINGS:
            raise _unknown("growth", meaning, MEANINGS)
        self.available(f"{meaning}.growth")
        self._refuse_doubts()
        if meaning in self.record.counter_errors:
            raise CounterError(self.record.counter_errors[meaning])
        grown = [growth for growth in self.record.growth if growth.meaning == meaning]
        if not grown:
            raise CounterError(f"{self.record.target}: no counter says {meaning}")
        return self._growth_value(meaning, grown)

    def _growth_value(self, meaning: str, grown: list[Growth]) -> Value:
        detail = tuple(str(growth) for growth in grown if growth.delta)
        total = sum(growth.delta for growth in grown)
        label = f"{self.title}: growth of {meaning}"
        return self._value(f"{meaning}.growth", label, total, "", detail)

    def _refuse_doubts(self) -> None:
        if self.record.doubts:
            message = f"{self.title}: {'; '.join(self.record.doubts)}"
            raise MeasurementError(self.record.target, "doubt", message)

    def _value(
        self, metric: str, label: str, number: float, unit: str, detail: tuple[str, ...] = ()
    ) -> Value:
        self.ledger.reads.append(metric)
        return Value(number, unit, metric, label, self.ledger, detail)


@dataclass(frozen=True)
class PortResult:
    """What a port says about itself: `result.state`, `result.speed`, `result.pcie_width`.

    layer, state, physical_state, speed, width, active_mtu, firmware, psid, pcie_speed, pcie_width.
    Raises MissingValueError for what the node does not say, with what would make it say so.
    """

    port: str
    record: RdmaPort
    ledger: Ledger
    available: Callable[[str], None] = everything

    @property
    def layer(self) -> Value:
        """Return the link layer: Ethernet or InfiniBand."""
        return self._value("link.layer", self.record.link_layer, "word")

    @property
    def state(self) -> Value:
        """Return the port's state: ACTIVE when it can carry traffic."""
        return self._value("link.state", self.record.state, "word")

    @property
    def physical_state(self) -> Value:
        """Return the physical state: LinkUp when the link is trained."""
        return self._value("link.physical_state", self.record.physical_state, "word")

    @property
    def speed(self) -> Value:
        """Return the speed that the link negotiated, in bits per second."""
        return self._value("link.speed", self.record.speed_bps, "b/s", "link is down or unknown")

    @property
    def width(self) -> Value:
        """Return the number of lanes."""
        return self._value("link.width", self.record.width, "", "sysfs says no rate")

    @property
    def active_mtu(self) -> Value:
        """Return the RDMA MTU that the port uses, in bytes."""
        advice = "install ibverbs-utils (ibv_devinfo), or check the netdev's MTU"
        return self._value("link.mtu", self.record.active_mtu, "B", advice)

    @property
    def firmware(self) -> Value:
        """Return the running firmware's version."""
        return self._value("firmware", self.record.firmware, "word", "driver gives no fw_ver")

    @property
    def psid(self) -> Value:
        """Return the board id that firmware is built for."""
        return self._value("psid", self.record.psid, "word", "driver gives no board_id")

    @property
    def pcie_speed(self) -> Value:
        """Return the speed of the NIC's own PCIe link, in transfers per second."""
        return self._hop("pcie.speed", lambda hop: hop.speed_tps, "T/s")

    @property
    def pcie_width(self) -> Value:
        """Return the lanes of the NIC's own PCIe link."""
        return self._hop("pcie.width", lambda hop: hop.width, "")

    @property
    def pcie_slow_links(self) -> Value:
        """Return how many PCIe links towards the root run below what both their ends can do.

        A link has two ends: the NIC and the slot above it, then each switch's upstream port and the
        port above that.
        """
        hops = self.record.pcie
        links = list(zip(hops[::2], hops[1::2], strict=False))
        slow = [lower for lower, upper in links if _is_slow(lower, upper)]
        detail = tuple(f"{h.address} {_link(h.speed_tps, h.width)}" for h in slow)
        advice = "the device shows no PCIe link with two ends (virtual machine?): see not_available"
        return self._value("pcie.slow_links", len(slow) if links else None, "", advice, detail)

    def _hop(self, metric: str, read: Callable[..., float | int | None], unit: str) -> Value:
        hops = self.record.pcie
        detail = tuple(
            f"{hop.address} {_link(hop.speed_tps, hop.width)}, can do "
            f"{_link(hop.max_speed_tps, hop.max_width)}"
            for hop in hops
        )
        advice = "the device shows no PCIe link (virtual machine?): see not_available"
        return self._value(metric, read(hops[0]) if hops else None, unit, advice, detail)

    def _value(
        self,
        metric: str,
        number: float | str | None,
        unit: str,
        advice: str = "",
        detail: tuple[str, ...] = (),
    ) -> Value:
        self.available(metric)
        if number is None:
            raise MissingValueError(
                f"{self.port}: {self.record.device} does not say its {metric}: {advice}"
            )
        self.ledger.reads.append(metric)
        return Value(number, unit, metric, f"{self.record.device} {metric}", self.ledger, detail)


def _is_slow(lower: PciHop, upper: PciHop) -> bool:
    """Return whether a link runs below what both ends can; unknown ends count as slow."""
    speeds = (lower.speed_tps, lower.max_speed_tps, upper.max_speed_tps)
    widths = (lower.width, lower.max_width, upper.max_width)
    return any(
        now is None or first is None or second is None or now < min(first, second)
        for now, first, second in (speeds, widths)
    )


def _link(speed: float | None, width: int | None) -> str:
    shown = render(speed, "T/s") if speed is not None else "unknown speed"
    return f"{shown} x{width if width is not None else '?'}"


@dataclass(frozen=True)
class NodeResult:
    """What a node says about itself: `result.kernel`, `result.perftest`, `result.memlock`."""

    record: NodeFacts
    ledger: Ledger

    @property
    def kernel(self) -> Value:
        """Return the running kernel's release."""
        return self._value("kernel", self.record.kernel, "word")

    @property
    def perftest(self) -> Value:
        """Return perftest's version. Raises MissingValueError where it is not installed."""
        if self.record.perftest is None:
            raise MissingValueError(f"{self.record.node}: perftest is not installed")
        return self._value("perftest", self.record.perftest, "word")

    @property
    def memlock(self) -> Value:
        """Return the memory that a process may lock, in bytes; infinite when unlimited."""
        number = self.record.memlock_bytes
        return self._value("memlock", float("inf") if number is None else number, "B")

    def _value(self, metric: str, number: float | str, unit: str) -> Value:
        self.ledger.reads.append(metric)
        return Value(number, unit, metric, f"{self.record.node} {metric}", self.ledger)
