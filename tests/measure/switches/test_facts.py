"""How a switch is set up: what its commands say of the end of a cable, and what hides it."""

from __future__ import annotations

import json

import pytest

from pytest_fabric.measure.switches.facts import METRICS, SECTIONS, VERSION, read_facts
from pytest_fabric.metrics import NOBODY
from pytest_fabric.results import Fact
from pytest_fabric.tools import allowed
from pytest_fabric.transport import Outcome
from tests.clusters import TEXT

from .texts import WRED, facts, far, lldp, outcome, rows, status


def read(changed: dict[str, Outcome], text: str = TEXT) -> dict[str, Fact]:
    """Return what a switch says of its end of the cable."""
    found = read_facts(far(text), facts(**changed))
    assert found.keys() == {"gpu001:rail0"}
    told = dict(found["gpu001:rail0"])
    assert told.keys() == {VERSION, *METRICS}
    return {name: told[name] for name in METRICS}


def test_commands_only_read() -> None:
    for words in SECTIONS.values():
        allowed.require(words)


def test_a_switch_that_is_set_up_well() -> None:
    """The plan names the port by its alias; PFC may be on for more than what is declared."""
    found = read({})

    assert {name: fact.value for name, fact in found.items()} == {
        "switch.state": "up",
        "switch.speed": 400e9,
        "switch.fec": "RS",
        "switch.mtu": 9100,
        "switch.neighbour": "gpu001",
        "switch.neighbour_port": "0c:42:a1:00:00:01",
        "switch.neighbour_description": "ens1",
        "switch.pfc_missing": 0,
        "switch.ecn_missing": 0,
    }
    assert "leaf-0 etp1 (Ethernet8)" in found["switch.state"].detail[0]


@pytest.mark.parametrize(
    ("said", "version", "problem"),
    [
        (outcome("SONiC Software Version: SONiC.1\n\nDocker images:\nNAME\n"), "SONiC.1", None),
        (outcome("SONiC Software Version: SONiC.1\n"), None, "is cut off"),
        (outcome("sh: show: not found\n"), None, "show version"),
        (None, None, "was not captured"),
    ],
)
def test_the_release_is_told_and_judged_by_nothing(
    said: Outcome | None, version: str | None, problem: str | None
) -> None:
    """What hides it hides nothing else."""
    outcomes = facts() if said is None else facts(version=said)
    found = read_facts(far(TEXT), outcomes)["gpu001:rail0"]

    assert found[VERSION].value == version
    assert (problem or "") in (found[VERSION].problem or "")
    assert found["switch.state"].value == "up"


MARKED = {"Ethernet8|3": {"wred_profile": "LOSSLESS"}}


@pytest.mark.parametrize(
    ("changed", "metric", "value"),
    [
        ({"status": status(alias="Eth1/1(Port1)")}, "switch.state", None),
        ({"status": status(fec="none")}, "switch.fec", "Off"),
        ({"status": status(fec="fc")}, "switch.fec", "BaseR"),
        ({"status": status(oper="down")}, "switch.state", "down"),
        ({"lldp": lldp(("Ethernet0", "gpu002", "x", "y"))}, "switch.neighbour", NOBODY),
        ({"pfc": rows(Ethernet8={"pfc_enable": "4"})}, "switch.pfc_missing", 1),
        ({"pfc": rows(Ethernet8={})}, "switch.pfc_missing", 1),
        ({"pfc": outcome("")}, "switch.pfc_missing", 1),
        ({"queues": outcome("")}, "switch.ecn_missing", 1),
        ({"wred": outcome("")}, "switch.ecn_missing", 1),
        ({"wred": rows(LOSSLESS={**WRED, "ecn": "ecn_none"})}, "switch.ecn_missing", 1),
        ({"wred": rows(LOSSLESS={**WRED, "ecn": "ecn_red"})}, "switch.ecn_missing", 1),
        ({"wred": rows(LOSSLESS={**WRED, "ecn": "ecn_green_red"})}, "switch.ecn_missing", 0),
        ({"wred": rows(LOSSLESS={**WRED, "wred_green_enable": "false"})}, "switch.ecn_missing", 1),
        ({"wred": rows(LOSSLESS={**WRED, "green_min_threshold": "0"})}, "switch.ecn_missing", 1),
        ({"wred": rows(OTHER=WRED)}, "switch.ecn_missing", 1),
        (
            {"queues": outcome(json.dumps({"Ethernet0,Ethernet8|3-4": MARKED["Ethernet8|3"]}))},
            "switch.ecn_missing",
            0,
        ),
        (
            {"queues": rows(**{"Ethernet8|3": {"wred_profile": "[WRED_PROFILE|LOSSLESS]"}})},
            "switch.ecn_missing",
            0,
        ),
    ],
)
def test_what_a_switch_says(changed: dict[str, Outcome], metric: str, value: object) -> None:
    assert read(changed)[metric].value == value


