"""`pytest-fabric init` against real machines: what it writes passes as it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .machines import NETDEV, Machine, restored
from .site import Site

FEW = "test_port_state or (test_small_write_p99 and not p999) or test_write_bandwidth"


def test_what_init_writes_is_ready_and_green(
    machines: tuple[Machine, Machine], tmp_path: Path
) -> None:
    """Nothing but names and a way to log in: ports, networks and the profile are found."""
    first = machines[0]
    hosts = [f"Host {m.name}\n  HostName 127.0.0.1\n  Port {m.ssh_port}\n" for m in machines]
    (tmp_path / "ssh_config").write_text(
        "".join(hosts)
        + "Host *\n"
        + f"  IdentityFile {first.key_path}\n"
        + "  IdentitiesOnly yes\n"
        + f"  UserKnownHostsFile {first.known_hosts}\n"
        + "  GlobalKnownHostsFile /dev/null\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    code = "from pytest_fabric.cli.main import main; main()"
    words = ["init", "fab[1-2]", "--user", "root", "--ssh-config", "ssh_config"]
    with restored(*machines):
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        written = (tmp_path / "cluster.yaml").read_text()
        assert f'rail0: {{netdev: "{NETDEV}", network: "192.168.77.0/24"}}' in written
        assert "extends: builtin/soft-roce" in written
        site = Site(tmp_path)
        checked = site.check()
        ran = site.run("-k", FEW)

    assert checked.returncode == 0, checked.stdout
    assert ran.returncode == 0, ran.stdout
