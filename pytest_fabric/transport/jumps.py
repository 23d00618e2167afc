"""Jump hosts: logged in to once, however many nodes are behind them."""

from __future__ import annotations

import threading

from pytest_fabric.errors import TransportError
from pytest_fabric.transport.connection import Connection, connect
from pytest_fabric.transport.hops import Hop
from pytest_fabric.transport.pacing import Pacer


class Jumps:
    """Log-ins at jump hosts, shared by the nodes behind them, so that each sees only one."""

    def __init__(self, pacer: Pacer) -> None:
        self._pacer = pacer
        self._lock = threading.Lock()
        self._locks: dict[tuple[Hop, ...], threading.Lock] = {}
        self._open: dict[tuple[Hop, ...], Connection | TransportError] = {}

    def reach(self, hops: tuple[Hop, ...]) -> Connection | None:
        """Return the connection at the last of these hops, None for no hop.

        Raises the TransportError of the first log-in again, without a new one.
        """
        if not hops:
            return None
        with self._lock:
            lock = self._locks.setdefault(hops, threading.Lock())
        with lock:
            known = self._open.get(hops)
            if known is None or (isinstance(known, Connection) and not known.active):
                known = self._open[hops] = self._connect(hops)
        if isinstance(known, TransportError):
            raise known
        return known

    def _connect(self, hops: tuple[Hop, ...]) -> Connection | TransportError:
        hop = hops[-1]
        try:
            over = self.reach(hops[:-1])
            return self._pacer.log_in(hop.via or hop.host, lambda: connect(hop, over))
        except TransportError as error:
            return error

    def close(self) -> None:
        """Close them all, the far ones first."""
        for hops in sorted(self._open, key=len, reverse=True):
            connection = self._open[hops]
            if isinstance(connection, Connection):
                connection.close()
