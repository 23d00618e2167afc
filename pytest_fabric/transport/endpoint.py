"""Where a node is reached, as the inventory says it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Endpoint:
    """How one node is reached; what is None comes from ssh_config, then from OpenSSH's defaults.

    `config` is an ssh_config file (None: the user's, then the system's), `jump` a ProxyJump chain
    or `none`, `key` a private key in PEM, `host_key` the only one that is accepted. An endpoint
    with a `host_key` is complete: no ssh_config is read for it. `path` is searched before PATH.
    """

    node: str
    kind: str = "ssh"
    host: str = ""
    port: int | None = None
    user: str | None = None
    config: Path | None = None
    jump: str | None = None
    key: str | None = field(default=None, repr=False)
    host_key: str | None = None
    path: str | None = None
    connect_timeout_s: float | None = None
