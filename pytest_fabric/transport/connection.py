"""An authenticated SSH connection: opened hop by hop, verified, watched, and closed whole."""

from __future__ import annotations

import logging
import socket
import threading
import time
from typing import cast

import paramiko

from pytest_fabric.errors import TransportError
from pytest_fabric.transport import hostkeys, keys
from pytest_fabric.transport.hops import Hop
from pytest_fabric.transport.link import Link, await_banner, dial

#: Quiet for this long, the other side is asked whether it is still there (ServerAliveInterval).
KEEPALIVE_S = 2.0
#: No answer for this long, it is not: a lost node is told within 5 s.
DEAD_S = 2.5
#: Exchanging keys may take so many times what connecting may: an emulated machine under load was
#: seen to need more than 5 s for it.
ARITHMETIC = 3
#: SSH_OPEN_ADMINISTRATIVELY_PROHIBITED (RFC 4254, 5.1).
_PROHIBITED = 1
#: Messages that sshd takes on open channels only.
_ON_CHANNEL = (
    paramiko.common.MSG_CHANNEL_DATA,
    paramiko.common.MSG_CHANNEL_EXTENDED_DATA,
    paramiko.common.MSG_CHANNEL_EOF,
    paramiko.common.MSG_CHANNEL_CLOSE,
)

#: paramiko logs tracebacks of what we report as one line; this logger of ours takes none.
_LOG = logging.getLogger("pytest_fabric.transport.paramiko")
_LOG.setLevel(logging.CRITICAL + 1)


class _Transport(paramiko.Transport):
    """paramiko's, with a keepalive that is answered, the other side's own words when it opens no
    channel, and nothing sent on a channel behind its close: sshd ends the whole connection then.
    """

    #: How often the thread of a quiet connection looks whether it was closed: `Link.close` wakes
    #: it anyhow.
    _active_check_timeout = 30.0

    def __init__(self, link: Link) -> None:
        super().__init__(cast(socket.socket, link))
        self.set_log_channel(_LOG.name)
        self._order = threading.Lock()
        self._gone: set[int] = set()
        self._opening = threading.local()
        self._refusals: dict[int, tuple[int, str]] = {}

    def ask_alive(self) -> None:
        """Send a request that every server answers, if only with a refusal."""
        request = paramiko.Message()
        request.add_byte(paramiko.common.cMSG_GLOBAL_REQUEST)
        request.add_string("keepalive@openssh.com")
        request.add_boolean(True)
        self._send_user_message(request)

    def refusal(self) -> tuple[int, str]:
        """Return why this thread got no channel: the code of RFC 4254 5.1, and their words."""
        return self._refusals.pop(getattr(self._opening, "channel", -1), (0, ""))

    def _send_user_message(self, message: paramiko.Message) -> None:
        head = bytes(message.packet.getbuffer()[:5])
        kind, channel = head[0], int.from_bytes(head[1:], "big")
        with self._order:
            if kind in _ON_CHANNEL and channel in self._gone:
                return
            if kind == paramiko.common.MSG_CHANNEL_CLOSE:
                self._gone.add(channel)
            super()._send_user_message(message)  # type: ignore[misc]  # missing in the stubs

    def _parse_channel_open_success(self, message: paramiko.Message) -> None:
        _, theirs = message.get_int(), message.get_int()
        self._gone.discard(theirs)  # numbers are used again
        message.rewind()
        super()._parse_channel_open_success(message)  # type: ignore[misc]

    def _next_channel(self) -> int:
        number: int = super()._next_channel()  # type: ignore[misc]
        self._opening.channel = number
        return number

    def _parse_channel_open_failure(self, message: paramiko.Message) -> None:
        channel = message.get_int()
        self._refusals[channel] = message.get_int(), message.get_text()
        message.rewind()
        super()._parse_channel_open_failure(message)  # type: ignore[misc]


