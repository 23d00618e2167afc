"""The lab as a process: one line of JSON, the ways it ends, and one line when it cannot begin."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_fabric.lab.__main__ import main

from .clusters import ROCE

Running = subprocess.Popen[str]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.yaml"
    path.write_text(ROCE)
    return path


def start(*arguments: object) -> Running:
    return subprocess.Popen(
        [sys.executable, "-m", "pytest_fabric.lab", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def status(arguments: list[str]) -> int:
    """Return the exit status of a command line that cannot begin, run in this process."""
    try:
        return main(arguments)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1


def read_line(lab: Running) -> str:
    assert lab.stdout is not None
    return lab.stdout.readline()


def test_it_says_where_its_nodes_are_and_ends_with_its_input(file: Path) -> None:
    lab = start(file, "--fault", "link_speed@gpu001:rail0", "--seed", 3, "--time", 0.001)
    ready = json.loads(read_line(lab))

    assert ready.keys() == {"nodes", "user", "host_key", "client_key"}
    assert list(ready["nodes"]) == ["gpu001", "gpu002", "gpu003", "gpu004"]
    assert ready["user"] == "lab"
    assert ready["host_key"].startswith("ssh-ed25519 AAAA")
    assert ready["client_key"].startswith("-----BEGIN OPENSSH PRIVATE KEY-----\n")
    with socket.create_connection(("127.0.0.1", ready["nodes"]["gpu001"])) as connection:
        assert connection.recv(4) == b"SSH-"
    assert lab.communicate(timeout=10) == ("", "")
    assert lab.returncode == 0


def test_it_ends_when_it_is_told_and_not_when_its_user_presses_ctrl_c(file: Path) -> None:
    """Ctrl-C reaches every process of a terminal; the run above still needs its lab."""
    lab = start(file)
    json.loads(read_line(lab))
    os.kill(lab.pid, signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        lab.wait(0.2)

    os.kill(lab.pid, signal.SIGTERM)

    assert lab.wait(10) == 0
    assert lab.communicate() == ("", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--fault", "link_sped@gpu001:rail0"], "expected link_speed, got 'link_sped'"),
        (["--fault", "ssh_down@gpu9"], "got 'gpu9'"),
        (["--time", "-1"], "argument --time: expected a number from 0 to 10, got '-1'"),
        (["--nothing"], "unrecognized arguments: --nothing"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    file: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status([str(file), *arguments]) == 4

    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_a_cluster_that_is_wrong_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status([str(tmp_path / "none.yaml")]) == 4

    assert "none.yaml: expected a cluster file" in capsys.readouterr().err
