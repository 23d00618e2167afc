"""Known hosts: which keys a host may show, and what to do when it shows another one."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_fabric.errors import TransportError
from pytest_fabric.transport.hops import Hop
from pytest_fabric.transport.ssh_config import host_matches

#: Signature algorithms of a key type, best first (RFC 8332); other types sign under their name.
ALGORITHMS = {"ssh-rsa": ("rsa-sha2-512", "rsa-sha2-256")}


@dataclass(frozen=True)
class KnownKey:
    """One line of a known_hosts file that names the host; `marker` is `@revoked` or alike."""

    file: Path
    line: int
    marker: str
    type: str
    blob: bytes

    @property
    def place(self) -> str:
        """Return where the line is."""
        return f"{self.file}:{self.line}"


def names(hop: Hop) -> tuple[str, ...]:
    """Return the names under which OpenSSH looks a host up: `[host]:port`, then plain."""
    if hop.alias is not None:
        return (hop.alias,)
    return (hop.host,) if hop.port == 22 else (f"[{hop.host}]:{hop.port}", hop.host)


def known(files: Iterable[Path], name: str) -> list[KnownKey]:
    """Return the lines that name a host, in the order of the files; absent files hold none."""
    found = []
    for file in files:
        if not file.is_file():
            continue
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            key = _parse(file, number, line, name)
            if key is not None:
                found.append(key)
    return found


def _parse(file: Path, number: int, line: str, name: str) -> KnownKey | None:
    words = line.split()
    marker = words.pop(0) if words and words[0].startswith("@") else ""
    if len(words) < 3 or words[0].startswith("#") or not _names_host(words[0], name):
        return None
    try:
        return KnownKey(file, number, marker, words[1], base64.b64decode(words[2], validate=True))
    except binascii.Error:
        return None  # OpenSSH skips lines that it cannot read, too


def _names_host(field: str, name: str) -> bool:
    if field.startswith("|1|"):
        return _hashed(field, name)
    return host_matches(name, field.split(","))


def _hashed(field: str, name: str) -> bool:
    """Return whether `|1|SALT|HMAC-SHA1` stands for a name (HashKnownHosts of ssh_config(5))."""
    try:
        salt, digest = (base64.b64decode(part) for part in field.split("|")[2:4])
    except (ValueError, binascii.Error):
        return False
    wanted = hmac.new(salt, name.lower().encode(), hashlib.sha1).digest()
    return hmac.compare_digest(wanted, digest)


def preferred(hop: Hop, offered: Sequence[str]) -> tuple[str, ...]:
    """Return the signature algorithms to ask for: those of known keys first, as OpenSSH does."""
    types = [hop.pinned.split()[0]] if hop.pinned else [key.type for key in _usable(hop)]
    wanted = [name for kind in types for name in ALGORITHMS.get(kind, (kind,))]
    first = [name for name in dict.fromkeys(wanted) if name in offered]
    return (*first, *(name for name in offered if name not in first))


def _usable(hop: Hop) -> list[KnownKey]:
    return [key for name in names(hop) for key in known(hop.known_hosts, name) if not key.marker]


def fingerprint(blob: bytes) -> str:
    """Return the SHA256 fingerprint as ssh-keygen -l prints it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")


def verify(hop: Hop, kind: str, blob: bytes) -> None:
    """Accept a host key or raise TransportError: `host_key_unknown` or `host_key_changed`."""
    shown = f"{kind} {fingerprint(blob)}"
    if hop.pinned is not None:
        if hop.pinned.split()[:2] != [kind, base64.b64encode(blob).decode()]:
            message = f"{hop.address} shows host key {shown}, not the one that it was started with"
            raise TransportError(hop.name, "host_key_changed", message)
        return
    name, *others = names(hop)
    keys = known(hop.known_hosts, name)
    plain = [key for other in others for key in known(hop.known_hosts, other) if key.blob == blob]
    for key in (*keys, *plain):
        if key.marker == "@revoked" and key.blob == blob:
            message = f"the host key of {name}, {shown}, is revoked in {key.place}; do not log in"
            raise TransportError(hop.name, "host_key_changed", message)
    keys = [key for key in keys if not key.marker]
    if any(key.blob == blob for key in (*keys, *plain) if not key.marker):
        return
    raise _changed(hop, name, shown, keys) if keys else _unknown(hop, name, shown)


def _changed(hop: Hop, name: str, shown: str, keys: Sequence[KnownKey]) -> TransportError:
    files = dict.fromkeys(key.file for key in keys)
    remedy = "; ".join(
        f"ssh-keygen -R {shlex.quote(name)} -f {shlex.quote(str(file))}" for file in files
    )
    expected = ", ".join(f"{key.type} {fingerprint(key.blob)} ({key.place})" for key in keys)
    message = (
        f"the host key of {name} has changed: expected {expected}, got {shown}; "
        f"if the node was reinstalled, remove the old key: {remedy}"
    )
    return TransportError(hop.name, "host_key_changed", message)


def _unknown(hop: Hop, name: str, shown: str) -> TransportError:
    file = shlex.quote(str(hop.known_hosts[0] if hop.known_hosts else "~/.ssh/known_hosts"))
    port = "" if hop.port == 22 else f"-p {hop.port} "
    remedy = f"ssh-keyscan {port}{shlex.quote(hop.host)} >> {file}"
    if hop.alias or hop.via or hop.proxy_command:  # ssh-keyscan knows none of them
        remedy = "log in once by hand with ssh, which stores it"
    message = (
        f"the host key of {name} is not known, it shows {shown}; "
        f"compare that with the node's own (ssh-keygen -l), then: {remedy}"
    )
    return TransportError(hop.name, "host_key_unknown", message)
