"""A port of a switch has many spellings, and only those of one port are one."""

from __future__ import annotations

import pytest

from pytest_fabric.tools.names import is_switch_port


@pytest.mark.parametrize(
    ("planned", "seen"),
    [
        ("Ethernet1", "Et1"),
        ("et1", "Ethernet1"),
        ("Eth1", "Ethernet1/1"),
        ("Ethernet12/1", "Et12"),
        ("Ethernet1/1", "Eth1/1(Port1)"),
        ("Ethernet3/1/1", "Et3/1/1"),
        ("swp1", " SWP1 "),
        ("Ethernet 1/1", "Eth1/1"),
    ],
)
def test_spellings_of_one_port(planned: str, seen: str) -> None:
    assert is_switch_port(planned, seen)
    assert is_switch_port(seen, "something else", planned)


@pytest.mark.parametrize(
    ("planned", "seen"),
    [
        ("Ethernet1", "Ethernet11"),
        ("Ethernet1", "Ethernet1/2"),
        ("Ethernet1", "Ethernet1/1/1"),
        ("Ethernet1/1", "Ethernet1/1/1"),
        ("swp1", "swp1/1"),
        ("Ethernet8", "etp8"),
        ("eth", "ethernet"),
        ("Ethernet1", ""),
    ],
)
def test_other_ports(planned: str, seen: str) -> None:
    assert not is_switch_port(planned, seen)
    assert not is_switch_port(planned)
