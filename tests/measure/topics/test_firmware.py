"""What cards say of their firmware: what runs, what is stored, for which board, which driver."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from pytest_fabric.measure.topics import firmware
from pytest_fabric.metrics import TOPICS
from pytest_fabric.results import Fact
from pytest_fabric.tools import allowed
from pytest_fabric.transport import Outcome

from .ends import LATE, MISSING, RDMA, outcome, subject

HANDLE = "pci/0000:1a:00.0"
DRIVER = "driver: mlx5_core\nversion: 24.10-1.1.4\nfirmware-version: 28.39.1002\n"


def devlink(running: dict[str, str], stored: dict[str, str], handle: str = HANDLE) -> Outcome:
    versions = {"fixed": {"fw.psid": "MT_0"}, "running": running, "stored": stored}
    return outcome(
        json.dumps({"info": {handle: {"driver": "mlx5_core", "versions": versions}}}) + "\n"
    )


def facts(info: Outcome, driver: Outcome = MISSING) -> dict[str, Fact]:
    outcomes = {"devlink": info, "driver-0": driver, "modules": MISSING}
    return dict(firmware.read(subject(), outcomes)["gpu001:rail0"])


@pytest.mark.parametrize(
    ("running", "stored", "word", "pending"),
    [
        ({"fw": "1.1", "fw.version": "1.1"}, {"fw": "1.1", "fw.version": "1.1"}, "1.1", 0),
        ({"fw": "1.1", "fw.version": "1.1"}, {"fw": "1.2", "fw.version": "1.2"}, "1.2", 1),
        ({"fw": "1.1"}, {"fw": "1.2"}, "1.2", 1),
        ({"fw": "1.1", "fw.undi": "7"}, {"fw": "1.1", "fw.undi": "8"}, "1.1", 1),
        ({"fw.version": "1.1"}, {}, None, None),
        ({}, {"fw.version": "1.1"}, None, None),
        ({"fw.mgmt": "1"}, {"fw.mgmt": "1"}, None, None),
    ],
)
def test_what_is_stored_and_not_run_waits_for_a_reset(
    running: dict[str, str], stored: dict[str, str], word: str | None, pending: int | None
) -> None:
    found = facts(devlink(running, stored))

    assert (found["firmware.stored"].value, found["firmware.pending"].value) == (word, pending)
    assert bool(found["firmware.pending"].detail) == (pending == 1)


def test_another_card_says_nothing_about_this_one() -> None:
    found = facts(devlink({"fw": "1"}, {"fw": "1"}, "pci/0000:1a:00.1"))

    assert "no stored firmware of pci/0000:1a:00.0" in (found["firmware.stored"].problem or "")


def test_running_firmware_and_board_are_those_of_sysfs() -> None:
    found = facts(MISSING)

    assert found["firmware.running"].value == "28.39.1002"
    assert found["firmware.psid"].value == "MT_0000000838"
    assert found.keys() == TOPICS["firmware"].keys()


@pytest.mark.parametrize(
    ("driver", "word"),
    [
        (outcome(DRIVER), "mlx5_core 24.10-1.1.4"),
        (outcome("driver: mlx5_core\nversion: \n"), "mlx5_core"),
        (outcome("driver: mlx5_core[ib_ipoib]\nversion: 6.8.0\n"), "mlx5_core 6.8.0"),
        (outcome("hello\n"), None),
        (outcome("Cannot get driver information: No such device\n"), None),
        (LATE, None),
        (MISSING, None),
    ],
)
def test_the_driver_has_its_version_where_it_tells_one(driver: Outcome, word: str | None) -> None:
    fact = facts(MISSING, driver)["firmware.driver"]

    assert fact.value == word
    assert (fact.problem is None) == (word is not None)


@pytest.mark.parametrize(
    ("info", "problem"),
    [
        (MISSING, "devlink is not installed: install iproute2"),
        (outcome(stderr="Failed to connect to devlink Netlink\n", status=1), "see not_available"),
        (
            outcome("", 1, "kernel answers: Operation not permitted\n"),
            "sudo: \\[devlink\\]",
        ),
        (outcome("hello\n"), "expected"),
        (LATE, "did not come to its end"),
    ],
)
def test_what_hides_the_stored_firmware_is_told(info: Outcome, problem: str) -> None:
    for metric in ("firmware.stored", "firmware.pending"):
        fact = facts(info)[metric]
        assert fact.value is None
        assert re.search(problem, fact.problem or "")


def test_a_card_that_does_not_tell_and_a_port_without_netdev() -> None:
    asked = subject(replace(RDMA, firmware=None, psid=None, netdevs=()))
    assert set(firmware.sections(asked)) == {"devlink", "modules"}

    found = firmware.read(asked, {"devlink": MISSING, "modules": LATE})["gpu001:rail0"]

    assert all(fact.value is None and fact.problem for fact in found.values())


@pytest.mark.parametrize(
    ("modules", "word"),
    [
        ("/sys/module/mlx5_core/version:24.10-1.1.4\n", "mlx5_core 24.10-1.1.4"),
        ("/sys/module/ixgbe/version:5.1\n", "mlx5_core 6.1"),
    ],
)
def test_a_port_without_netdev_has_the_version_of_its_module(modules: str, word: str) -> None:
    asked = subject(replace(RDMA, netdevs=()))
    outcomes = {"devlink": MISSING, "modules": outcome(modules)}

    assert firmware.read(asked, outcomes)["gpu001:rail0"]["firmware.driver"].value == word


def test_every_command_is_on_the_allow_list() -> None:
    for words in firmware.sections(subject()).values():
        allowed.require(words)


def test_hostile_versions_are_shown_without_their_power() -> None:
    found = facts(devlink({"fw": "1\x1b[2J"}, {"fw": "2\u202e"}), outcome("driver: a\x1bb\n"))

    shown = [str(fact.value) for fact in found.values()]
    assert all(word.isprintable() for word in shown)
