"""The SSH side: one listening port per node on 127.0.0.1, one key that may log in."""

from __future__ import annotations

import contextlib
import io
import logging
import selectors
import socket
import threading
from collections.abc import Mapping

import paramiko
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.lab.login import Login
from pytest_fabric.lab.model import Node

ADDRESS = "127.0.0.1"

#: Simulated seconds after which the connections of a node that is to be lost end.
DROPPED_S = 60.0

#: Connections that may wait to be taken per node.
BACKLOG = 64


def new_key() -> tuple[paramiko.Ed25519Key, str]:
    """Return a fresh Ed25519 key, and its private half as OpenSSH writes it."""
    private = Ed25519PrivateKey.generate()
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode()
    return paramiko.Ed25519Key(file_obj=io.StringIO(pem)), pem


class Server:
    """The SSH servers of all nodes; `ports` says where each of them is."""

    def __init__(self, fabric: Fabric) -> None:
        # A controller that goes away is what a lab is for; paramiko would report it on stderr.
        logging.getLogger("paramiko").setLevel(logging.CRITICAL)
        self._fabric = fabric
        self._host_key, _ = new_key()
        self._other_key, _ = new_key()
        self._client_key, self.client_key = new_key()
        self._selector = selectors.DefaultSelector()
        self._sockets = {node.name: self._bind(node) for node in fabric.nodes.values()}
        self._listening = {node.name for node in fabric.nodes.values() if node.ssh != "down"}
        self._silent: list[socket.socket] = []
        self._stop, self._stopped = socket.socketpair()
        self._selector.register(self._stopped, selectors.EVENT_READ, None)

    @property
    def ports(self) -> Mapping[str, int]:
        """Return the TCP port of each node."""
        return {name: bound.getsockname()[1] for name, bound in self._sockets.items()}

    @property
    def host_key(self) -> str:
        """Return the public host key of every node as known_hosts writes it."""
        return f"{self._host_key.get_name()} {self._host_key.get_base64()}"

    def stop(self) -> None:
        """Make `serve` return; may be called from a signal handler or another thread."""
        with contextlib.suppress(OSError):  # it has returned already
            self._stop.send(b"x")

    def refresh(self) -> None:
        """Listen where SSH is up now, and no longer where it is down; from any thread."""
        with contextlib.suppress(OSError):  # it has returned already
            self._stop.send(b"r")

    def serve(self) -> None:
        """Take connections until `stop` is called; then nothing listens any more."""
        try:
            while self._take_ready():
                pass
        finally:
            self._selector.close()
            for each in (*self._sockets.values(), *self._silent, self._stop, self._stopped):
                each.close()

    def _take_ready(self) -> bool:
        for key, _ in self._selector.select():
            assert isinstance(key.fileobj, socket.socket)
            if key.data is not None:
                self._take(key.fileobj, self._fabric.nodes[key.data])
            elif b"x" in key.fileobj.recv(1024):
                return False
            else:
                self._rebind()
                return True  # sockets of this round may be closed
        return True

    def _rebind(self) -> None:
        """Open the sockets anew of nodes whose SSH went up or down, on the same ports."""
        for node in self._fabric.nodes.values():
            is_up = node.ssh != "down"
            if is_up == (node.name in self._listening):
                continue
            old = self._sockets[node.name]
            port = old.getsockname()[1]
            if not is_up:
                self._selector.unregister(old)
            old.close()
            self._sockets[node.name] = self._bind(node, port)
            self._listening ^= {node.name}

    def _bind(self, node: Node, port: int = 0) -> socket.socket:
        bound = socket.socket()
        if port:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((ADDRESS, port))
        # Connections inherit it; one without it would keep the port from being bound again.
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if node.ssh != "down":  # a port that is bound and does not listen refuses
            bound.listen(BACKLOG)
            bound.setblocking(False)
            self._selector.register(bound, selectors.EVENT_READ, node.name)
        return bound

    def _drop_later(self, transport: paramiko.Transport) -> None:
        """Close a connection in the middle of a run; it takes a thread of its own to do so."""
        clock = self._fabric.clock
        closing = threading.Thread(target=transport.close, name="lab-drop", daemon=True)
        clock.after(clock.real(DROPPED_S), closing.start)

    def _take(self, bound: socket.socket, node: Node) -> None:
        try:
            connection, _ = bound.accept()
        except OSError:
            return  # the client was faster to leave than we were to take it
        if node.ssh == "silent":
            self._silent.append(connection)
            return
        connection.setblocking(True)
        # Without this each small frame would wait for the acknowledgement of the one before.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport = paramiko.Transport(connection)
        if node.ssh == "dropped":
            self._drop_later(transport)
        # paramiko's own 0.1 s keep many quiet connections busy; it only closes one when it looks.
        connection.settimeout(1.0 if node.ssh == "dropped" else 30.0)
        transport.add_server_key(self._other_key if node.ssh == "new key" else self._host_key)
        transport.start_server(
            event=threading.Event(), server=Login(self._fabric, node, self._client_key, transport)
        )
