"""The command lines of the RDMA and InfiniBand tools: read-only, and with checked names."""

from __future__ import annotations

import pytest

from pytest_fabric.tools import (
    ib_words,
    ibdev2netdev,
    iblinkinfo,
    ibnetdiscover,
    ibstat,
    ibstatus,
    ibv_devices,
    perfquery,
    rdma_link,
    rdma_statistic,
    show_gids,
    sminfo,
)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (ibstat.command(), "ibstat"),
        (ibstat.command("mlx5_0"), "ibstat mlx5_0"),
        (ibstatus.command("mlx5_0"), "ibstatus mlx5_0"),
        (ibv_devices.command(), "ibv_devices"),
        (ibdev2netdev.command(verbose=True), "ibdev2netdev -v"),
        (show_gids.command("mlx5_bond_0"), "show_gids mlx5_bond_0"),
        (rdma_link.command(), "rdma -j link show"),
        (rdma_statistic.command(), "rdma -j statistic show"),
        (rdma_statistic.command("mlx5_0", 2), "rdma -j statistic show link mlx5_0/2"),
        (iblinkinfo.command(), "iblinkinfo --line"),
        (
            iblinkinfo.command(device="mlx5_0", port=2, is_near=True),
            "iblinkinfo --line -C mlx5_0 -P 2 -D 0",
        ),
        (sminfo.command("mlx5_0", 1), "sminfo -C mlx5_0 -P 1"),
        (ibnetdiscover.command(ports=True), "ibnetdiscover -p"),
        (sminfo.command(), "sminfo"),
        (perfquery.command(3, 9), "perfquery 3 9"),
        (perfquery.command(3, 9, extended=True), "perfquery -x 3 9"),
    ],
)
def test_a_command_line_only_reads(words: tuple[str, ...], line: str) -> None:
    assert " ".join(words) == line


@pytest.mark.parametrize("name", ["", "-R", "mlx5_0 1", "mlx5_0;id", "../x", "mlx5_0\n"])
def test_what_is_no_device_is_never_sent(name: str) -> None:
    for command in (ibstat.command, ibstatus.command, show_gids.command, rdma_statistic.command):
        with pytest.raises(ValueError, match="device"):
            command(name)


@pytest.mark.parametrize(("lid", "port"), [(0, 1), (1, 0), (0xC000, 1), (1, 255), (True, 1)])
def test_a_port_is_asked_by_numbers_of_one_port(lid: int, port: int) -> None:
    with pytest.raises(ValueError, match=r"lid|port"):
        perfquery.command(lid, port)


@pytest.mark.parametrize(
    ("word", "state"),
    [("Initializing", "INIT"), ("Initialize", "INIT"), ("Active", "ACTIVE"), ("???", None)],
)
def test_a_state_has_one_spelling(word: str, state: str | None) -> None:
    assert ib_words.state(word) == state


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("LINK_UP", "LinkUp"),
        ("LINK_ERROR_RECOVER", "LinkErrorRecovery"),
        ("Phy Test", "PhyTest"),
        ("ARMED", "PortConfigurationTraining"),
        ("OPA_OFFLINE", None),
    ],
)
def test_a_physical_state_has_one_spelling(word: str, state: str | None) -> None:
    assert ib_words.physical_state(word) == state