class Connection:
    """A log-in at one hop; `carry` reaches the next one through it."""

    def __init__(self, hop: Hop, link: Link) -> None:
        self.hop = hop
        self._link = link
        self._asked = 0.0
        self._transport = _Transport(link)
        self._transport.banner_timeout = hop.connect_timeout_s
        self._transport.handshake_timeout = ARITHMETIC * hop.connect_timeout_s

    def negotiate(self, until: float) -> None:
        """Exchange keys and verify the host's; TransportError when that fails."""
        hop, transport = self.hop, self._transport
        options = transport.get_security_options()
        # Encrypts and authenticates in one call; the others need an HMAC made in Python besides.
        options.ciphers = sorted(options.ciphers, key=lambda name: "gcm" not in name)
        options.key_types = hostkeys.preferred(hop, tuple(options.key_types))
        done = threading.Event()
        transport.start_client(done)
        if not done.wait(max(0.0, until - time.monotonic())):
            message = f"{hop.address} stopped answering within its key exchange"
            raise TransportError(hop.name, "silent", message)
        if not transport.is_active():
            why = transport.get_exception() or "closed"
            message = f"{hop.address} ended the connection within its key exchange ({why})"
            raise TransportError(hop.name, "banner", message)
        key = transport.get_remote_server_key()
        hostkeys.verify(hop, key.get_name(), key.asbytes())

    def log_in(self) -> None:
        """Authenticate; TransportError of kind `auth` when no key is taken."""
        keys.log_in(self._transport, self.hop)
        # The key exchange is over: paramiko would cancel its timer again with each message.
        self._transport.packetizer.complete_handshake()
        self._transport.packetizer.complete_handshake = _nothing  # type: ignore[method-assign]

    def carry(self, hop: Hop) -> Link:
        """Open a TCP connection from this host; TransportError as from `dial`."""
        asked = time.monotonic()
        try:
            channel = self._transport.open_channel(
                "direct-tcpip",
                (hop.host, hop.port),
                ("127.0.0.1", 0),
                timeout=hop.connect_timeout_s,
            )
        except (paramiko.SSHException, OSError, EOFError) as error:
            if self.active and self._link.heard < asked:
                self.close()  # for the other nodes behind it, that need not wait as long
                message = f"jump host {self.hop.name} has stopped answering"
                raise TransportError(hop.name, "silent", message) from error
            raise self._not_carried(hop, error) from error
        return Link(channel, beneath=self._link)

    def _not_carried(self, hop: Hop, error: Exception) -> TransportError:
        jump = self.hop.name
        if not self._transport.is_active():
            return TransportError(hop.name, "lost", f"the connection to jump host {jump} is lost")
        code, words = self._transport.refusal()
        low = words.lower()
        if code == _PROHIBITED:
            kind, words = "refused", "forbidden there: see AllowTcpForwarding and PermitOpen"
        elif "refused" in low:
            kind = "refused"
        elif "not known" in low or "resol" in low:
            kind = "unresolved"
        else:
            kind = "timeout"
        message = f"jump host {jump} cannot reach {hop.host}:{hop.port} ({words or error})"
        return TransportError(hop.name, kind, message)

    def channel(self, command: str) -> paramiko.Channel:
        """Start a command on a channel of its own; OSError when the server does not open one."""
        try:
            channel = self._transport.open_session(timeout=keys.AUTH_S)
            channel.exec_command(command)
        except (paramiko.SSHException, EOFError) as error:
            raise OSError(f"no channel: {self._transport.refusal()[1] or error}") from error
        return channel

    def ask_alive(self) -> None:
        """After a quiet while, ask whether the other side is there."""
        now = time.monotonic()
        if self._asked <= self._link.heard < now - KEEPALIVE_S:
            self._asked = now
            self._transport.ask_alive()

    def patience_s(self) -> float:
        """Return how long to read until it is time to ask, or to give up."""
        heard, asked = self._link.heard, self._asked
        due = asked + DEAD_S if asked > heard else heard + KEEPALIVE_S
        return max(0.01, due - time.monotonic() + 0.01)

    def stalled(self) -> str | None:
        """Return what is known when the other side has not answered for too long.

        An answer that came and was not read yet is one: we may have been stopped ourselves.
        """
        silence = time.monotonic() - self._asked
        if self._asked > self._link.heard and silence > DEAD_S and not self._link.has_unread():
            return f"{self.hop.address} has not answered for {KEEPALIVE_S + silence:.0f} s"
        return None

    def ended(self) -> str:
        """Return why the connection is over."""
        error = self._transport.get_exception()
        return str(error) if error is not None and str(error) else "closed by the other side"

    @property
    def active(self) -> bool:
        """Return whether the connection still stands."""
        return self._transport.is_active()

    def close(self) -> None:
        """Close the connection with all that it carries."""
        self._transport.packetizer.complete_handshake()  # else its timer lives on
        self._transport.close()
        self._link.close()
        if self._transport.ident is not None:
            self._transport.join(DEAD_S)


def _nothing() -> None:
    pass


def connect(hop: Hop, over: Connection | None) -> Connection:
    """Log in at a hop, through an earlier one if there is one; TransportError says what failed.

    The time-out of connecting covers TCP and the banner; who has spoken SSH is given more.
    """
    until = time.monotonic() + hop.connect_timeout_s
    link = dial(hop) if over is None else over.carry(hop)
    connection = None
    try:
        await_banner(link, hop, until)
        connection = Connection(hop, link)
        # It speaks SSH, so it is there: a busy machine may take its time for the arithmetic.
        connection.negotiate(time.monotonic() + ARITHMETIC * hop.connect_timeout_s)
        connection.log_in()
    except BaseException:
        link.close() if connection is None else connection.close()
        raise
    return connection
