"""What the lab's link tools print, read by our parsers, is what the lab's model holds."""

from __future__ import annotations

from itertools import product

import pytest

from pytest_fabric.errors import ToolError
from pytest_fabric.lab.process import Result
from pytest_fabric.tools import ethtool_fec, ethtool_module, lspci, mlxlink

from . import clusters
from .clusters import INFINIBAND, ROCE, port

NETDEV = port().netdevs[0]
PCI = "0000:1a:00.0"


def run(line: str, *fault: str, text: str = ROCE, node: str = "gpu001") -> Result:
    return clusters.run(line, text, node, *fault)


def test_fec_with_and_without_its_statistics() -> None:
    plain = ethtool_fec.parse(run(f"ethtool --show-fec {NETDEV}").stdout)[0]
    counted = ethtool_fec.parse(run(f"ethtool -I --show-fec {NETDEV}").stdout)[0]

    assert plain.active == counted.active == ["RS"]
    assert plain.uncorrectable_blocks is None
    assert counted.uncorrectable_blocks == 12


@pytest.mark.parametrize(
    ("fault", "active", "blocks"),
    [("fec_mode", "Off", 12), ("uncorrectable", "RS", 60_492), ("port_down", "None", 12)],
)
def test_fec_of_a_broken_port(fault: str, active: str, blocks: int) -> None:
    text = run(f"ethtool -I --show-fec {NETDEV}", f"{fault}@gpu001:rail0").stdout

    fec = ethtool_fec.parse(text)[0]
    assert fec.active == [active]
    assert fec.uncorrectable_blocks == pytest.approx(blocks, abs=700)


def test_a_module_has_the_light_of_the_model() -> None:
    module = ethtool_module.parse(run(f"ethtool -m {NETDEV}", "dirty_optic@gpu001:rail0").stdout)

    assert module.vendor == "NVIDIA"
    assert module.serial_number
    assert module.temperature_c == 48.5
    assert module.thresholds["temperature_high_warning_c"] == 75.0
    assert module.rx_power_dbm == [-7.88, 0.98, 1.31, 1.05]
    assert module.tx_power_dbm == [1.43, 1.28, 1.52, 1.36]


def test_serial_numbers_are_of_one_module_each() -> None:
    serials = set()
    for node, rail in product(("gpu001", "gpu002"), ("rail0", "rail1")):
        netdev = port(ROCE, f"{node}:{rail}").netdevs[0]
        text = run(f"ethtool -m {netdev}", node=node).stdout
        serials.add(ethtool_module.parse(text).serial_number)

    assert len(serials) == 4


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("ethtool -m none", "no_such_device"),
        ("ethtool --show-fec none", "no_such_device"),
        ("ethtool -m eno1", "not_supported"),
        ("ethtool -I --show-fec eno1", "not_supported"),
    ],
)
def test_ethtool_of_other_devices(line: str, kind: str) -> None:
    done = run(line)
    parse = ethtool_module.parse if "-m" in line else ethtool_fec.parse

    with pytest.raises(ToolError) as error:
        parse(done.stdout + done.stderr)
    assert (done.status, error.value.kind) == (1, kind)


@pytest.mark.parametrize(
    ("text", "node", "fec"), [(ROCE, "gpu001", "RS-FEC"), (INFINIBAND, "ib1", "RS_FEC")]
)
def test_the_firmwares_tool_says_what_the_model_holds(text: str, node: str, fec: str) -> None:
    fault = f"high_ber@{node}:rail0"
    address = port(text, f"{node}:rail0").pci
    line = f"mlxlink -d {address} -m -c --json"
    found = mlxlink.parse(run(line, fault, text=text, node=node).stdout)[0]

    assert (found.state, found.physical_state, found.width_lanes) == ("Active", "LinkUp", 4)
    assert fec in (found.fec or "")
    assert found.raw_physical_ber == 3e-4
    assert found.effective_physical_ber == 4e-11
    assert found.effective_physical_errors == pytest.approx(900 * 85_800, rel=0.01)
    assert found.time_since_last_clear_min == pytest.approx((86_400 - 600) / 60, rel=0.01)
    assert found.temperature_c in (48, 49)
    assert found.rx_power_dbm == [1.12, 0.98, 1.31, 1.05]
    healthy = mlxlink.parse(run(line, text=text, node=node).stdout)[0]
    assert healthy.effective_physical_ber == 0


def test_the_firmwares_tool_of_a_link_that_is_down() -> None:
    found = mlxlink.parse(run(f"mlxlink -d {PCI} -m -c --json", "port_down@gpu001:rail0").stdout)[0]

    assert (found.state, found.raw_physical_ber, found.fec) == ("Polling", None, None)
    assert found.module_vendor == "NVIDIA"


def test_the_firmwares_tool_knows_no_other_card() -> None:
    with pytest.raises(ToolError) as error:
        mlxlink.parse(run("mlxlink -d 0000:99:00.0 -m -c --json").stdout)
    assert error.value.kind == "no_such_device"


def test_lspci_shows_the_slot() -> None:
    (device,) = lspci.parse(run(f"lspci -vvv -D -s {PCI}", "max_read_request@gpu001:rail0").stdout)

    assert device.address == PCI
    assert device.max_read_request_bytes == 512
    assert (device.link_gt_s, device.link_width, device.link_max_width) == (32, 16, 16)
    assert device.driver == "mlx5_core"
    cards = [one for one in lspci.parse(run("lspci -vvv -D").stdout) if one.driver == "mlx5_core"]
    assert len(cards) == 2
    assert run("lspci -vvv -D -s 0000:99:00.0") == Result(0)


@pytest.mark.parametrize(
    "line", [f"ethtool -m {NETDEV}", f"mlxlink -d {PCI} -m -c --json", f"lspci -vvv -D -s {PCI}"]
)
def test_only_root_may_read_them(line: str) -> None:
    refused = run(line, "root_only@gpu001")

    assert "mitted" in refused.stderr or "denied" in refused.stdout + refused.stderr
    assert run(f"sudo -n {line}", "root_only@gpu001").stderr == "sudo: a password is required\n"


def test_errors_of_the_slot_are_files() -> None:
    base = "/sys/class/infiniband/mlx5_0/device"
    text = run(f"grep -sH . {base}/aer_dev_* {base}/../aer_dev_*", "aer@gpu001:rail0").stdout

    assert f"{base}/aer_dev_correctable:TOTAL_ERR_COR 418220\n" in text
    assert f"{base}/../aer_dev_fatal:TOTAL_ERR_FATAL 0\n" in text
    assert len(text.splitlines()) == 2 * 19
