"""What `init` does: finds the nodes, asks them, and writes the files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from pytest_fabric import config, endpoints
from pytest_fabric.cli import site
from pytest_fabric.config.hardware import read_address, split_address
from pytest_fabric.description import holder
from pytest_fabric.draft import hosts as machines
from pytest_fabric.draft import survey
from pytest_fabric.draft.hosts import Host
from pytest_fabric.errors import ConfigError
from pytest_fabric.report import atomic
from pytest_fabric.transport import Pool

Say = Callable[[str], None]

SLURM = "SLURM_JOB_NODELIST"


@dataclass(frozen=True)
class Asked:
    """The options of `init`."""

    nodes: tuple[str, ...]
    ansible: Path | None
    group: str
    is_slurm: bool
    is_lab: bool
    user: str | None
    jump: str | None
    config: Path | None
    address: str | None

    @property
    def sources(self) -> int:
        """Return how many sources of names are given."""
        return bool(self.nodes) + bool(self.ansible) + self.is_slurm + self.is_lab


def draft(asked: Asked, output: Path, say: Say) -> tuple[str, list[str]]:
    """Return the text of cluster.yaml, and what is to be said about it.

    Raises ConfigError for a wrong call, NobodyError when no node answered.
    """
    if asked.sources != 1:
        found = f"found {asked.sources}" if asked.sources else "found none"
        hint = f": {SLURM} is set, --slurm takes it" if os.environ.get(SLURM) else ""
        raise ConfigError(f"init: expected one of NODES, --ansible, --slurm, --lab, {found}{hint}")
    if asked.is_lab:
        return _of_lab(output, say)
    hosts = _hosts(asked)
    users = {host.user for host in hosts if host.user}
    if asked.user is None and len(users) > 1:
        shown = ", ".join(sorted(users)[:3])
        raise ConfigError(f"init: expected one user for all nodes, found {shown}: give --user")
    asked = replace(asked, user=asked.user or next(iter(users), None))
    head = ("transport: ssh", *_ssh(asked, output))
    name = asked.group if asked.ansible and asked.group != machines.ALL else "fabric"
    return _survey(name, head, hosts, output, say, None)


def _hosts(asked: Asked) -> list[Host]:
    if asked.ansible is not None:
        try:
            text = asked.ansible.read_text(errors="replace")
        except OSError as error:
            raise ConfigError(f"{asked.ansible}: cannot read it: {error.strerror}") from None
        found = machines.from_ansible(text, asked.ansible.name, asked.group)
    elif asked.is_slurm:
        listed = os.environ.get(SLURM, "")
        if not listed:
            raise ConfigError(f"--slurm: expected {SLURM}, found none: run within an allocation")
        found = machines.from_sets([listed])
    else:
        found = machines.from_sets(asked.nodes)
    if asked.address is None:
        return found
    pattern = read_address(asked.address)
    if "{node}" not in pattern and len(found) > 1:
        raise ConfigError(f"--address: expected {{node}} in it for {len(found)} nodes")
    return [_at(host, pattern.replace("{node}", host.name)) for host in found]


def _at(host: Host, address: str) -> Host:
    where, port = split_address(address)
    return replace(host, address=where, port=port)


def _ssh(asked: Asked, output: Path) -> list[str]:
    """Return the line `ssh:`, with a path that is right where the file will be."""
    path = asked.config.expanduser().resolve() if asked.config else None
    if path is not None and not path.is_file():
        raise ConfigError(f"--ssh-config: expected a file, found none at {asked.config}")
    home = output.resolve().parent
    shown = str(path.relative_to(home) if path and path.is_relative_to(home) else path)
    said = {"user": asked.user, "jump": asked.jump, "config": shown if path else None}
    words = [
        f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in said.items() if value
    ]
    return [f"ssh: {{{', '.join(words)}}}"] if words else []


def _of_lab(output: Path, say: Say) -> tuple[str, list[str]]:
    source = site.folder() / "cluster.yaml"
    cluster = config.load(source)
    running = endpoints.Lab(cluster, ())
    try:
        say("the lab is up")
        keys = f"lab: {{seed: {cluster.lab.seed}, time: {cluster.lab.time}}}"
        head = ("transport: lab # a simulated fabric; ssh: real machines", keys)
        hosts = [Host(name) for name in cluster.nodes]
        return _survey("lab", head, hosts, output, say, running.address)
    finally:
        running.close()


def _survey(
    name: str,
    head: tuple[str, ...],
    hosts: list[Host],
    output: Path,
    say: Say,
    lab: Mapping[str, object] | None,
) -> tuple[str, list[str]]:
    """Ask the nodes, and return the text and what is to be said."""
    cluster = survey.bare(name, head, hosts, output)
    reached = endpoints.of(cluster, None) if lab is None else endpoints.in_lab(cluster, lab)
    pool = Pool(reached, holder("init"), lambda node, *commands: None)
    say(f"asking {len(hosts)} node{'' if len(hosts) == 1 else 's'}")
    try:
        found = survey.ask(cluster, pool, hosts, head, date.today().isoformat(), output)
    finally:
        pool.close()
    return found.text, list(found.said)


def put(text: str, output: Path, asked: Asked) -> list[str]:
    """Write the files; return what was done and what comes next. Raises OSError, ConfigError."""
    folder = output.resolve().parent
    folder.mkdir(parents=True, exist_ok=True)
    atomic.write(output, text)
    copied = site.copy(folder)
    named = "" if output.name == "cluster.yaml" else f" --fabric-cluster {output.name}"
    where = "" if folder == Path.cwd() else f" (in {folder})"
    check = "pytest-fabric check" + (f" {output.name}" if named else "")
    return [
        f"{output}: written; read it once",
        *copied,
        f"next{where}: {check}, then: pytest suites/{named}",
    ]
