"""`ibv_devinfo` gives every port whole, or says why there is none."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.tools import ibv_devinfo
from pytest_fabric.tools.ibv_devinfo import DevicePort

DATA = Path(__file__).parents[1] / "data" / "ibv_devinfo"
TWO = (DATA / "two-devices.txt").read_text()

FIRST = DevicePort("mlx5_2", 1, 4, 4096, 4096, "Ethernet", "InfiniBand", "28.41.1000")


def test_every_port_of_every_device_is_shown() -> None:
    assert ibv_devinfo.parse(TWO) == [
        FIRST,
        DevicePort("mlx5_3", 1, 1, 1024, 4096, "InfiniBand", "InfiniBand", "28.41.1000"),
        DevicePort("mlx5_3", 2, 2, None, 4096, "InfiniBand", "InfiniBand", "28.41.1000"),
    ]


def test_the_verbose_form_and_its_many_keys_make_no_difference() -> None:
    assert ibv_devinfo.parse((DATA / "softroce-verbose.txt").read_text()) == [
        DevicePort("rxe0", 1, 4, 4096, 4096, "Ethernet", "InfiniBand", "0.0.0")
    ]


def test_a_device_that_is_neither_keeps_its_words() -> None:
    (port,) = ibv_devinfo.parse((DATA / "efa.txt").read_text())

    assert (port.transport, port.link_layer) == ("unspecified", "Unspecified")


def test_expanded_tabs_make_no_difference() -> None:
    assert ibv_devinfo.parse(TWO.expandtabs(8)) == ibv_devinfo.parse(TWO)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("No IB devices found\n", "no_devices"),
        (
            "libibverbs: Warning: couldn't open config directory '/etc/libibverbs.d'.\n"
            "No IB devices found\n",
            "no_provider",
        ),
        ("Failed to get IB devices list: Function not implemented\n", "no_rdma_subsystem"),
        ("IB device 'mlx5_7' wasn't found\n", "device_not_found"),
        (TWO + "Failed to query port 1 props\n", "device_not_readable"),
        ("sh: 1: ibv_devinfo: not found\n", "tool_missing"),
    ],
)
def test_what_it_says_instead_has_a_kind(text: str, kind: str) -> None:
    with pytest.raises(ToolError) as caught:
        ibv_devinfo.parse(text)

    assert caught.value.kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello\n",
        TWO.replace("active_mtu", "other_mtu"),
        TWO.replace("PORT_ACTIVE (4)", "PORT_ACTIVE"),
        TWO.replace("Ethernet", "Ether"),
        TWO.replace("phys_port_cnt:\t\t\t2", "phys_port_cnt:\t\t\t4"),
        TWO.replace("phys_port_cnt", "ports"),
        TWO.replace("InfiniBand (0)", ""),
        TWO.replace("hca_id:\t", "hca_id:\n"),
    ],
)
def test_a_port_that_is_not_whole_is_refused(text: str) -> None:
    with pytest.raises(NotRecognisedError):
        ibv_devinfo.parse(text)


@settings(deadline=None)
@given(st.integers(0, len(TWO)))
def test_a_cut_text_gives_the_first_devices_or_none(length: int) -> None:
    try:
        part = ibv_devinfo.parse(TWO[:length])
    except NotRecognisedError:
        return
    assert part == ibv_devinfo.parse(TWO)[: len(part)]


def test_the_command_shows_all_devices() -> None:
    assert ibv_devinfo.command() == ("ibv_devinfo",)
