"""A folder from which the suites run against the two machines, as a user's would look."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fabric.report.records import read_measurements, read_verdicts
from pytest_fabric.results import Measurement, Verdict

from .machines import DEVICE, Machine

REPOSITORY = Path(__file__).parents[2]

CLUSTER = """\
name: soft-roce
transport: ssh
ssh: {{user: {user}, config: ssh_config}}
nodes:
{nodes}
rails:
  rail0: {{device: {device}, network: 192.168.77.0/24}}
profiles:
  soft: {{extends: builtin/soft-roce, limits: {tcp}}}
pairs: {{strategy: ring}}
"""

#: TCP passes the netdev below rxe: that it flows is all that shows here. Fairness has no limit.
TCP = '{tcp.throughput: ">= 1 Mb/s", tcp.retransmissions: "<= 0.5", tcp.rtt: "<= 1 s"}'


@dataclass(frozen=True)
class Site:
    """A folder with suites/, cluster.yaml and ssh_config for the machines."""

    path: Path

    def command(self, *options: str) -> list[str]:
        """Return the command line of a run."""
        return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "suites", *options]

    def run(self, *options: str, timeout: float = 900) -> subprocess.CompletedProcess[str]:
        """Run the suites to their end."""
        return subprocess.run(
            self.command(*options),
            cwd=self.path,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def last(self, seconds: int) -> None:
        """Let bandwidth runs last long enough to be disturbed."""
        cluster = self.path / "cluster.yaml"
        longer = f"builtin/soft-roce, traffic: {{duration: {seconds} s}}"
        cluster.write_text(cluster.read_text().replace("builtin/soft-roce", longer))

    def check(self) -> subprocess.CompletedProcess[str]:
        """Run `pytest-fabric check`."""
        code = "from pytest_fabric.cli.main import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, "check"],
            cwd=self.path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def start(self, *options: str) -> subprocess.Popen[bytes]:
        """Start a run beside the test."""
        return subprocess.Popen(
            self.command(*options),
            cwd=self.path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    @property
    def latest(self) -> Path:
        """Return the directory of the newest run."""
        return self.path / "fabric-runs" / "latest"

    def verdicts(self) -> dict[str, Verdict]:
        """Return the verdicts of the newest run by `check[target]`."""
        found = read_verdicts(self.latest / "verdicts.jsonl")
        return {f"{verdict.check}[{verdict.target}]": verdict for verdict in found}

    def messages(self, outcome: str) -> list[str]:
        """Return the messages of the newest run's verdicts with an outcome."""
        return [v.message or "" for v in self.verdicts().values() if v.outcome == outcome]

    def measurements(self) -> list[Measurement]:
        """Return the measurements of the newest run."""
        return read_measurements(self.latest / "measurements.jsonl")

    def audit(self) -> list[str]:
        """Return every command that the newest run sent."""
        lines = (self.latest / "audit.jsonl").read_text().splitlines()
        return [json.loads(line)["command"] for line in lines]


def make(path: Path, machines: Sequence[Machine], user: str = "root") -> Site:
    """Write the folder of a site for the machines."""
    path.mkdir(parents=True)
    shutil.copytree(REPOSITORY / "suites", path / "suites")
    (path / "pytest.ini").write_text("[pytest]\n")
    nodes = "\n".join(
        f'  {machine.name}: {{profile: soft, address: "127.0.0.1:{machine.ssh_port}"}}'
        for machine in machines
    )
    (path / "cluster.yaml").write_text(
        CLUSTER.format(user=user, nodes=nodes, device=DEVICE, tcp=TCP)
    )
    first = machines[0]
    (path / "ssh_config").write_text(
        "Host *\n"
        f"  IdentityFile {first.key_path}\n"
        "  IdentitiesOnly yes\n"
        f"  UserKnownHostsFile {first.known_hosts}\n"
        "  GlobalKnownHostsFile /dev/null\n"
    )
    os.environ.pop("SSH_AUTH_SOCK", None)
    return Site(path)
