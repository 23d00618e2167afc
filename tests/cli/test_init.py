"""`pytest-fabric init`: what it writes passes as it is, and nothing is written over."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_fabric import config, endpoints
from pytest_fabric.cli import site
from tests.cli.inside import call
from tests.cli.test_command import command
from tests.clusters import TEXT

ROOT = Path(__file__).parents[2]


@pytest.fixture
def ssh_site(tmp_path: Path) -> Iterator[Path]:
    """Return a folder with an ssh_config that leads to two nodes of a lab; one has another PFC."""
    allowed = TEXT.replace("    limits:\n", "    sudo: [ethtool, lspci]\n    limits:\n")
    (tmp_path / "lab.yaml").write_text(allowed)
    odd = "pfc_other_priority@gpu002:rail0"
    lab = endpoints.Lab(config.load(tmp_path / "lab.yaml"), (odd,))
    try:
        said = lab.address
        key = tmp_path / "key"
        key.write_text(said["client_key"])
        key.chmod(0o600)
        known = (f"[127.0.0.1]:{port} {said['host_key']}\n" for port in said["nodes"].values())
        (tmp_path / "known_hosts").write_text("".join(known))
        hosts = (
            f"Host {name}\n  HostName 127.0.0.1\n  Port {port}\n"
            for name, port in said["nodes"].items()
        )
        (tmp_path / "ssh_config").write_text(
            "".join(hosts)
            + f"Host *\n  User {said['user']}\n  IdentityFile {key}\n  IdentitiesOnly yes\n"
            + f"  UserKnownHostsFile {tmp_path}/known_hosts\n  GlobalKnownHostsFile /dev/null\n"
        )
        yield tmp_path
    finally:
        lab.close()


def test_init_of_the_lab_gives_all_that_a_first_run_needs(tmp_path: Path) -> None:
    """An installed package is enough: two commands, and the run is green."""
    done = command("init", "--lab", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    few = "test_1_link or test_2_qos or test_running_firmware or test_small_write_median"
    words = ["-q", "suites", "-k", few, "-p", "no:cacheprovider"]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *words], cwd=tmp_path, capture_output=True, text=True
    )

    assert ran.returncode == 0, ran.stdout
    assert "ports: 8 of 8 measured (100%)" in ran.stdout
    again = call(["init", "--lab"], tmp_path)
    assert again.returncode == 4
    assert again.stderr.count("\n") == 1
    assert "--force" in again.stderr


def test_init_over_ssh_describes_who_answers_and_excludes_the_others(ssh_site: Path) -> None:
    """A node that is down today is still a node of the fabric."""
    (ssh_site / "suites").mkdir()
    done = call(["init", "gpu[001-003]", "--ssh-config", "ssh_config"], ssh_site)
    assert done.returncode == 0, done.stderr
    checked = call(["check"], ssh_site)

    cluster = config.load(ssh_site / "cluster.yaml")
    assert list(cluster.excluded) == ["gpu003"]
    assert "gpu003: " in done.stdout
    assert len(cluster.ports()) == 2
    assert cluster.nodes["gpu001"].profile.sudo == ("ethtool", "lspci"), "what sudo lets us run"
    assert checked.returncode == 0, checked.stdout
    written = (ssh_site / "cluster.yaml").read_text()
    assert "lossless: [3] # as found on 1 of 2 nodes; 4 on gpu002\n" in written
    assert "ecn: true # as found on 2 of 2 nodes\n" in written
    assert "dscp as builtin, not from the nodes: its comments say why" in done.stdout
    assert not list((ssh_site / "suites").iterdir()), "a folder that is there is left alone"


def test_init_writes_nothing_when_nobody_answers(tmp_path: Path) -> None:
    """An empty inventory would pass."""
    done = call(["init", "no[1-2].invalid"], tmp_path)

    assert done.returncode == 1
    assert done.stderr.startswith("no1.invalid: ")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "expected one of NODES, --ansible, --slurm, --lab, found none"),
        (("a", "--lab"), "found 2"),
        (("--slurm",), "expected SLURM_JOB_NODELIST"),
        (("--ansible", "nowhere"), "cannot read it"),
        (("a[1-",), "expected a node set"),
        (("a[1-2]", "--address", "10.0.0.1"), "expected {node} in it"),
        (("a", "--ssh-config", "nowhere"), "expected a file"),
        (("a", "--nosuch"), "No such option"),
    ],
)
def test_a_wrong_call_is_one_line(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    """Nothing was contacted, and nothing written."""
    done = call(["init", *words], tmp_path)

    assert done.returncode == 4
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_wheel_has_what_init_copies() -> None:
    """Users who only installed the package have the suites, too."""
    text = (ROOT / "pyproject.toml").read_text()
    part = text.partition("[tool.hatch.build.targets.wheel.force-include]\n")[2]
    lines = part.partition("\n\n")[0].splitlines()
    shipped = dict(line.replace('"', "").split(" = ") for line in lines)

    wanted = {"suites", "conftest.py", "cluster.yaml", "cables.csv"}
    assert shipped == {name: f"pytest_fabric/{site.SHIPPED}/{name}" for name in wanted}
    assert site.folder() == ROOT
    assert all((ROOT / name).exists() for name in wanted)
