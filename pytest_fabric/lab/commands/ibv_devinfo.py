"""`ibv_devinfo [-d DEVICE]`: devices and ports as libibverbs sees them."""

from __future__ import annotations

from pytest_fabric.lab import gids
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import UNKNOWN, Port
from pytest_fabric.lab.process import Result

#: The number of an MTU in libibverbs: `enum ibv_mtu`.
MTU = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
DOWN, ACTIVE = "PORT_DOWN (1)", "PORT_ACTIVE (4)"
STATES = {"DOWN": DOWN, "POLLING": DOWN, "ACTIVE": ACTIVE}


def run(call: Call) -> Result:
    """Print every device, or the one that is asked for."""
    ports = call.node.functions
    if call.argv[1:2] == ("-d",) and len(call.argv) == 3:
        ports = tuple(port for port in ports if port.device == call.argv[2])
    elif len(call.argv) > 1:
        return Result(1, stderr="ibv_devinfo: the lab answers only: ibv_devinfo [-d DEVICE]\n")
    if not ports:
        return Result(255, stderr="No IB devices found\n")
    return Result(0, "".join(f"{_device(port)}\n" for port in ports))


def _device(port: Port) -> str:
    guid = gids.guid_text(port.guid)
    device = (
        ("transport:\t\t", "unspecified (4)" if port.adapter.is_srd else "InfiniBand (0)"),
        ("fw_ver:\t\t\t", port.adapter.firmware),
        ("node_guid:\t\t", guid),
        ("sys_image_guid:\t\t", guid),
        ("vendor_id:\t\t", f"{port.adapter.vendor_id:#06x}"),
        ("vendor_part_id:\t\t", str(port.adapter.part_id)),
        ("hw_ver:\t\t\t", "0x0"),
        *((("board_id:\t\t", port.adapter.psid),) if port.adapter.psid else ()),
        ("phys_port_cnt:\t\t", "1"),
    )
    only = (
        ("state:\t\t", STATES[port.state]),
        ("max_mtu:\t", "4096 (5)"),
        ("active_mtu:\t", f"{port.mtu} ({MTU[port.mtu]})"),
        ("sm_lid:\t\t", "1" if port.is_infiniband else "0"),
        ("port_lid:\t", str(port.lid)),
        ("port_lmc:\t", "0x00"),
        ("link_layer:\t", "Unspecified" if port.layer == UNKNOWN else port.layer),
    )
    lines = [f"hca_id:\t{port.device}", *(f"\t{key}\t{value}" for key, value in device)]
    lines += ["\t\tport:\t1", *(f"\t\t\t{key}\t{value}" for key, value in only)]
    return "\n".join(lines) + "\n"