@pytest.mark.parametrize(
    ("changed", "metric", "told"),
    [
        ({"status": status(alias="etp7")}, "switch.mtu", "expected port etp1 of leaf-0 once"),
        ({"status": outcome("", 127, "sh: 1: show: not found\n")}, "switch.mtu", "expected SONiC"),
        ({"status": status(oper="down")}, "switch.speed", "the port is down"),
        ({"status": status(oper="down")}, "switch.fec", "the port is down"),
        ({"status": status(fec="auto")}, "switch.fec", "expected rs, fc or none, found auto"),
        ({"status": status(mtu="N/A")}, "switch.mtu", "does not say it"),
        ({"lldp": outcome("", 1)}, "switch.neighbour", "ended with status 1"),
        (
            {"lldp": lldp(*(("Ethernet8", name, "m", "d") for name in ("gpu001", "fw")))},
            "switch.neighbour",
            "hears 2 LLDP neighbours",
        ),
        ({"pfc": outcome("{", 0)}, "switch.pfc_missing", "by hand"),
        (
            {"queues": outcome("", 1, "Unable to connect to redis\n")},
            "switch.ecn_missing",
            "are the switch's containers up",
        ),
        (
            {"wred": rows(LOSSLESS={**WRED, "ecn": "ecn_new"})},
            "switch.ecn_missing",
            "expected a known word as ecn, found ecn_new",
        ),
        (
            {"wred": Outcome("deadline", None, "", "", False, 1.0)},
            "switch.ecn_missing",
            "did not come to its end",
        ),
    ],
)
def test_what_is_not_said_is_a_problem(changed: dict[str, Outcome], metric: str, told: str) -> None:
    """One line with the switch, and never a value in its place."""
    fact = read(changed)[metric]

    assert fact.value is None
    assert fact.problem is not None
    assert told in fact.problem
    assert fact.problem.startswith("leaf-0")
    assert "\n" not in fact.problem


def test_what_the_profile_does_not_declare_is_not_asked_for() -> None:
    """Without a lossless priority there is no PFC to miss, without ECN no thresholds."""
    lossy = read({}, TEXT.replace("lossless: [3], ", ""))
    unmarked = read({}, TEXT.replace("lossless: [3],", "lossless: [3], ecn: false,"))

    assert "no lossless priority" in (lossy["switch.pfc_missing"].inapplicable or "")
    assert "no lossless priority" in (lossy["switch.ecn_missing"].inapplicable or "")
    assert unmarked["switch.pfc_missing"].value == 0
    assert "no ECN" in (unmarked["switch.ecn_missing"].inapplicable or "")


def test_hostile_text_stays_on_its_line() -> None:
    """A neighbour may call itself anything."""
    fact = read({"lldp": lldp(("Ethernet8", "gpu\x1b[31m001", "a\x07b", "<b>"))})[
        "switch.neighbour"
    ]

    assert str(fact.value).isprintable()
    assert all(line.isprintable() for line in fact.detail)
