"""Logging in with keys: from memory, from the agent, from files. Never with a password."""

from __future__ import annotations

import base64
import io
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import paramiko
from paramiko.agent import AgentSSH
from paramiko.pkey import UnknownKeyType

from pytest_fabric.errors import TransportError
from pytest_fabric.transport.hops import Hop

#: An agent answers at once, unless it asks a person to touch a token.
_AGENT_S = 20.0
#: PAM and LDAP of a busy node take seconds.
AUTH_S = 15.0


class _Agent(AgentSSH):
    """An agent behind a named socket, with a time-out on its answers."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(_AGENT_S)
            self._socket.connect(path)
            self._connect(self._socket)  # type: ignore[attr-defined]  # missing in the stubs
        except BaseException:
            self._socket.close()
            raise

    def close(self) -> None:
        """Leave the agent."""
        self._socket.close()


@contextmanager
def _agent_keys(hop: Hop, notes: list[str]) -> Iterator[tuple[paramiko.AgentKey, ...]]:
    if hop.agent is None:
        notes.append("no agent")
        yield ()
        return
    try:
        agent = _Agent(hop.agent)
    except (OSError, paramiko.SSHException) as error:
        notes.append(f"agent {hop.agent} does not answer ({error})")
        yield ()
        return
    try:
        keys = agent.get_keys()
        notes.append(f"agent with {len(keys)} key{'' if len(keys) == 1 else 's'}")
        yield keys
    finally:
        agent.close()


def _from_file(path: Path, notes: list[str], named: bool) -> paramiko.PKey | None:
    try:
        return paramiko.PKey.from_path(path)
    except FileNotFoundError:
        if named:
            notes.append(f"{path} does not exist")
    except (OSError, TypeError, ValueError, paramiko.SSHException, UnknownKeyType) as error:
        if _is_encrypted(path):
            notes.append(f"{path} is encrypted: ssh-add {path}")
        else:
            notes.append(f"{path} cannot be read ({type(error).__name__})")
    return None


def _is_encrypted(path: Path) -> bool:
    """Return whether a key file needs a passphrase: the libraries say so each in its own way."""
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return False
    body = "".join(line for line in text.splitlines() if not line.startswith("-----"))
    if "BEGIN OPENSSH" not in text:
        return "ENCRYPTED" in text
    # PROTOCOL.key of OpenSSH: the magic word, then the name of the cipher, `none` without one.
    return not base64.b64decode(body + "==").startswith(b"openssh-key-v1\0\0\0\0\4none")


def _public(path: Path) -> str | None:
    """Return the public half that lies beside a key file, to find the key in the agent."""
    try:
        words = Path(f"{path}.pub").read_text(errors="replace").split()
    except OSError:
        return None
    return words[1] if len(words) > 1 else None


def _candidates(hop: Hop, notes: list[str]) -> Iterator[paramiko.PKey]:
    """Yield keys in OpenSSH's order: named ones that the agent has, its others, then files."""
    if hop.key is not None:
        yield _from_memory(hop.key)
        return
    publics = [_public(path) for path in hop.identities]
    with _agent_keys(hop, notes) as keys:
        held = {key.get_base64() for key in keys}
        for key in sorted(keys, key=lambda key: key.get_base64() not in publics):
            if key.get_base64() in publics or not hop.identities_only:
                yield key
        for path, public in zip(hop.identities, publics, strict=True):
            if public is None or public not in held:
                loaded = _from_file(path, notes, hop.identities_are_named)
                if loaded is not None and loaded.get_base64() not in held:
                    notes.append(str(path))
                    yield loaded


def _from_memory(pem: str) -> paramiko.PKey:
    classes = (paramiko.Ed25519Key, paramiko.ECDSAKey, paramiko.RSAKey)
    for kind in classes:
        try:
            return kind.from_private_key(io.StringIO(pem))
        except (paramiko.SSHException, ValueError, IndexError):
            continue
    raise ValueError("expected a private key of type ed25519, ecdsa or rsa")


def log_in(transport: paramiko.Transport, hop: Hop) -> None:
    """Authenticate a connection; TransportError of kind `auth` says what was tried."""
    transport.auth_timeout = AUTH_S
    notes: list[str] = []
    accepts = ""
    for key in _candidates(hop, notes):
        asked = time.monotonic()
        try:
            more = transport.auth_publickey(hop.user, key)
        except paramiko.BadAuthenticationType as error:
            accepts = f"; the server accepts {', '.join(error.allowed_types)}"
            break
        except (paramiko.SSHException, OSError, EOFError) as error:
            if time.monotonic() - asked >= AUTH_S:
                raise _too_late(hop) from error
            if not transport.is_active():
                notes.append(
                    f"the server ended the log-in ({error}); with many keys in the agent, "
                    "set IdentityFile and IdentitiesOnly"
                )
                break
        else:
            if not more:
                return
            accepts = f"; the key is good, but the server also wants {', '.join(more)}"
            break
    tried = "; ".join(notes) or "the key of the inventory"
    message = (
        f"log-in as {hop.user} at {hop.address} was refused (tried: {tried}){accepts}; "
        f"add a key of yours to its authorized_keys, or name user and IdentityFile in ssh_config"
    )
    raise TransportError(hop.name, "auth", message)


def _too_late(hop: Hop) -> TransportError:
    return TransportError(
        hop.name,
        "timeout",
        f"log-in as {hop.user} at {hop.address} was not answered within {AUTH_S:g} s; look there "
        "for what a log-in waits for: a directory service, DNS, the home directory",
    )
