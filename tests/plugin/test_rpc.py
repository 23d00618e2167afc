"""Questions and answers between a worker and its controller."""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import get_args, get_type_hints

import pytest

from pytest_fabric.declare import ib_write_lat
from pytest_fabric.errors import ConfigError, FabricError, MeasurementError, TransportError
from pytest_fabric.measure.plan import Want
from pytest_fabric.results import Exposure, Fact, Measured, Pair, Reading, Tcp
from pytest_fabric.rpc import MODULES, Client, Line, dumps, loads, serve
from pytest_fabric.selection import Collected
from pytest_fabric.subjects import Shell
from pytest_fabric.worker import RemoteShell, RemoteSource

WANT = Want(ib_write_lat(size=4), Pair.parse("gpu001:rail0..gpu002:rail0"))


class Channel:
    """One end of a channel as execnet has it, in one process."""

    def __init__(self) -> None:
        self.other: Channel | None = None
        self.early: list[bytes] = []
        self.callback: Callable[[bytes | None], None] | None = None
        self.is_closed = False

    def setcallback(self, callback: Callable[[bytes | None], None], endmarker: None) -> None:
        self.callback = callback
        for data in self.early:
            callback(data)

    def send(self, data: bytes) -> None:
        if self.is_closed:
            raise OSError("closed")
        assert self.other is not None
        if self.other.callback is None:
            self.other.early.append(data)
        else:
            self.other.callback(data)

    def close(self) -> None:
        if self.is_closed:
            return
        self.is_closed = True
        assert self.other is not None
        self.other.is_closed = True
        for end in (self, self.other):
            if end.callback is not None:
                end.callback(None)


def lines() -> tuple[Line, Line]:
    one, other = Channel(), Channel()
    one.other, other.other = other, one
    return Line(one), Line(other)  # type: ignore[arg-type]


@pytest.fixture
def worker() -> Client:
    """Return a client whose questions are answered by a thread."""
    here, there = lines()

    def fail(error: BaseException) -> None:
        raise error

    answers: dict[str, Callable[..., object]] = {
        "same": lambda value: value,
        "fail": lambda name: fail(ERRORS[name]),
        "unsendable": threading.Lock,
        "end": lambda: there.close(),
    }
    threading.Thread(target=serve, args=(there, answers), daemon=True).start()
    return Client(here)


ERRORS: dict[str, BaseException] = {
    "measurement": MeasurementError("gpu001:rail0", "hang", "expected an end"),
    "transport": TransportError("gpu001", "lost", "the connection was lost"),
    "config": ConfigError("one", "two"),
    "bug": KeyError("a\nb"),
    "exit": SystemExit(3),
}


def test_records_arrive_as_they_were(worker: Client) -> None:
    """A want is the same want at the other end."""
    assert worker.ask("same", WANT) == WANT


@pytest.mark.parametrize("name", ["measurement", "transport", "config"])
def test_errors_of_ours_arrive_as_they_were(worker: Client, name: str) -> None:
    """With class, text and all that verdicts need of them."""
    with pytest.raises(FabricError) as caught:
        worker.ask("fail", name)

    assert type(caught.value) is type(ERRORS[name])
    assert str(caught.value) == str(ERRORS[name])
    assert vars(caught.value) == vars(ERRORS[name])


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (("fail", "bug"), "KeyError"),
        (("fail", "exit"), "SystemExit"),
        (("unsendable",), "TypeError"),
        (("unknown",), "KeyError"),
    ],
)
def test_anything_else_is_one_line_and_the_next_question_is_answered(
    worker: Client, question: tuple[str, ...], told: str
) -> None:
    """A thread that dies would let the worker wait for ever."""
    with pytest.raises(MeasurementError, match=f"^controller: internal error: {told}") as caught:
        worker.ask(*question)

    assert "\n" not in str(caught.value)
    assert worker.ask("same", 1) == 1


def test_a_question_to_nobody_is_an_error(worker: Client) -> None:
    """Whether the run ended before the question or while it was waited for."""
    for _ in range(2):
        with pytest.raises(MeasurementError, match="the run has ended"):
            worker.ask("end")


def test_an_answer_that_was_given_up_is_not_taken_for_the_next() -> None:
    """Ctrl-C may end a question before its answer comes."""
    here, there = lines()
    there.send(dumps((0, None, "old")))
    there.send(dumps((1, None, "new")))

    assert Client(here).ask("any") == "new"


def test_a_stop_is_noticed_between_questions() -> None:
    """It waits for nobody, and is no answer."""
    here, there = lines()
    there.stop()

    assert here.is_stopped
    assert here.waiting() is None


class Evil:
    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("true",)


@pytest.mark.parametrize("value", [Evil(), Evil, os.system])
def test_nothing_but_records_is_unpickled(value: object) -> None:
    """A worker may be on a machine that is not ours alone."""
    with pytest.raises(pickle.UnpicklingError, match="expected a record of ours"):
        loads(pickle.dumps(value))


def test_what_cannot_be_read_ends_the_line() -> None:
    """Whoever asked is told, and does not wait."""
    here, there = lines()
    here.send(pickle.dumps(Evil()))
    serve(there, {})

    assert here.receive() is None
    assert here.has_ended


def travelling(kind: object, found: set[type]) -> None:
    """Add the classes of ours in a type, and in the fields of those that are records."""
    if (
        isinstance(kind, type)
        and kind.__module__.startswith("pytest_fabric.")
        and kind not in found
    ):
        found.add(kind)
        if is_dataclass(kind):
            for inner in get_type_hints(kind).values():
                travelling(inner, found)
    for inner in get_args(kind):
        travelling(inner, found)


def test_every_module_of_records_that_travel_is_listed() -> None:
    """A record in a module that is not would be refused at the other end, in runs with `-n` only.

    What travels is in the questions and answers of a worker, and in what it collected.
    """
    found: set[type] = set()
    travelling(Collected, found)
    for asker in (RemoteSource, RemoteShell):
        for name, method in vars(asker).items():
            if not name.startswith("_") and callable(method):
                for kind in get_type_hints(method).values():
                    travelling(kind, found)
    found -= {Shell}  # the worker's own: its commands travel

    assert {Measured, Tcp, Fact, Collected, Want} <= found
    assert {kind.__module__ for kind in (*found, FabricError)} == MODULES


def test_readings_travel() -> None:
    """As they were: a record of records in a mapping."""
    fact = Fact(1e-9, detail=("counted for 60 min",), exposure=Exposure(3600.0, 4e11))
    reading = Reading("gpu001", "link", {"gpu001:rail0": {"link.raw_ber": fact}})

    assert loads(dumps(reading)) == reading
