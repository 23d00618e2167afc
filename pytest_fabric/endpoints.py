"""Where the nodes of a run are reached: over SSH, on this machine, or in the lab's process."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_fabric.config import Cluster, Switch
from pytest_fabric.errors import ConfigError
from pytest_fabric.transport import Endpoint

#: The lab is up within two seconds; a machine under load may need some more.
LAB_S = 30.0


class Lab:
    """The lab's process: it lives as long as our end of its standard input is open."""

    def __init__(
        self, cluster: Cluster, faults: Sequence[str], sources: Sequence[Path] = ()
    ) -> None:
        options = [f"--fault={fault}" for fault in faults]
        options += [f"--faults={path}" for path in sources]
        # A file and no pipe: nobody reads it while the lab runs, and a full pipe would stop it.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pytest_fabric.lab", str(cluster.source), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            # Ctrl-C is ours: the lab must live until what runs in it has been ended.
            start_new_session=True,
        )
        try:
            self.address = self._greeting()
        except KeyboardInterrupt:
            self.close()
            raise

    @property
    def pid(self) -> int:
        """Return the process id of the lab."""
        return self._process.pid

    def told(self, line: str) -> Mapping[str, Any]:
        """Return the answer to `fault NAME@TARGET`, `mend NAME@TARGET` or `status`.

        Raises OSError when the lab has ended.
        """
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{' '.join(line.split())}\n".encode())
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise BrokenPipeError("the lab has ended")
        told: Mapping[str, Any] = json.loads(answer)
        return told

    @property
    def is_running(self) -> bool:
        """Return whether the lab's process lives."""
        return self._process.poll() is None

    def _greeting(self) -> Mapping[str, Any]:
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], LAB_S)
        line = self._process.stdout.readline() if readable else b""
        if not line:
            self._end()
            reason = self._reason()
            self.close()
            raise ConfigError(reason)
        address: Mapping[str, Any] = json.loads(line)
        return address

    def _reason(self) -> str:
        self._stderr.seek(0)
        told = self._stderr.read().decode(errors="replace").strip().splitlines()
        return told[-1] if told else f"lab: expected it to start within {LAB_S:g} s"

    def close(self) -> None:
        """Let the lab end, and end it if it does not."""
        self._end()
        self._stderr.close()

    def _end(self) -> None:
        if self._process.stdin is not None and not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def of(cluster: Cluster, lab: Lab | None) -> dict[str, Endpoint]:
    """Return how each node, and each switch that is logged in to, is reached."""
    if lab is not None:
        return in_lab(cluster, lab.address)
    return {
        **{name: _of_node(name, cluster) for name in cluster.nodes},
        **{name: _of_switch(one, cluster) for name, one in _switches(cluster).items()},
    }


def in_lab(cluster: Cluster, address: Mapping[str, Any]) -> dict[str, Endpoint]:
    """Return how each node and switch is reached in a lab that said where it is."""
    names = (*cluster.nodes, *_switches(cluster))
    return {name: _in_lab(name, address, cluster) for name in names}


def _switches(cluster: Cluster) -> dict[str, Switch]:
    return {name: one for name, one in cluster.switches.items() if one.files is None}


def _in_lab(name: str, address: Mapping[str, Any], cluster: Cluster) -> Endpoint:
    return Endpoint(
        node=name,
        kind="ssh",
        host="127.0.0.1",
        port=address["nodes"][name],
        user=address["user"],
        config=None,
        key=address["client_key"],
        host_key=address["host_key"],
        connect_timeout_s=cluster.ssh.connect_timeout.number,
    )


def _of_node(name: str, cluster: Cluster) -> Endpoint:
    node, ssh = cluster.nodes[name], cluster.ssh
    return Endpoint(
        node=name,
        kind=cluster.transport,
        host=node.address,
        port=node.port or ssh.port,
        user=ssh.user,
        config=ssh.config,
        jump=ssh.jump,
        path=cluster.tools.path,
        connect_timeout_s=_timeout_s(cluster),
    )


def _of_switch(switch: Switch, cluster: Cluster) -> Endpoint:
    """Return how a switch is reached: over SSH, also where the nodes are this machine."""
    ssh = cluster.ssh
    return Endpoint(
        node=switch.name,
        kind="ssh",
        host=switch.address,
        port=switch.port or ssh.port,
        user=switch.user or ssh.user,
        config=ssh.config,
        jump=ssh.jump,
        connect_timeout_s=_timeout_s(cluster),
    )


def _timeout_s(cluster: Cluster) -> float | None:
    """Return how long a log-in may take; what cluster.yaml does not say is ~/.ssh/config's."""
    ssh = cluster.ssh
    return ssh.connect_timeout.number if "connect_timeout" in ssh.model_fields_set else None
