"""Devices of EFA, and BlueField as a DPU: what they show to the node that they are in."""

from __future__ import annotations

import pytest

from pytest_fabric.counters import missing, snapshot
from pytest_fabric.errors import ToolError
from pytest_fabric.results import RdmaPort
from pytest_fabric.tools import dcb_pfc, ibv_devinfo, mlnx_qos, perftest, sysfs

from .clusters import ROCE, fabric, port, run
from .controller import Controller
from .perftest_pairs import Pair

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


SRD = "-d rdmap26s0 -c SRD -x 0"


@pytest.mark.parametrize("tool", ["ib_write_lat", "ib_read_lat", "ib_send_lat"])
def test_a_pair_of_efa_is_measured_over_srd(tool: str) -> None:
    """The header is that of perftest on a real device: transport unknown, link type IB."""
    end, _ = Pair(fabric(EFA)).run(f"{tool} {SRD} -s 4 -n 1000")
    told = perftest.parse(end.stdout)

    assert " Connection type : SRD" in end.stdout
    assert "Transport type : Unknown" in end.stdout
    assert (told.gid_index, told.link_type) == (0, "IB")
    assert 10e-6 < (told.latency[0].median_s or 0) < 40e-6


def test_what_goes_over_srd_is_counted_by_efa() -> None:
    pair = Pair(fabric(EFA, "damaged_out@gpu001:rail0"))
    base = "/sys/class/infiniband/rdmap26s0/ports/1/hw_counters"
    read = f"cat {base}/tx_bytes {base}/retrans_pkts"
    before = [int(line) for line in pair.client.run(read).stdout.split()]
    end, _ = pair.run(f"ib_write_bw {SRD} -s 8192 -D 5 -q 4")
    after = [int(line) for line in pair.client.run(read).stdout.split()]

    row = perftest.parse(end.stdout).bandwidth[0]
    assert after[0] - before[0] >= row.bytes * row.iterations
    assert after[1] > before[1]


@pytest.mark.parametrize(
    ("text", "options"), [(ROCE, "-d mlx5_0 -c SRD"), (EFA, "-d rdmap26s0"), (EFA, "-c XRC")]
)
def test_a_connection_that_a_device_has_not_got_is_an_error(text: str, options: str) -> None:
    end = Controller(fabric(text), "gpu001").run(f"ib_write_bw {options}")

    assert end.status == "1"
    assert "Unable to create QP" in end.stderr or "connections RC, SRD" in end.stderr
