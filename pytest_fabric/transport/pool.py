"""The sessions of a run: one per node, made on first use, closed together."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from pytest_fabric.errors import TransportError
from pytest_fabric.transport import local
from pytest_fabric.transport.client import Audit, NodeSession
from pytest_fabric.transport.endpoint import Endpoint
from pytest_fabric.transport.jobs import Session

if TYPE_CHECKING:
    from pytest_fabric.transport import ssh

#: Log-ins that are prepared at a time; how many of them one place sees is the pacer's business.
_AT_ONCE = 32


class Pool:
    """Sessions by node; a node that could not be reached is not tried again."""

    def __init__(
        self, endpoints: Mapping[str, Endpoint] | Iterable[Endpoint], holder: str, audit: Audit
    ) -> None:
        given = endpoints.values() if isinstance(endpoints, Mapping) else endpoints
        self._endpoints = {endpoint.node: endpoint for endpoint in given}
        self._holder = holder
        self._audit = audit
        self._locks = {node: threading.Lock() for node in self._endpoints}
        self._known: dict[str, NodeSession | TransportError] = {}
        self._logins: ssh.Logins | None = None
        self._starting = threading.Lock()
        self._closed = False

    def session(self, node: str) -> Session:
        """Return the session on a node, made on first use; TransportError, the same every time."""
        with self._locks[node]:
            known = self._known.get(node)
            if known is None:
                known = self._known[node] = self._open(self._endpoints[node])
        if isinstance(known, TransportError):
            raise known.with_traceback(None)
        return known

    def lost(self) -> list[str]:
        """Return the nodes whose session was made and has ended since."""
        known = list(self._known.items())
        return [node for node, it in known if isinstance(it, NodeSession) and it.is_lost]

    def connect_all(self, nodes: Iterable[str]) -> dict[str, TransportError]:
        """Make the sessions of several nodes side by side; return what went wrong, by node."""
        wanted = list(dict.fromkeys(nodes))
        with ThreadPoolExecutor(_AT_ONCE, "fabric log-in") as executor:
            errors = executor.map(self._error_of, wanted)
            return {node: error for node, error in zip(wanted, errors, strict=True) if error}

    def _error_of(self, node: str) -> TransportError | None:
        try:
            self.session(node)
        except TransportError as error:
            return error
        return None

    def _open(self, endpoint: Endpoint) -> NodeSession | TransportError:
        if self._closed:
            return TransportError(endpoint.node, "lost", "the run is over")
        try:
            if endpoint.kind == "local":
                return local.open_session(endpoint, self._holder, self._audit)
            return self._over_ssh().session(endpoint)
        except TransportError as error:
            return error

    def _over_ssh(self) -> ssh.Logins:
        from pytest_fabric.transport import ssh  # paramiko: 0.1 s that a local run does not need

        with self._starting:
            if self._logins is None:
                self._logins = ssh.Logins(self._holder, self._audit)
            return self._logins

    def close(self) -> None:
        """End what still runs on every node, and leave them."""
        self._closed = True
        with ThreadPoolExecutor(_AT_ONCE, "fabric log-out") as executor:
            list(executor.map(self._leave, self._endpoints))
        if self._logins is not None:
            self._logins.close()

    def _leave(self, node: str) -> None:
        with self._locks[node]:
            known = self._known.get(node)
        if isinstance(known, NodeSession):
            known.close()
