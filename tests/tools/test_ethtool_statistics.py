"""`ethtool -S` is read by the driver's own names, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.tools import ethtool_statistics

DATA = Path(__file__).parents[1] / "data" / "ethtool-S"


def test_a_name_ends_at_the_last_colon_and_doubtful_values_are_left_out() -> None:
    assert ethtool_statistics.parse((DATA / "bnxt-rings.txt").read_text()) == {
        "[0]: rx_ucast_packets": 711,
        "[0]: rx_discards": 42,
        "[1]: rx_ucast_packets": 9,
        "[1]: rx_discards": 5,
        "rx_total_ring_discards": 47,
        "rx_stat_discard": 3,
        "rx_copybreak_pkt": 8,
    }


def test_a_real_capture_is_read_whole() -> None:
    values = ethtool_statistics.parse((DATA / "virtio.txt").read_text())

    assert len(values) == 14
    assert values["tx_queue_0_bytes"] == 1633071481


def test_an_excerpt_without_its_title_is_read() -> None:
    text = "port.rx_priority_3_xoff: 5\r\nrx_crc_errors.nic: 0\r\n"

    assert ethtool_statistics.parse(text) == {
        "port.rx_priority_3_xoff": 5,
        "rx_crc_errors.nic": 0,
    }


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("no stats available\n", "no_statistics"),
        ("Cannot get stats strings information: Operation not supported\n", "not_supported"),
        ("netlink error: No such device\n", "no_such_device"),
        ("Cannot get device settings: No such device\n", "no_such_device"),
        ("bash: ethtool: command not found\n", "tool_missing"),
        ("sudo: a password is required\n", "permission"),
    ],
)
def test_what_ethtool_says_instead_has_a_kind(text: str, kind: str) -> None:
    with pytest.raises(ToolError) as caught:
        ethtool_statistics.parse(text)

    assert caught.value.kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "NIC statistics:\n",
        "hello\n",
        "NIC statistics:\n     rx_bytes: 12\n     rx_pack",
        "NIC statistics:\n     rx_bytes: 12",
        "NIC statistics:\n     rx_bytes: many\n",
        "NIC statistics:\n     rx_bytes: 1.5\n",
        "NIC statistics:\n     rx_bytes: 1,500\n",
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(NotRecognisedError):
        ethtool_statistics.parse(text)


@given(st.integers(0, 600))
def test_a_cut_text_never_gives_a_wrong_value(length: int) -> None:
    text = (DATA / "bnxt-rings.txt").read_text()
    whole = ethtool_statistics.parse(text)

    try:
        part = ethtool_statistics.parse(text[:length])
    except NotRecognisedError:
        return
    wrong = {name: value for name, value in part.items() if whole.get(name, value) != value}
    assert wrong == {}


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_by_name(text: str) -> None:
    try:
        values = ethtool_statistics.parse(text)
    except (NotRecognisedError, ToolError):
        return
    assert all(isinstance(value, int) for value in values.values())


def test_the_command_names_one_device() -> None:
    assert ethtool_statistics.command("enp65s0f0np0") == ("ethtool", "-S", "enp65s0f0np0")


@pytest.mark.parametrize("netdev", ["", "-S", "eth0 eth1", "eth0;id", "eth0\n"])
def test_a_device_that_is_no_name_is_refused(netdev: str) -> None:
    with pytest.raises(ValueError, match="netdev"):
        ethtool_statistics.command(netdev)
