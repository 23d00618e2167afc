"""Questions of workers and answers of their controller, over a channel that xdist's own link has.

The link is that of the worker's events, so what was sent before an event is here before it. Records
are pickled, and only records of ours are unpickled: a worker may be on another machine.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import pickle
import queue
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pytest_fabric.errors import FabricError, MeasurementError

if TYPE_CHECKING:
    import execnet

#: The key of `workerinput` that holds the channel.
CHANNEL = "fabric_channel"

#: Tells a worker to start no other test.
STOP = b"stop"

#: Where the classes are that may travel: what they are is in the types of `worker.RemoteSource`.
MODULES = frozenset(
    f"pytest_fabric.{name}"
    for name in (
        "declare.declaration",
        "errors",
        "measure.plan",
        "report.planned",
        "results",
        "rows",
        "said",
        "selection",
        "transport.jobs",
    )
)

#: The same on every version of Python that we run on.
PROTOCOL = 4


def dumps(value: object) -> bytes:
    """Return a value of records as bytes."""
    return pickle.dumps(value, PROTOCOL)


def loads(data: bytes) -> Any:  # noqa: ANN401 - whatever was sent
    """Return the value of bytes from `dumps`. Raises UnpicklingError for anything but records."""
    return _Reader(io.BytesIO(data)).load()


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> type:
        found = getattr(importlib.import_module(module), name, None) if module in MODULES else None
        if not isinstance(found, type) or found.__module__ != module:
            raise pickle.UnpicklingError(f"expected a record of ours, got {module}.{name}")
        return found


class Line:
    """One end of a channel: what arrives is kept until it is asked for."""

    def __init__(self, channel: execnet.Channel) -> None:
        self._channel = channel
        self._arrived: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.is_stopped = False
        self.has_ended = False
        channel.setcallback(self._take, endmarker=None)

    def _take(self, data: bytes | None) -> None:
        if data == STOP:
            self.is_stopped = True
            return
        self.has_ended = self.has_ended or data is None
        self._arrived.put(data)

    def send(self, data: bytes) -> None:
        """Send bytes. Raises OSError when the other end is gone."""
        self._channel.send(data)

    def stop(self) -> None:
        """Let a worker start no other test."""
        with contextlib.suppress(OSError):  # it is gone
            self._channel.send(STOP)

    def close(self) -> None:
        """Let the other end know that nobody listens any more."""
        with contextlib.suppress(OSError):
            self._channel.close()

    def receive(self) -> bytes | None:
        """Return the next bytes, or None when the other end is gone."""
        return self._arrived.get()

    def waiting(self) -> bytes | None:
        """Return the next bytes if they are here already."""
        try:
            return self._arrived.get_nowait()
        except queue.Empty:
            return None


class Client:
    """Asks; one question at a time."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._lock = threading.Lock()
        self._number = 0

    def ask(self, name: str, *args: object) -> Any:  # noqa: ANN401 - as the question has it
        """Return the answer to a question. Raises the FabricError that the other end raised."""
        with self._lock:
            self._number += 1
            try:
                self._line.send(dumps((self._number, name, args)))
            except OSError:
                raise _gone() from None
            while True:
                data = self._line.receive()
                if data is None:
                    raise _gone()
                try:
                    number, error, value = loads(data)
                except pickle.UnpicklingError as problem:
                    raise MeasurementError("controller", "internal", f"answer: {problem}") from None
                if number == self._number:  # an older one was no longer waited for (Ctrl-C)
                    break
        if error is not None:
            raise _raised(*error)
        return value


def serve(line: Line, answers: Mapping[str, Callable[..., object]]) -> None:
    """Answer questions by name until the other end is gone."""
    try:
        while (data := line.receive()) is not None:
            number, name, args = loads(data)
            line.send(_reply(number, lambda: answers[name](*args)))  # noqa: B023 - called at once
    except Exception:
        return  # the end of the line tells the worker
    finally:
        line.close()


def _reply(number: int, answer: Callable[[], object]) -> bytes:
    try:
        return dumps((number, None, answer()))
    except FabricError as error:
        return dumps((number, (type(error), error.args, vars(error)), None))
    except BaseException as error:  # a thread that dies would let the worker wait for ever
        told = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        failure = MeasurementError("controller", "internal", f"internal error: {told}")
        return dumps((number, (type(failure), failure.args, vars(failure)), None))


def _raised(
    kind: type[FabricError], args: tuple[object, ...], more: dict[str, object]
) -> Exception:
    """Return the error of the other end as it was, whatever its class asks for."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(more)
    return error


def _gone() -> MeasurementError:
    return MeasurementError("controller", "lost", "expected an answer, but the run has ended")
