"""A lab for hand use: reached by OpenSSH, broken and mended while it runs, gone at the end."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fabric import config
from pytest_fabric.cli.lab import _write as lab_files
from tests.clusters import TEXT

from .test_command import command

CODE = "from pytest_fabric.cli.main import main; main()"

RATE = "cat /sys/class/infiniband/mlx5_0/ports/1/rate"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "cluster.yaml").write_text(TEXT)
    return tmp_path


@pytest.fixture
def lab(site: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a lab whose files are in `at`."""
    running = subprocess.Popen(
        [sys.executable, "-c", CODE, "lab", "up", "--at", "at"],
        cwd=site,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert running.stdout is not None
    for line in running.stdout:
        if line.startswith("Ctrl-C"):
            break
    yield running
    running.kill()
    running.wait()
    running.stdout.close()


def switch(site: Path, *words: str) -> str:
    done = command("lab", *words, "--at", "at", cwd=site)
    return done.stdout + done.stderr


def ssh(site: Path, *words: str, typed: str | None = None) -> str:
    done = subprocess.run(
        ["ssh", "-F", "at/ssh_config", *words],
        cwd=site,
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + (done.stderr if "refused" in done.stderr else "")


@pytest.mark.skipif(shutil.which("ssh") is None, reason="no OpenSSH client here")
def test_faults_come_and_go_while_a_person_looks(site: Path, lab: subprocess.Popen[str]) -> None:
    """And when the lab ends, its folder and its nodes are gone."""
    assert ssh(site, "gpu001", RATE) == "400 Gb/sec (4X NDR)\n"
    assert switch(site, "fault", "link_speed@gpu001:rail0") == "link_speed@gpu001:rail0\n"
    assert ssh(site, "gpu001", RATE) == "200 Gb/sec (4X HDR)\n"
    assert "expected gpu001" in switch(site, "fault", "link_speed@gpu01:rail0")
    assert switch(site, "status") == "link_speed@gpu001:rail0\n"
    assert switch(site, "mend", "link_speed@gpu001:rail0") == "no fault is on\n"
    assert "expected one that is on (none)" in switch(site, "mend", "link_speed@gpu001:rail0")
    assert ssh(site, "gpu001", typed=f"{RATE}\nexit\n") == "400 Gb/sec (4X NDR)\n"
    switch(site, "fault", "ssh_down@gpu001")
    assert "refused" in ssh(site, "gpu001", "true")
    switch(site, "mend", "ssh_down@gpu001")
    until = time.monotonic() + 20  # its server listens again a moment later
    while (told := ssh(site, "gpu001", "hostname")) != "gpu001\n":
        assert time.monotonic() < until, told
    assert "a lab runs there already" in switch(site, "up")

    lab.send_signal(signal.SIGINT)
    assert lab.wait(20) == 0
    assert not (site / "at").exists()
    assert "expected a lab that runs, found none" in switch(site, "status")


def test_the_files_of_a_lab_are_private(site: Path, lab: subprocess.Popen[str]) -> None:
    assert (site / "at").stat().st_mode & 0o077 == 0
    assert (site / "at" / "key").stat().st_mode & 0o077 == 0


def test_a_folder_of_somebody_else_is_left_alone(site: Path) -> None:
    (site / "at").mkdir()
    (site / "at" / "thesis.txt").write_text("years of work")

    assert "expected nothing there, or what a lab has left" in switch(site, "up")
    assert (site / "at" / "thesis.txt").exists()


def test_a_cluster_of_real_machines_is_no_lab(site: Path) -> None:
    (site / "cluster.yaml").write_text(TEXT.replace("transport: lab", "transport: ssh"))

    assert "expected transport lab, got ssh" in switch(site, "up")


def test_a_switch_of_the_cluster_is_logged_in_to_like_a_node(tmp_path: Path) -> None:
    """The shipped cluster file has switches, and names them beside its nodes."""
    cluster = config.load(Path(__file__).parents[2] / "cluster.yaml")
    ports = {name: place for place, name in enumerate((*cluster.nodes, *cluster.switches), 2000)}
    address = {"nodes": ports, "user": "lab", "host_key": "ssh-ed25519 A", "client_key": "x"}
    lab_files(tmp_path, cluster, address)

    written = (tmp_path / "ssh_config").read_text()
    assert {f"Port {port}" for port in ports.values()} <= {*map(str.strip, written.splitlines())}
    assert "Host leaf-0\n" in written
