"""Each fault changes what it says, where it says, and nothing else."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest

from pytest_fabric.errors import ConfigError
from pytest_fabric.lab.faults import CATALOGUE
from pytest_fabric.lab.faults.tools import PERFTEST
from pytest_fabric.lab.faults.wide import WIDE
from pytest_fabric.lab.model import Node, Port

from .clusters import INFINIBAND, ROCE, nodes, port

#: The fields that each fault on a port changes, nearly always one.
CHANGES = {
    "latency_tail": "tail",
    "link_speed": "speed_bps",
    "pause_rx": "paused",
    "pcie_width": "pcie_width",
    "gpu_detour": "gpu_passes",
    "default_class": "best_effort",
    "server_dies": "server_dies",
    "port_down": "state",
    "gid_missing": "gids",
    "mtu_low": "mtu",
    "counter_missing": "hidden_counters",
    "tool_garbage": "tool",
    "tool_silent": "tool",
    "tool_hangs": "tool",
    "row_then_error": "tool",
    "slow_core": "tool",
    "rdma_context": "is_held",
    "foreign_traffic": "foreign",
    "pause_storm": "storms",
    "packet_loss": "loses",
    "fewer_lanes": "speed_bps width",
    "pcie_speed": "pcie_tps slot",
    "link_layer": "layer",
    "fec_mode": "signal",
    "module_hot": "module",
    "dirty_optic": "module signal",
    "weak_laser": "module",
    "high_ber": "signal",
    "uncorrectable": "signal",
    "link_flap": "signal",
    "flap_now_and_then": "aging",
    "ber_creep": "aging",
    "temperature_drift": "aging",
    "aer": "slot",
    "aer_uncorrectable": "slot",
    "max_read_request": "slot",
    "cable_wrong_port": "switch_port",
    "cable_missing_lldp": "has_neighbour",
    "pfc_off": "lossless",
    "pfc_other_priority": "lossless",
    "trust_pcp": "trust",
    "dscp_map": "priorities",
    "ecn_np_off": "ecn",
    "ecn_rp_off": "ecn",
    "cnp_class": "cnp",
    "global_pause": "global_pause",
    "gid_v1_only": "gids",
    "tclass_override": "class_override",
    "netdev_mtu": "mtu",
    **dict.fromkeys(
        ("switch_pfc_off", "switch_ecn_off", "switch_fec", "switch_errors", "switch_drops"), "edge"
    ),
    "ping_loss": "loss",
    "ping_blocked": "filters_ping",
    "path_mtu": "path_mtu",
    "slow_reply": "late_s",
    "rdma_blocked": "drops_rdma",
    "tcp_slow_core": "stack",
    "tcp_bad_path": "bad_path",
    "numa_unknown": "numa",
    "irqs_one_core": "irqs",
    "irqs_remote": "irqs",
    "firmware_pending": "stored_firmware",
    "firmware_minority": "adapter",
    "firmware_declared": "adapter",
    "damaged_in": "damaged",
    "damaged_out": "damages",
    "slow_receiver": "takes",
    "link_polling": "state",
    "wrong_numa": "numa",
    "gid_shifted": "gids",
    "half_bandwidth": "passes",
    "counter_late": "adapter",
    "tool_truncated": "tool",
    "tool_locale": "tool",
    **dict.fromkeys(
        ("narrow_slot_above", "latency_all", "slow_sender", "leftover_server"), "quirks"
    ),
    **dict.fromkeys(("counter_unreadable", "counter_reset", "counter_wraps"), "quirks"),
}

#: The same, of faults that a port on InfiniBand only can have.
INFINIBAND_CHANGES = {
    "wrong_partition": "pkeys",
    "no_data_lane": "drops_rdma",
    "no_lid": "lid",
    "second_manager": "sm_lid",
    "slow_ib_link": "uplink",
    "ib_link_down": "uplink",
    "counter_saturated": "quirks",
}


def changed(one: Port | Node, other: Port | Node) -> list[str]:
    return [
        field.name
        for field in fields(one)
        if getattr(one, field.name) != getattr(other, field.name)
    ]


def test_every_fault_is_covered_here() -> None:
    on_nodes = {name for name, fault in CATALOGUE.items() if fault.places == ("node",)}

    between = {name for name, fault in CATALOGUE.items() if fault.on_fabric is not None}

    wide = {name for name, fault in CATALOGUE.items() if WIDE & set(fault.places)}  # test_wide

    bonds = {name for name, fault in CATALOGUE.items() if fault.of_bonds}  # test_bonds

    assert set(CATALOGUE) == {*CHANGES, *INFINIBAND_CHANGES, *on_nodes, *between, *wide, *bonds}


@pytest.mark.parametrize("name", CHANGES)
def test_a_fault_on_a_port_changes_one_thing_of_that_port(name: str) -> None:
    healthy, faulty = nodes(), nodes(ROCE, f"{name}@gpu002:rail1")

    assert [name for name in healthy if healthy[name] != faulty[name]] == ["gpu002"]
    assert changed(healthy["gpu002"], faulty["gpu002"]) == ["ports"]
    before, after = healthy["gpu002"].ports, faulty["gpu002"].ports
    assert before[0] == after[0]
    assert changed(before[1], after[1]) == CHANGES[name].split()


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [
        ("tool_missing", "missing_tools", PERFTEST),
        ("ssh_down", "ssh", "down"),
        ("ssh_silent", "ssh", "silent"),
        ("gpu_job", "gpu_job", True),
    ],
)
def test_a_fault_on_a_node_changes_that_node(name: str, field: str, value: object) -> None:
    healthy, faulty = nodes(), nodes(ROCE, f"{name}@gpu003")

    assert faulty["gpu003"] == replace(healthy["gpu003"], **{field: value})  # type: ignore[arg-type]
    assert [name for name in healthy if healthy[name] != faulty[name]] == ["gpu003"]


def test_a_fault_of_ports_can_be_given_to_all_of_a_node() -> None:
    assert {port.tool for port in nodes(ROCE, "tool_hangs@gpu001")["gpu001"].ports} == {"hangs"}


def test_devices_behind_a_card_that_is_not_there_have_other_names() -> None:
    """The switch still has its end of the cable."""
    healthy, faulty = nodes(), nodes(ROCE, "nic_missing@gpu002:rail0")

    assert changed(healthy["gpu002"], faulty["gpu002"]) == ["ports", "missing"]
    left, gone = faulty["gpu002"].ports, faulty["gpu002"].missing
    assert [(str(port.id), port.pci, port.device) for port in left] == [
        ("gpu002:rail1", "0000:3a:00.0", "mlx5_0")
    ]
    assert [(str(port.id), port.state) for port in gone] == [("gpu002:rail0", "DOWN")]


def test_faults_add_up() -> None:
    faulty = port(ROCE, "gpu001:rail0", "link_speed@gpu001:rail0", "mtu_low@gpu001:rail0")

    assert (faulty.speed_bps, faulty.mtu) == (200e9, 1024)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("link_speed", "expected NAME@TARGET"),
        ("link_sped@gpu001:rail0", "expected link_speed, got 'link_sped'"),
        ("zzz@gpu001:rail0", "expected [a-z_]+, got 'zzz'"),
        ("link_speed@gpu01:rail0", "expected gpu001, got 'gpu01'"),
        ("link_speed@gpu001:rail9", "expected rail1, got 'rail9'|expected rail0, got 'rail9'"),
        ("link_speed@gpu001", "expected a port, such as link_speed@gpu001:rail0"),
        ("ssh_down@gpu001:rail0", "expected a node, such as ssh_down@gpu001, got"),
    ],
)
def test_a_wrong_fault_is_told_in_one_line(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        nodes(ROCE, text)

    assert str(caught.value).count("\n") == 0
    assert f"fault {text!r}" in str(caught.value)


def test_pause_is_nothing_for_infiniband() -> None:
    with pytest.raises(ConfigError, match="expected a port on Ethernet, ib1:rail0 is on Infini"):
        nodes(INFINIBAND, "pause_rx@ib1:rail0")


def test_every_fault_says_what_it_is_and_why_it_happens() -> None:
    for fault in CATALOGUE.values():
        assert fault.text
        assert fault.cause
        assert set(fault.places) <= {"node", "port"} or fault.places[0] in WIDE
        changes = (fault.on_node, fault.on_port, fault.on_fabric, fault.on_uplink)
        assert sum(change is not None for change in changes) == 1


@pytest.mark.parametrize("name", INFINIBAND_CHANGES)
def test_a_fault_of_infiniband_changes_one_thing_of_that_port(name: str) -> None:
    healthy, faulty = nodes(INFINIBAND), nodes(INFINIBAND, f"{name}@ib2:rail0")

    assert [name for name in healthy if healthy[name] != faulty[name]] == ["ib2"]
    before, after = healthy["ib2"].ports[0], faulty["ib2"].ports[0]
    assert changed(before, after) == [INFINIBAND_CHANGES[name]]


@pytest.mark.parametrize(
    ("target", "ends"),
    [
        ("gpu002:rail1", {"gpu002:rail1": "leaf-1 swp3", "gpu003:rail1": "leaf-1 swp2"}),
        ("gpu004:rail0", {"gpu004:rail0": "leaf-0 swp1", "gpu001:rail0": "leaf-0 swp4"}),
        ("gpu002", {"gpu002:rail0": "leaf-1 swp2", "gpu002:rail1": "leaf-0 swp2"}),
    ],
)
def test_swapped_cables_are_those_of_two_ports(target: str, ends: dict[str, str]) -> None:
    before = {port.id: port for node in nodes().values() for port in node.ports}
    faulty = nodes(ROCE, f"cable_swapped@{target}")
    after = {port.id: port for node in faulty.values() for port in node.ports}

    moved = {name: port for name, port in after.items() if port != before[name]}
    assert {str(name): f"{p.switch} {p.switch_port}" for name, p in moved.items()} == ends
    assert all(
        set(changed(before[name], moved[name])) <= {"switch", "switch_port"} for name in moved
    )


def test_one_cable_cannot_be_swapped() -> None:
    with pytest.raises(ConfigError, match="expected two cables to swap, found one"):
        nodes(INFINIBAND, "cable_swapped@ib1")
