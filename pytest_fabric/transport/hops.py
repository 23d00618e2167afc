"""From an endpoint and ssh_config to the log-ins that lead to a node, jump hosts first."""

from __future__ import annotations

import getpass
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from pytest_fabric.errors import TransportError
from pytest_fabric.transport import ssh_config
from pytest_fabric.transport.endpoint import Endpoint
from pytest_fabric.transport.ssh_config import Options

#: ssh_config(5): the default when the system's own TCP time-out is not to be waited for.
CONNECT_TIMEOUT_S = 5.0
#: A chain longer than this is a loop in ssh_config.
_MAX_HOPS = 8

#: Keys that OpenSSH tries by default and paramiko can read.
IDENTITIES = ("~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa")
#: Files of known hosts by default (ssh_config(5)).
USER_KNOWN_HOSTS = "~/.ssh/known_hosts ~/.ssh/known_hosts2"
GLOBAL_KNOWN_HOSTS = "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"

_SPEC = re.compile(
    r"(?:ssh://)?(?:(?P<user>[^@]+)@)?(?:\[(?P<v6>[^\]]+)\]|(?P<host>[^:\[\]]+|[^\[\]]*:[^\[\]]*:"
    r"[^\[\]]*))(?::(?P<port>\d+))?/?"
)


@dataclass(frozen=True)
class Hop:
    """One log-in: where, as whom, with which keys, and which host keys are accepted there."""

    name: str
    host: str
    port: int
    user: str
    connect_timeout_s: float
    identities: tuple[Path, ...] = ()
    identities_are_named: bool = False
    identities_only: bool = False
    agent: str | None = None
    key: str | None = None
    pinned: str | None = None
    alias: str | None = None
    known_hosts: tuple[Path, ...] = ()
    proxy_command: str | None = None
    via: str = ""

    @property
    def address(self) -> str:
        """Return host and port as people write them, and the jump host before it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}" + (f" (through {self.via})" if self.via else "")


def route(endpoint: Endpoint) -> tuple[Hop, ...]:
    """Return the log-ins that lead to an endpoint, in order; the last one is the endpoint itself.

    Raises TransportError of kind `unresolved` for a loop of jump hosts or an unreadable file.
    """
    if endpoint.host_key is not None:
        return (_complete(endpoint),)
    try:
        found = ssh_config.options(endpoint.host, endpoint.config, endpoint.user)
        before = _chain(_jumps(endpoint.jump, found), endpoint, (endpoint.host,))
        last = _hop(endpoint.node, found, endpoint)
    except (OSError, ValueError) as error:
        raise TransportError(endpoint.node, "unresolved", f"ssh_config: {error}") from error
    if before or endpoint.jump is not None:
        last = replace(last, proxy_command=None, via=before[-1].name if before else "")
    return (*before, last)


def _complete(endpoint: Endpoint) -> Hop:
    return Hop(
        name=endpoint.node,
        host=endpoint.host,
        port=endpoint.port or 22,
        user=endpoint.user or getpass.getuser(),
        connect_timeout_s=endpoint.connect_timeout_s or CONNECT_TIMEOUT_S,
        agent=None if endpoint.key else os.environ.get("SSH_AUTH_SOCK"),
        key=endpoint.key,
        pinned=endpoint.host_key,
    )


def _chain(jumps: Iterable[str], endpoint: Endpoint, seen: tuple[str, ...]) -> tuple[Hop, ...]:
    """Return the hops of a ProxyJump value; only its first may have a ProxyJump of its own."""
    hops: tuple[Hop, ...] = ()
    for index, spec in enumerate(jumps):
        name, user, port = _parse(spec)
        if index == 0 and name == seen[-1]:
            continue  # `Host *` with a ProxyJump covers the jump host too, and means the others
        if name in seen or len(seen) > _MAX_HOPS:
            raise ValueError(f"ProxyJump goes in a circle: {' -> '.join((*seen, name))}")
        found = ssh_config.options(name, endpoint.config, user)
        if index == 0:
            hops = _chain(_jumps(None, found), endpoint, (*seen, name))
        timeout_s = endpoint.connect_timeout_s
        hop = _hop(
            name, found, Endpoint(name, "ssh", name, port, user, connect_timeout_s=timeout_s)
        )
        if hops:
            hop = replace(hop, proxy_command=None, via=hops[-1].name)
        hops = (*hops, hop)
    return hops


def _jumps(given: str | None, found: Options) -> list[str]:
    value = given if given is not None else found.first("proxyjump") or "none"
    if value.lower() == "none":
        return []
    return [spec.strip() for spec in value.split(",")]


def _parse(spec: str) -> tuple[str, str | None, int | None]:
    """Return host, user and port of `[user@]host[:port]` or of the same as an `ssh://` address."""
    found = _SPEC.fullmatch(spec)
    if found is None:
        raise ValueError(f"ProxyJump: expected [user@]host[:port], got {spec!r}")
    return found["v6"] or found["host"], found["user"], int(found["port"] or 0) or None


def _hop(name: str, found: Options, given: Endpoint) -> Hop:
    """Return one log-in: what was given wins over ssh_config, as on ssh's command line."""
    port = given.port or _port(found)
    values = {**ssh_config.tokens(found), "p": str(port)}
    if given.user is not None:
        values["r"] = given.user
    named = [text for text in found.values.get("identityfile", []) if text.lower() != "none"]
    proxy = found.first("proxycommand") or "none"
    return Hop(
        name=name,
        host=values["h"],
        port=port,
        user=values["r"],
        connect_timeout_s=given.connect_timeout_s or _timeout_s(found),
        identities=tuple(ssh_config.path(text, values) for text in named or IDENTITIES),
        identities_are_named=bool(named),
        identities_only=found.first("identitiesonly") == "yes",
        agent=_agent(found.first("identityagent") or "SSH_AUTH_SOCK", values),
        key=given.key,
        alias=found.first("hostkeyalias"),
        known_hosts=(
            *_files(found.first("userknownhostsfile") or USER_KNOWN_HOSTS, values),
            *_files(found.first("globalknownhostsfile") or GLOBAL_KNOWN_HOSTS, values),
        ),
        proxy_command=None if proxy == "none" else ssh_config.expanded(proxy, values),
    )


def _port(found: Options) -> int:
    value = found.first("port") or "22"
    if not value.isdecimal():
        raise ValueError(f"Port: expected a number, got {value!r}")
    return int(value)


def _files(names: str, values: Mapping[str, str]) -> Iterator[Path]:
    return (ssh_config.path(n, values) for n in shlex.split(names) if n.lower() != "none")


def _agent(text: str, values: Mapping[str, str]) -> str | None:
    """Return the agent's socket: a path, or what a variable of the environment holds."""
    if text == "none":
        return None
    if text == "SSH_AUTH_SOCK" or (text.startswith("$") and not text.startswith("${")):
        return os.environ.get(text.lstrip("$"))
    return str(ssh_config.path(text, values))


def _timeout_s(found: Options) -> float:
    """Return ConnectTimeout; `none` means the system's own, which is not waited for."""
    value = found.first("connecttimeout") or "none"
    return float(value) if value.isdecimal() and int(value) else CONNECT_TIMEOUT_S
