"""Names of hardware and networks: one spelling each, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric.config import hardware
from pytest_fabric.errors import ConfigError

READERS: list[Callable[[object], object]] = [
    *(hardware.read_pci, hardware.read_guid, hardware.read_netdev, hardware.read_device),
    *(hardware.read_bond, hardware.read_gpu, hardware.read_network, hardware.read_address),
]


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0000:1a:00.0", "0000:1a:00.0"),
        ("1A:00.1", "0000:1a:00.1"),
        ("00000000:1A:1F.7", "0000:1a:1f.7"),
        ("10000:e1:00.0", "10000:e1:00.0"),
    ],
)
def test_pci_addresses_have_one_spelling(text: str, address: str) -> None:
    """Tools leave the domain out, or write it with eight digits."""
    assert hardware.read_pci(text) == address


@pytest.mark.parametrize("text", ["", "1a:00", "1a:20.0", "1a:00.8", "zz:00.0", "../1a:00.0"])
def test_what_is_no_pci_address_is_refused(text: str) -> None:
    """A device number has five bits, a function three."""
    with pytest.raises(ConfigError, match="expected a PCI address"):
        hardware.read_pci(text)


@pytest.mark.parametrize("text", ["0x248A07030012AB34", "248a07030012ab34", "248a:0703:0012:ab34"])
def test_guids_have_one_spelling(text: str) -> None:
    """sysfs, ibstat and rdma each write a GUID in their own way."""
    assert hardware.read_guid(text) == "248a:0703:0012:ab34"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("gpu001", ("gpu001", None)),
        ("gpu001:22", ("gpu001", 22)),
        ("10.0.0.1:2222", ("10.0.0.1", 2222)),
        ("[::1]:22", ("::1", 22)),
        ("[::1]", ("::1", None)),
        ("::1", ("::1", None)),
        ("fe80::1%eth0", ("fe80::1%eth0", None)),
    ],
)
def test_an_address_has_a_host_and_maybe_a_port(text: str, parts: tuple[str, int | None]) -> None:
    """The colons of IPv6 are no port."""
    assert hardware.split_address(text) == parts
    assert hardware.read_address(text) == text


@pytest.mark.parametrize(
    "text", ["", "a b", "-x", "a:0", "a:70000", "a:b", "[::1", "[x]:1", "u@h", "{name}", "a:1:2"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    """An address never looks like an option of ssh."""
    with pytest.raises(ConfigError, match="expected an address"):
        hardware.read_address(text)


@settings(deadline=None)
@given(
    st.sampled_from(READERS),
    st.one_of(
        st.none(),
        st.integers(),
        st.text(),
        st.text(alphabet="0123456789abcdef:.x/[]%{node}-"),
        st.lists(st.text()),
    ),
)
def test_any_value_is_read_or_refused(read: Callable[[object], object], value: object) -> None:
    """Nothing but ConfigError is ever raised."""
    try:
        found = read(value)
    except ConfigError as error:
        found = str(error)

    assert str(found).isprintable()
