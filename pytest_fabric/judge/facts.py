"""What a test reads of a port and of a node: facts as values, and an error where there is none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_fabric.errors import MeasurementError, MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.values import Value
from pytest_fabric.judge.views import everything
from pytest_fabric.results import NodeFacts, PciHop, RdmaPort
from pytest_fabric.tools import sysfs
from pytest_fabric.tools.printable import printable
from pytest_fabric.units import render

NO_IRQS = "no interrupt of its device, or no CPU of its socket, is shown: see not_available"


@dataclass(frozen=True)
class PortResult:
    """What a port says about itself: `result.state`, `result.speed`, `result.pcie_width`.

    presence, layer, state, physical_state, speed, width, active_mtu, firmware, psid, pcie_speed,
    pcie_width, pcie_slow_links, numa_node, irq_cpus, remote_irq_cpus.
    Raises MissingValueError for what the node does not say, with what would make it say so.
    """

    port: str
    found: RdmaPort | MeasurementError
    ledger: Ledger
    available: Callable[[str], None] = everything

    @property
    def record(self) -> RdmaPort:
        """Return what the node says. Raises MeasurementError where it has no such port."""
        if isinstance(self.found, MeasurementError):
            raise self.found
        return self.found

    @property
    def presence(self) -> Value:
        """Return `present`, or `absent` where the node has no such port: then with what it has."""
        metric = "link.presence"
        self.ledger.reads.append(metric)
        if isinstance(self.found, MeasurementError):
            return Value("absent", "word", metric, metric, self.ledger, (self.found.told,))
        return self._value(metric, "present", "word")

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
        idle = self.record.idle_netdevs
        why = "of its bond carries nothing: its link is down, it is a backup, or LACP left it out"
        detail = tuple(f"{printable(name)} {why}" for name in idle)
        advice = "link is down or unknown"
        return self._value("link.speed", self.record.speed_bps, "b/s", advice, detail)

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

    @property
    def numa_node(self) -> Value:
        """Return the NUMA node of the card; -1 where the firmware of the machine says none."""
        detail = (f"local CPUs {self.record.local_cpus or 'unknown'}",)
        advice = "sysfs has no numa_node of its device: see not_available"
        return self._value("pcie.numa_node", self.record.numa_node, "", advice, detail)

    @property
    def irq_cpus(self) -> Value:
        """Return how many CPUs serve the card's interrupts."""
        cpus = self.record.irq_cpus
        return self._value(
            "pcie.irq_cpus", len(cpus) or None, "", NO_IRQS, (f"CPUs {_list(cpus)}",)
        )

    @property
    def remote_irq_cpus(self) -> Value:
        """Return how many of the CPUs that serve the card's interrupts are not of its socket."""
        local = set(sysfs.cpu_list(self.record.local_cpus or ""))
        remote = [cpu for cpu in self.record.irq_cpus if cpu not in local]
        number = len(remote) if self.record.irq_cpus and local else None
        detail = (f"CPUs {_list(remote)}",) if remote else ()
        return self._value("pcie.remote_irq_cpus", number, "", NO_IRQS, detail)

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


def _list(cpus: Sequence[int]) -> str:
    return ", ".join(map(str, cpus[:16])) + (", ..." if len(cpus) > 16 else "")


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
    """What a node says about itself: `result.kernel` and `result.perftest`."""

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

    def _value(self, metric: str, number: float | str, unit: str) -> Value:
        self.ledger.reads.append(metric)
        return Value(number, unit, metric, f"{self.record.node} {metric}", self.ledger)
