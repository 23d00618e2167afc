"""An RDMA port as a sound node shows it, for tests to change."""

from __future__ import annotations

from pytest_fabric.results import PciHop, RdmaPort

PORT = RdmaPort(
    device="mlx5_0",
    number=1,
    pci="0000:1a:00.0",
    driver="mlx5_core",
    guid="0200:0000:0000:00a0",
    firmware="28.39.1002",
    psid="MT_0000000838",
    netdevs=("ens1",),
    link_layer="Ethernet",
    state="ACTIVE",
    physical_state="LinkUp",
    speed_bps=400e9,
    width=4,
    active_mtu=4096,
    gids=(),
    numa_node=0,
    local_cpus=None,
    irq_cpus=(),
    traffic_class=None,
    pcie=(PciHop("0000:1a:00.0", 32e9, 16, 32e9, 16), PciHop("0000:19:00.0", 32e9, 16, 32e9, 16)),
)
