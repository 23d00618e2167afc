"""Devices of EFA, and BlueField as a DPU: what they show to the node that they are in."""

from __future__ import annotations

import pytest

from pytest_fabric.counters import missing, snapshot
from pytest_fabric.errors import ToolError
from pytest_fabric.results import RdmaPort
from pytest_fabric.tools import dcb_pfc, ibv_devinfo, mlnx_qos, perftest, sysfs

from .clusters import ROCE, fabric, port, run
from .controller import Controller

EFA = ROCE.replace("lab: {", 'lab: {adapters: {"gpu[001-004]": efa}, ')
DPU = ROCE.replace("lab: {", "lab: {adapters: {gpu001: bluefield3, gpu002: bluefield3-locked}, ")
NETDEV = "enp26s0np0"


def seen() -> RdmaPort:
    """Return what the parser makes of the files of a device of EFA."""
    paths = sysfs.paths()
    text = "".join(
        run(f"grep -sH . {' '.join(paths[name])}", EFA, "gpu001").stdout for name in paths
    )
    return sysfs.ports(sysfs.parse(text))[0]


def test_a_device_of_efa_has_no_link_layer_and_no_network_device() -> None:
    """rdma-core names such a device after its slot; 1a is 26."""
    one = seen()

    assert (one.device, one.driver, one.link_layer) == ("rdmap26s0", "efa", "Unknown")
    assert (one.netdevs, one.psid, one.state, one.speed_bps) == ((), None, "ACTIVE", 400e9)
    assert port(EFA).netdevs == ()
    told = run("ibv_devinfo", EFA, "gpu001").stdout
    assert ibv_devinfo.parse(told)[0].link_layer not in ("Ethernet", "InfiniBand")


@pytest.mark.parametrize("command", ["ib_write_bw", "ib_send_lat -n 1000"])
def test_a_device_of_efa_makes_no_reliable_connection(command: str) -> None:
    end = Controller(fabric(EFA), "gpu001").run(f"{command} -d rdmap26s0")

    assert end.status == "1"
    with pytest.raises(ToolError):
        perftest.parse(end.stdout + end.stderr)


def test_the_counters_of_efa_say_what_its_driver_can() -> None:
    base = "/sys/class/infiniband/rdmap26s0/ports/1/hw_counters"
    text = run(f"grep -sH . {base}/*", EFA, "gpu001").stdout
    found = snapshot("gpu001:rail0", "efa", text, "", "Unknown")
    asked = ("bytes", "packets", "discards", "retransmissions")

    assert not missing("efa", asked, "Unknown")
    assert {"tx_bytes", "rx_pkts", "rx_drops", "retrans_pkts"} <= found.values.keys()
    assert not run("cat /sys/class/infiniband/rdmap26s0/ports/1/counters/symbol_error", EFA).stdout


def test_the_host_of_a_dpu_sees_settings_that_nobody_made() -> None:
    """The DPU's own are those that count: traffic is in its class."""
    told = mlnx_qos.parse(run(f"mlnx_qos -i {NETDEV}", DPU, "gpu001").stdout)

    assert (told.trust, told.pfc) == ("pcp", ())
    assert dcb_pfc.parse(run(f"dcb -N -j pfc show dev {NETDEV}", DPU).stdout).pfc_priorities == ()
    assert port(DPU).priority_of(26) == 3
    assert run(f"cat /sys/class/net/{NETDEV}/ecn/roce_np/cnp_dscp", DPU).status == 1


def test_a_dpu_can_show_its_host_nothing() -> None:
    told = run(f"mlnx_qos -i {NETDEV}", DPU, "gpu002")

    assert told.status == 1
    with pytest.raises(ToolError):
        mlnx_qos.parse(told.stdout)
    assert run(f"dcb -N -j pfc show dev {NETDEV}", DPU, "gpu002").status == 1
    assert run("cat /sys/class/infiniband/mlx5_0/hca_type", DPU, "gpu002").stdout == "MT41692\n"
