"""The network cards that the lab has: what sysfs, PCI and libibverbs call them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from pytest_fabric.errors import ConfigError
from pytest_fabric.lab.gids import EUI_64, LOCAL_BIT, V2
from pytest_fabric.lab.model import Adapter


def _connectx(part_id: int, psid: str, firmware: str) -> Adapter:
    pci_id = f"15B3:{part_id:04X}"
    return Adapter(f"MT{part_id}", psid, firmware, pci_id=pci_id, part_id=part_id)


#: ConnectX-8, -7, -6 and -5 for a speed. Device ids from the kernel's mlx5 driver, PSID and
#: firmware of the ConnectX-7 from a public capture, the others of the same form.
CONNECTX = (
    (800e9, _connectx(4131, "MT_0000001222", "40.44.1036")),
    (400e9, _connectx(4129, "MT_0000000838", "28.39.1002")),
    (200e9, _connectx(4123, "MT_0000000223", "20.39.1002")),
    (0.0, _connectx(4119, "MT_0000000012", "16.35.3006")),
)

#: BCM57608. Words and firmware as in public captures of bnxt_re, which shows no board id; ids from
#: the kernel's bnxt_en; statistics are written once a second (BNXT_DEF_STATS_COAL_TICKS).
THOR2 = Adapter(
    "Broadcom NetXtreme-C/E RoCE Driver HCA",
    "",
    "231.0.154.0",
    driver="bnxt_en",
    pci_id="14E4:1760",
    vendor_id=0x14E4,
    part_id=0x1760,
    device="bnxt_re",
    oui=0x5C6F69,
    refresh_s=1.0,
    inline=96,
)

#: E810-C with a QSFP cage; ids from the kernel's ice. rdma-core names the device of irdma, which
#: speaks RoCE v2 only, after its slot. The service task of ice reads the port every two seconds.
E810 = Adapter(
    "IRDMA",
    "",
    "1.77",
    driver="ice",
    pci_id="8086:1592",
    vendor_id=0x8086,
    part_id=0x1592,
    device="irdma",
    is_named_by_slot=True,
    oui=0xB49691,
    gid_kinds=(V2,),
    refresh_s=2.0,
    inline=101,
)

#: EFA of the second generation. Ids of the kernel's efa (PCI_DEV_ID_EFA1_VF), firmware as its users
#: see it; rdma-core names a device of no known link layer after its slot. It has no board id.
EFA = Adapter(
    "",
    "",
    "0.0.0.0",
    driver="efa",
    pci_id="1D0F:EFA1",
    vendor_id=0x1D0F,
    part_id=0xEFA1,
    device="efa_",
    is_named_by_slot=True,
    oui=0x0E1A2B,
    is_srd=True,
)

#: BlueField-3; ids of the kernel's mlx5. As a DPU, its own system holds trust, PFC and ECN: the
#: host reads its own view of them, or nothing.
BLUEFIELD3 = Adapter(
    "MT41692", "MT_0000000884", "32.39.1002", pci_id="15B3:A2DC", part_id=41692, owner="dpu"
)

NAMED = {
    "thor2": THOR2,
    "e810": E810,
    "efa": EFA,
    "bluefield3": BLUEFIELD3,
    "bluefield3-locked": replace(BLUEFIELD3, owner="locked"),
}


def chosen(name: str | None, speed_bps: float, source: str) -> Adapter:
    """Return the adapter that `lab.adapters` names, or the usual one for a speed.

    Raises ConfigError on a name that is none; `source` is the file that names it.
    """
    if name is None:
        return next(adapter for least, adapter in CONNECTX if speed_bps >= least)
    if name not in NAMED:
        known = ", ".join(NAMED)
        raise ConfigError(f"{source}: lab.adapters: expected one of {known}, got {name!r}")
    return NAMED[name]


def guid(adapter: Adapter, node: int, rail: int) -> int:
    """Return the GUID of a card: its maker, then a serial number that we make up.

    Mellanox has its own form; the others make it of the MAC address, as EUI-64.
    """
    serial = node << 8 | rail
    if adapter.driver == "mlx5_core":
        return adapter.oui << 40 | 0x0300 << 24 | serial
    return (adapter.oui ^ LOCAL_BIT >> 24) << 40 | EUI_64 << 24 | serial


def devices(adapter: Adapter, pci: str, is_bond: bool = False) -> Iterator[str]:
    """Yield the names that an RDMA device may get, best first: `mlx5_0`, `rocep26s0`, `irdma0`.

    One of a bond of mlx5 is called `mlx5_bond_0`, and counted with the others.
    """
    if is_bond and adapter.driver == "mlx5_core":
        yield from (f"{adapter.device}bond_{index}" for index in count())
    if adapter.is_named_by_slot:
        domain, bus, rest = pci.split(":")
        slot, _, function = rest.partition(".")
        domains = f"P{int(domain, 16)}" if int(domain, 16) else ""
        functions = f"f{function}" if function != "0" else ""
        kind = "rdma" if adapter.is_srd else "roce"
        yield f"{kind}{domains}p{int(bus, 16)}s{int(slot, 16)}{functions}"
    for index in count():
        yield f"{adapter.device}{index}"
