"""Faults of a link and of the slot of its card."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pytest_fabric.errors import ConfigError
from pytest_fabric.lab.aging import Aging
from pytest_fabric.lab.faults.fault import Fault
from pytest_fabric.lab.model import ETHERNET, INFINIBAND, Node, Port
from pytest_fabric.results import Port as PortId


def _half_speed(port: Port) -> Port:
    return replace(port, speed_bps=port.speed_bps / 2)


def _half_width(port: Port) -> Port:
    return replace(port, pcie_width=max(1, port.pcie_max_width // 2))


def _slow_slot(port: Port) -> Port:
    slot = replace(port.slot, max_tps=port.pcie_tps)
    return replace(port, pcie_tps=port.pcie_tps / 2, slot=slot)


def _low_mtu(port: Port) -> Port:
    return replace(port, mtu=1024 if port.mtu > 1024 else 256)


def _down(port: Port) -> Port:
    return replace(port, state="DOWN")


def _missing(nodes: Mapping[str, Node], target: PortId) -> Mapping[str, Node]:
    """Take a port out of its node; the kernel counts the devices that are left from zero."""
    node = nodes[target.node]
    left = [port for port in node.ports if port.id != target]
    gone = [_down(port) for port in node.ports if port.id == target]
    names = [port.device for port in node.ports]
    ports = tuple(replace(port, device=name) for port, name in zip(left, names, strict=False))
    missing = (*node.missing, *gone)
    return {**nodes, target.node: replace(node, ports=ports, missing=missing)}


def _without_routed_gids(port: Port) -> Port:
    return replace(port, gids=tuple(gid for gid in port.gids if gid.address.is_link_local))


def _fewer_lanes(port: Port) -> Port:
    width = max(1, port.width // 2)
    return replace(port, width=width, speed_bps=port.speed_bps * width / port.width)


def _signal(**changed: str | float | int) -> Callable[[Port], Port]:
    return lambda port: replace(port, signal=replace(port.signal, **changed))  # type: ignore[arg-type]  # checked when it is injected


def _slot(**changed: int) -> Callable[[Port], Port]:
    return lambda port: replace(port, slot=replace(port.slot, **changed))


def _hot(port: Port) -> Port:
    return replace(port, module=replace(port.module, celsius=78.0))


def _dirty(port: Port) -> Port:
    first, *others = port.module.received_dbm
    module = replace(port.module, received_dbm=(first - 9, *others))
    return _signal(raw_ber=2.6e-4)(replace(port, module=module))


def _weak_laser(port: Port) -> Port:
    first, *others = port.module.sent_dbm
    return replace(port, module=replace(port.module, sent_dbm=(first - 7, *others)))


def _low_at_both_ends(nodes: Mapping[str, Node], target: PortId) -> Mapping[str, Node]:
    """Give a port and the same rail of the next node the same low MTU."""
    names = list(nodes)
    start = names.index(target.node)
    order = [*names[start:], *names[:start]]
    pair = [name for name in order if any(p.id.rail == target.rail for p in nodes[name].ports)][:2]
    if len(pair) < 2:
        raise ConfigError(f"fault mtu_low_at_both_ends@{target}: expected two ports, found one")
    return {
        name: replace(
            node,
            ports=tuple(
                _low_mtu(port) if name in pair and port.id.rail == target.rail else port
                for port in node.ports
            ),
        )
        for name, node in nodes.items()
    }


FAULTS: tuple[Fault, ...] = (
    Fault(
        "link_speed",
        ("port",),
        "the port trains at half of the declared speed",
        "a worn or wrong cable, or a module that both ends agree on only at a lower rate",
        on_port=_half_speed,
    ),
    Fault(
        "pcie_width",
        ("port",),
        "the card's PCIe link has half of its lanes, and bandwidth is limited by it",
        "a card not fully seated, a dirty connector, or a slot wired with fewer lanes",
        on_port=_half_width,
    ),
    Fault(
        "pcie_speed",
        ("port",),
        "the card's PCIe link runs at half of the speed that both its ends can do",
        "a generation fixed in the BIOS, a riser, or a slot that trained down after errors",
        on_port=_slow_slot,
    ),
    Fault(
        "link_layer",
        ("port",),
        "the port is an InfiniBand port, where Ethernet is declared",
        "LINK_TYPE of the firmware left at its default after a card was swapped",
        on_port=lambda port: replace(port, layer=INFINIBAND),
        layers=(ETHERNET,),
    ),
    Fault(
        "nic_missing",
        ("port",),
        "the card is not there, and the names of those behind it shift",
        "a card that fell off the bus, a riser badly seated, or a slot switched off in the BIOS",
        on_fabric=_missing,
        spread="fabric",  # what all ports say at once cannot be told then
    ),
    Fault(
        "port_down",
        ("port",),
        "the link is down",
        "a cable pulled, a switch port shut, or no subnet manager",
        on_port=_down,
    ),
    Fault(
        "mtu_low",
        ("port",),
        "the active RDMA MTU is 1024",
        "an interface left at an MTU of 1500",
        on_port=_low_mtu,
    ),
    Fault(
        "mtu_low_at_both_ends",
        ("port",),
        "the active RDMA MTU of the port and of the same rail of the next node is 1024",
        "a rack whose interfaces were set up with an MTU of 1500: its nodes agree with one another",
        on_fabric=_low_at_both_ends,
        spread="next",
    ),
    Fault(
        "gid_missing",
        ("port",),
        "the port has no GID with an IP address",
        "the network device lost its address",
        on_port=_without_routed_gids,
        layers=(ETHERNET,),
    ),
    Fault(
        "shared_slot",
        ("node",),
        "the node's network cards share one PCIe link, which carries one of them at full rate",
        "cards behind one switch port, or a bifurcated slot: only load on both shows it",
        on_port=lambda port: replace(port, shares_slot=True),
    ),
    Fault(
        "fewer_lanes",
        ("port",),
        "the link trains with half of its lanes, and has half of its speed",
        "a split cable in the wrong port, or a dead lane of a module",
        on_port=_fewer_lanes,
    ),
    Fault(
        "fec_mode",
        ("port",),
        "the port runs without forward error correction",
        "FEC set by hand at one end, or by a switch profile for another cable",
        on_port=_signal(fec="Off"),
    ),
    Fault(
        "module_hot",
        ("port",),
        "the module has 78 C, above its own threshold for a warning",
        "a missing blanking panel, a failed fan, or a module without its heat sink",
        on_port=_hot,
    ),
    Fault(
        "dirty_optic",
        ("port",),
        "one lane receives 9 dB less light, and bit errors rise; what the port sends is sound",
        "dust on a connector, or a bent fibre",
        on_port=_dirty,
    ),
    Fault(
        "weak_laser",
        ("port",),
        "one lane of the module sends 7 dB less light",
        "a laser at the end of its life",
        on_port=_weak_laser,
    ),
    Fault(
        "high_ber",
        ("port",),
        "more bits are wrong than forward error correction can repair",
        "a marginal module, or a cable that is too long or damaged",
        on_port=_signal(raw_ber=3.4e-4, effective_ber=4e-11, lost_per_s=900.0),
    ),
    Fault(
        "uncorrectable",
        ("port",),
        "a few blocks a second cannot be corrected, although the bit error rate is low",
        "bursts of errors: a loose connector, or a disturbed power supply",
        on_port=_signal(lost_per_s=0.7),
    ),
    Fault(
        "link_flap",
        ("port",),
        "the link was lost 40 times, and is lost under load too",
        "a cable that is not latched, a module in the wrong mode, or a failing one",
        on_port=_signal(flaps=40),
    ),
    Fault(
        "flap_now_and_then",
        ("port",),
        "the link is lost for a moment once a minute, from the start of the lab on",
        "a cable that moves in the air of its fans, or a module that overheats and trains again",
        on_port=lambda port: replace(port, aging=Aging(flap_s=60.0)),
        layers=(ETHERNET,),
    ),
    Fault(
        "ber_creep",
        ("port",),
        "bit errors before correction double every 15 s from the start of the lab on",
        "a laser or a connector that gets worse as it warms up",
        on_port=lambda port: replace(port, aging=Aging(double_s=15.0)),
        layers=(ETHERNET,),
    ),
    Fault(
        "temperature_drift",
        ("port",),
        "the module gets warmer and warmer, by 40 C in the end",
        "a fan that fails, or a filter that clogs: hours of load show it",
        on_port=lambda port: replace(port, aging=Aging(warms=True)),
    ),
    Fault(
        "aer",
        ("port",),
        "the card's slot repairs errors all the time, several a second",
        "a marginal PCIe link: a riser, a retimer, a card that is not fully seated",
        on_port=_slot(correctable=418_220),
    ),
    Fault(
        "aer_uncorrectable",
        ("port",),
        "the card's slot has lost transactions",
        "a failing riser or card; the next one may end the driver",
        on_port=_slot(nonfatal=2),
    ),
    Fault(
        "max_read_request",
        ("port",),
        "the card may read only 512 bytes at once",
        "a firmware default of the machine that no tuning has raised",
        on_port=_slot(max_read_request=512),
    ),
    Fault(
        "root_only",
        ("node",),
        "modules, firmware and PCIe settings can be read by root only, who nobody may become",
        "a user without a line in sudoers",
        on_node=lambda node: replace(node, needs_root=True, sudo=()),
    ),
)
