"""Faults of a node's system, of its cards' firmware and of what its kernel tells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pytest_fabric.lab import machine
from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import Node, Port

CPUS = "/sys/devices/system/cpu"
SYS = "/proc/sys"

LIMITS = (
    f"{'Limit':<26}{'Soft Limit':<21}{'Hard Limit':<21}Units\n"
    f"{'Max open files':<26}{'1048576':<21}{'1048576':<21}files\n"
    f"{'Max locked memory':<26}{'8388608':<21}{'8388608':<21}bytes"
)

#: What the kernel has without any settings file, and less for TCP.
UNSET = {
    f"{SYS}/net/core/rmem_max": "212992",
    f"{SYS}/net/core/wmem_max": "212992",
    f"{SYS}/net/core/netdev_max_backlog": "1000",
    f"{SYS}/net/ipv4/tcp_rmem": "4096\t131072\t212992",
    f"{SYS}/net/ipv4/tcp_wmem": "4096\t16384\t212992",
}


def _files(files: dict[str, str]) -> Callable[[Node], Node]:
    return lambda node: _with_files(node, files)


def _with_files(node: Node, files: dict[str, str]) -> Node:
    return replace(node, files={**node.files, **files})


def _log(*messages: str) -> Callable[[Node], Node]:
    """Return what lets the kernel tell messages; `{pci}` and `{netdev}` are those of a port."""
    return lambda node: replace(
        node,
        log=(
            *node.log,
            *(
                text.format(pci=node.ports[0].pci, netdev=next(iter(node.ports[0].netdevs), "eno1"))
                for text in messages
            ),
        ),
    )


def _firmware(port: Port, version: str) -> Port:
    return replace(port, adapter=replace(port.adapter, firmware=version))


SYSTEM: tuple[Fault, ...] = (
    Fault(
        "governor",
        ("node",),
        "one CPU runs under the governor powersave",
        "a kernel update, or a tuning service that did not start",
        on_node=_files({f"{CPUS}/cpu3/cpufreq/scaling_governor": "powersave"}),
    ),
    Fault(
        "cpu_frequency",
        ("node",),
        "the CPUs may not clock higher than 1.2 GHz; perftest without -F warns of frequencies",
        "a power limit, a thermal event, or a tuning profile for idle machines",
        on_node=_files(
            {
                f"{CPUS}/cpu{cpu}/cpufreq/scaling_max_freq": str(machine.CAPPED_KHZ)
                for cpu in range(machine.CPUS)
            }
        ),
    ),
    Fault(
        "memlock",
        ("node",),
        "a process may lock 8 MiB of memory",
        "limits that are set for jobs and not for log-ins, or a sshd without pam_limits",
        on_node=_files({"/proc/self/limits": LIMITS}),
    ),
    Fault(
        "sysctl",
        ("node",),
        "socket buffers and the receive backlog are small",
        "a file in /etc/sysctl.d that was not applied, or that another one overrides",
        on_node=_files(UNSET),
    ),
    Fault(
        "numa_balancing",
        ("node",),
        "the kernel moves pages between NUMA nodes",
        "a node imaged without the site's settings",
        on_node=_files({f"{SYS}/kernel/numa_balancing": "1"}),
    ),
    Fault(
        "iommu",
        ("node",),
        "the IOMMU translates what network cards read and write",
        "a kernel started without iommu=pt",
        on_node=lambda node: replace(node, iommu="translated"),
    ),
    Fault(
        "acs",
        ("node",),
        "PCIe bridges send what cards and GPUs exchange up to the root",
        "ACS left on by the BIOS, or switched on again at boot",
        on_node=lambda node: replace(node, redirects=True),
    ),
    Fault(
        "kernel_minority",
        ("node",),
        "the node runs an older kernel than the others",
        "a node that was away when the others were updated, or was not restarted since",
        on_node=lambda node: replace(node, kernel="6.8.0-45-generic"),
    ),
    Fault(
        "os_minority",
        ("node",),
        "the node runs an older distribution than the others",
        "a spare that was imaged long ago",
        on_node=_files({"/etc/os-release": machine.OS_RELEASE.replace("24.04", "22.04")}),
    ),
)

CARDS: tuple[Fault, ...] = (
    Fault(
        "numa_unknown",
        ("port",),
        "the machine does not say which socket the card belongs to",
        "a BIOS without the ACPI tables for it, or a virtual machine",
        on_port=lambda port: replace(port, numa=-1),
    ),
    Fault(
        "irqs_one_core",
        ("port",),
        "one core serves all interrupts of the card",
        "irqbalance stopped, or a script that sets one mask for all",
        on_port=lambda port: replace(port, irqs="one core"),
    ),
    Fault(
        "irqs_remote",
        ("port",),
        "cores of the other socket serve the card's interrupts",
        "affinities written down for another slot",
        on_port=lambda port: replace(port, irqs="remote"),
    ),
    Fault(
        "firmware_pending",
        ("port",),
        "newer firmware is stored on the card than runs",
        "an update without the reset that makes it run",
        on_port=lambda port: replace(port, stored_firmware="28.43.2026"),
    ),
    Fault(
        "firmware_minority",
        ("port",),
        "the card runs older firmware than the others of its kind",
        "a card that was replaced, and not updated since",
        on_port=lambda port: _firmware(port, "28.36.1010"),
    ),
    Fault(
        "firmware_declared",
        ("port",),
        "the card is another board than any that is declared",
        "a card of another vendor's stock, with firmware of its own",
        on_port=lambda port: replace(port, adapter=replace(port.adapter, psid="DEL0000000049")),
    ),
    Fault(
        "driver_minority",
        ("node",),
        "the node's cards run under an older driver than the others",
        "a kernel update that fell back to another build of the driver",
        on_port=lambda port: replace(port, driver="23.10-0.5.5"),
    ),
)

LOG: tuple[Fault, ...] = (
    Fault(
        "log_mlx5",
        ("node",),
        "the kernel told that a card's firmware found itself unfit",
        "a card that fails, or firmware that asserts",
        on_node=_log(
            "mlx5_core {pci}: print_health_info:496:(pid 0): synd 0x8: "
            "unrecoverable hardware error",
            "mlx5_core {pci}: poll_health:831:(pid 0): device's health compromised - "
            "reached miss count",
        ),
    ),
    Fault(
        "log_xid",
        ("node",),
        "a GPU fell off the bus",
        "a GPU or riser that fails, or gets too hot",
        on_node=_log("NVRM: Xid (PCI:0000:1b:00): 79, pid=4711, GPU has fallen off the bus."),
    ),
    Fault(
        "log_aer",
        ("node",),
        "PCIe told of an error that was not corrected",
        "a card not fully seated, or a slot that fails",
        on_node=_log(
            "mlx5_core {pci}: PCIe Bus Error: severity=Uncorrectable (Non-Fatal), "
            "type=Transaction Layer, (Requester ID)",
        ),
    ),
    Fault(
        "log_aer_corrected",
        ("node",),
        "PCIe corrects errors many times a minute",
        "a dirty connector, or a marginal riser",
        on_node=_log(
            *["mlx5_core {pci}: PCIe Bus Error: severity=Correctable, type=Physical Layer"] * 120
        ),
    ),
    Fault(
        "log_link_down",
        ("node",),
        "a port lost its link for a moment",
        "a cable or module that is marginal, or somebody at the rack",
        on_node=_log("mlx5_core {pci} {netdev}: Link down", "mlx5_core {pci} {netdev}: Link up"),
    ),
)

GPUS: tuple[Fault, ...] = (
    Fault(
        "gpu_detour",
        ("port",),
        "what the card and its GPU exchange goes up to the root and back: half of the bandwidth",
        "a GPU and a card below different PCIe switches, or redirection on the way between them",
        on_port=lambda port: replace(port, gpu_passes=0.5),
    ),
    Fault(
        "no_peer_memory",
        ("node",),
        "the node's cards cannot register the memory of its GPUs",
        "nvidia-peermem that was not loaded after an update of the driver or of the kernel",
        on_node=lambda node: replace(node, peer_memory=False),
    ),
    Fault(
        "wrong_values",
        ("node",),
        "a collective that the node takes part in has wrong values",
        "GPU memory or a PCIe path that damages data and does not tell",
        on_node=lambda node: replace(node, spoils=True),
    ),
)

FAULTS = (*SYSTEM, *CARDS, *LOG, *GPUS)
