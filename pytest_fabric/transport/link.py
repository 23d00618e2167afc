"""What carries an SSH connection: a socket, a channel of a jump host or a proxy command."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import subprocess
import time

import paramiko

from pytest_fabric.errors import TransportError
from pytest_fabric.transport.hops import Hop

#: Lines that a server may send before its banner (RFC 4253, 4.2); more is no SSH server.
_MAX_GREETING = 4096
#: What is received at once.
_CHUNK = 2**16


class Link:
    """A socket, in the shape that paramiko uses, that knows when it was last heard of."""

    def __init__(
        self,
        carrier: socket.socket | paramiko.Channel,
        proxy: subprocess.Popen[bytes] | None = None,
        beneath: Link | None = None,
    ) -> None:
        self._carrier = carrier
        self._beneath = beneath
        self._proxy = proxy
        self._first = b""
        self.heard = time.monotonic()

    def peek(self, wanted: bytes, timeout_s: float) -> bytes:
        """Return what comes until it holds `wanted` or ends; it stays to be received."""
        until = time.monotonic() + timeout_s
        while wanted not in self._first and len(self._first) < _MAX_GREETING:
            self._carrier.settimeout(max(0.01, until - time.monotonic()))
            data = self._carrier.recv(256)
            if not data:
                break
            self._first += data
        return self._first

    def recv(self, count: int) -> bytes:
        """Receive as a socket does."""
        if not self._first:
            # paramiko asks for each packet in parts: take all that is there at once.
            self._first = self._carrier.recv(max(count, _CHUNK))
            self.heard = time.monotonic()
        data, self._first = self._first[:count], self._first[count:]
        return data

    def has_unread(self) -> bool:
        """Return whether something came, here or on what carries this, that was not received."""
        if isinstance(self._carrier, paramiko.Channel):
            beneath = self._beneath is not None and self._beneath.has_unread()
            return beneath or self._carrier.recv_ready()
        poll = select.poll()
        try:
            poll.register(self._carrier, select.POLLIN)
        except (OSError, ValueError):  # it is closed
            return False
        return bool(poll.poll(0))

    def send(self, data: bytes) -> int:
        """Send as a socket does."""
        return self._carrier.send(data)

    def settimeout(self, timeout_s: float | None) -> None:
        """Bound the waits of `recv` and `send`."""
        self._carrier.settimeout(timeout_s)

    @property
    def _closed(self) -> bool:
        """Tell paramiko whether the socket is closed (it reads this attribute of sockets)."""
        closed: bool = self._carrier._closed  # type: ignore[union-attr]
        return closed

    def close(self) -> None:
        """Release the carrier, and end the proxy command."""
        # A channel says good-bye through a jump host, which may be gone itself.
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            if isinstance(self._carrier, socket.socket):
                self._carrier.shutdown(socket.SHUT_RDWR)  # wakes the thread that receives
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            self._carrier.close()
        if self._proxy is not None:
            with contextlib.suppress(ProcessLookupError):  # it may have ended by itself
                os.killpg(self._proxy.pid, 15)
            self._proxy.wait()


def dial(hop: Hop) -> Link:
    """Open a TCP connection; TransportError: `unresolved`, `refused`, `timeout`, `banner`."""
    if hop.proxy_command is not None:
        return _through_command(hop.proxy_command)
    try:
        carrier = socket.create_connection((hop.host, hop.port), hop.connect_timeout_s)
    except socket.gaierror as error:
        message = (
            f"{hop.host} does not resolve ({error.strerror}); is the address of the node right?"
        )
        raise TransportError(hop.name, "unresolved", message) from error
    except ConnectionRefusedError as error:
        message = f"{hop.address} refuses connections; does sshd run, and on that port?"
        raise TransportError(hop.name, "refused", message) from error
    except (ConnectionResetError, ConnectionAbortedError) as error:
        raise _no_banner(hop, error.strerror or "reset") from error
    except OSError as error:
        why = error.strerror or f"no answer within {hop.connect_timeout_s:g} s"
        message = f"{hop.address} cannot be reached ({why}); is the node up, does a firewall drop?"
        raise TransportError(hop.name, "timeout", message) from error
    carrier.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Link(carrier)


def _through_command(command: str) -> Link:
    """Start a ProxyCommand with one end of a socket pair as its standard input and output."""
    ours, theirs = socket.socketpair()
    with theirs:
        proxy = subprocess.Popen(
            ["sh", "-c", f"exec {command}"],
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    return Link(ours, proxy)


def await_banner(link: Link, hop: Hop, until: float) -> None:
    """Wait for sshd's first bytes; TransportError: `silent`, or `banner` for anything but SSH."""
    try:
        first = link.peek(b"SSH-", max(0.01, until - time.monotonic()))
    except TimeoutError as error:
        message = (
            f"{hop.address} accepts TCP, but sent no SSH banner within {hop.connect_timeout_s:g} s;"
            " the node hangs, or something else listens there"
        )
        raise TransportError(hop.name, "silent", message) from error
    except OSError as error:
        raise _no_banner(hop, error.strerror or "reset") from error
    if b"SSH-" not in first:
        text = first.decode("ascii", "replace").strip()
        raise _no_banner(hop, repr(text[:80]) if text else "closed")


def _no_banner(hop: Hop, found: str) -> TransportError:
    message = f"{hop.address} ended the connection before its SSH banner ({found})"
    return TransportError(hop.name, "banner", message)
