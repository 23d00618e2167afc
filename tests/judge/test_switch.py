"""The switch end of a cable, held against the host's end."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from pytest_fabric.config import Cable
from pytest_fabric.errors import MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.switch import Host, SwitchResult
from pytest_fabric.metrics import NOBODY
from pytest_fabric.results import Fact, Port

PORT = Port("gpu001", "rail0")
CABLE = Cable(port=PORT, switch="leaf-0", switch_port="swp1", source="cables.csv:2")


def result(
    fec: Fact = Fact("RS"),  # noqa: B008 - frozen
    neighbour: tuple[str, str, str] = ("gpu001", "0c:42:a1:00:00:01", "ens1"),
    link: Mapping[str, Fact] | None = None,
    wiring: tuple[str, str, str] | None = None,
) -> SwitchResult:
    """Return what a switch says of the port, whose host says what is given."""
    words = ("neighbour", "neighbour_port", "neighbour_description")
    heard = {
        f"switch.{word}": Fact(value, detail=(f"hears {neighbour[0]}",))
        for word, value in zip(words, neighbour, strict=True)
    }
    words = ("switch", "switch_port", "port_description")
    seen = {f"wiring.{word}": Fact(value) for word, value in zip(words, wiring or (), strict=False)}
    said = {"link": {"link.fec": Fact("RS")} if link is None else link, "wiring": seen}
    host = Host(
        names=frozenset({"gpu001", "gpu001.mgmt.example"}),
        netdevs=lambda: frozenset({"ens1"}),
        facts=lambda topic: said[topic],
    )
    facts = {"switch.fec": fec, **heard}
    return SwitchResult(str(PORT), "switch", facts, Ledger(), cable=CABLE, host=host)


@pytest.mark.parametrize(
    ("far", "near", "differs"),
    [("RS", "RS", 0), ("Off", "RS", 1), ("RS", "BaseR", 1), ("Off", "None", 0), ("Off", "Off", 0)],
)
def test_both_ends_must_have_one_fec(far: str, near: str, differs: int) -> None:
    """No FEC has two names at the host's end."""
    value = result(Fact(far), link={"link.fec": Fact(near)}).fec_differs

    assert value.number == differs
    assert value.detail == (f"the host has {near}, the switch {far}",)


@pytest.mark.parametrize(
    ("fec", "link", "told"),
    [
        (Fact(None, "the port is down"), {"link.fec": Fact("RS")}, "the port is down"),
        (Fact("RS"), {"link.fec": Fact(None, "ethtool is not installed")}, "not installed"),
        (Fact("RS"), {}, "does not say"),
    ],
)
def test_an_end_that_does_not_say_its_fec_is_an_error(
    fec: Fact, link: Mapping[str, Fact], told: str
) -> None:
    with pytest.raises(MissingValueError, match=told):
        _ = result(fec, link=link).fec_differs


@pytest.mark.parametrize(
    ("neighbour", "wiring", "misplaced"),
    [
        (("gpu001", "0c:42:a1:00:00:01", "ens1"), None, 0),
        (("GPU001.example.com", "ens1", "uplink"), ("leaf-0", "swp1", "swp1"), 0),
        (("gpu002", "0c:42:a1:00:00:02", "ens1"), None, 1),
        (("gpu001", "0c:42:a1:00:00:01", "ens2"), None, 1),
        ((NOBODY, NOBODY, NOBODY), None, 1),
        (("gpu001", "m", "ens1"), ("leaf-1", "swp1", "swp1"), 1),
        (("gpu001", "m", "ens1"), ("leaf-0", "swp2", "swp2"), 1),
        (("gpu001", "m", "ens1"), (NOBODY, NOBODY, NOBODY), 0),
    ],
)
def test_both_ends_must_hear_each_other_as_planned(
    neighbour: tuple[str, str, str], wiring: tuple[str, str, str] | None, misplaced: int
) -> None:
    """A host that hears nothing has a check of its own; one that hears another switch has not."""
    value = result(neighbour=neighbour, wiring=wiring).misplaced

    assert value.number == misplaced
    assert "planned gpu001:rail0 at leaf-0 swp1 (cables.csv:2)" in value.detail[0]
    assert (wiring is None or not misplaced) or f"the host hears {wiring[0]}" in value.detail[0]


def test_what_is_read_is_on_the_ledger() -> None:
    """So that a test which passes has looked at something."""
    one = result()

    assert one.fec_differs == 0
    assert one.misplaced == 0
    assert {"switch.fec_differs", "switch.misplaced"} <= set(one.ledger.reads)
