"""Virtual functions of cards (SR-IOV): RDMA devices beside those of the cards themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_fabric import results
from pytest_fabric.lab import gids
from pytest_fabric.lab.filesystem import Entry, Symlink
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.slots import path

#: Virtual functions of a card, of which the first has the function number 2 behind two ports: what
#: the lab's buses have room for, and what the firmware of a ConnectX allows at most by default.
FIRST, MOST = 2, 8


def functions(port: Port, count: int) -> Iterator[Port]:
    """Yield the virtual functions of a card: with a link of their own, and no address."""
    bus = port.pci.rpartition(":")[0]
    for number in range(count if port.netdevs else 0):
        slot, function = divmod(FIRST + number, 8)
        guid = port.guid ^ (number + 1) << 16
        netdev = f"{port.netdevs[0][:12]}v{number}"
        local = gids.table(port.layer, guid, port.address, netdev, port.adapter.gid_kinds)
        yield replace(
            port,
            id=results.Port(port.id.node, f"{port.id.rail}v{number}"),
            device="",
            netdevs=(netdev,),
            pci=f"{bus}:{slot:02x}.{function}",
            guid=guid,
            gids=tuple(gid for gid in local if gid.address.is_link_local),
            physical=port.pci,
            gpu="",
        )


def links(port: Port, all_virtual: tuple[Port, ...]) -> dict[str, Entry]:
    """Return what the PCI directory of a card, or of a function of it, says of the others."""
    if port.physical:
        # The kernel does not know the link of a virtual function, which has none of its own.
        return {
            "physfn": Symlink(path(port.physical)),
            "current_link_speed": "Unknown",
            "current_link_width": "0",
        }
    own = [one for one in all_virtual if one.physical == port.pci]
    if not own:
        return {}
    return {
        "sriov_numvfs": str(len(own)),
        "sriov_totalvfs": str(MOST),
        **{f"virtfn{place}": Symlink(path(one.pci)) for place, one in enumerate(own)},
    }
