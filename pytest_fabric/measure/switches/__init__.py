"""The switches of a run: what each says of its ends of the cables, at the start and over the run.

A switch is asked once for facts, once for counters before the first load, once before congestion is
forced, and once behind the last load.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from pytest_fabric.config import SWITCHES, Cluster
from pytest_fabric.errors import FabricError, MeasurementError
from pytest_fabric.measure.loads import Loads
from pytest_fabric.measure.plan import Want
from pytest_fabric.measure.record import slip
from pytest_fabric.measure.switches import captured, counts, facts
from pytest_fabric.measure.switches.counts import Window
from pytest_fabric.measure.switches.far import Facts, ends
from pytest_fabric.results import Port, Reading
from pytest_fabric.transport import Collect, Outcome

FACTS, WINDOW = "switch", "switch_window"

#: What a switch may take to answer: its commands are scripts, of seconds each with 64 ports.
DEADLINE_S = 120.0

AT_ONCE = 32

#: Runs sections on a switch, as one job.
Ask = Callable[[str, Collect], Mapping[str, Outcome]]


@dataclass(frozen=True)
class First:
    """The first reading of a switch's counters, and when it was made, in seconds."""

    outcomes: Mapping[str, Outcome]
    moment: float


def asked(wants: Iterable[Want], cluster: Cluster) -> list[tuple[str, str]]:
    """Return the topics that tests want of switches, each with the switch, each once."""
    found: dict[tuple[str, str], None] = {}
    for want in wants:
        topic, port = want.declaration.tool, want.target
        switch = cluster.switch(port) if topic in SWITCHES and isinstance(port, Port) else None
        if switch is not None:
            found[topic, switch.name] = None
    return list(found)


def captured_window(switch: str, folder: Path, loads: Loads) -> Window:
    """Return the window that a site has captured, which must be that of the run's load.

    `middle/` is what it has captured before congestion was forced, if it has. Raises
    MeasurementError.
    """
    names = captured.there(folder, counts.SECTIONS)
    span = captured.span(switch, folder, names)
    captured.require_load(switch, folder, span, loads)
    before, after = (captured.read(switch, folder, when, names) for when in ("before", "after"))
    quiet = None
    if loads.is_forced and (folder / "middle").is_dir():
        captured.require_quiet(switch, folder, names, span, loads)
        quiet = captured.read(switch, folder, "middle", names)
    return Window(before, after, span[1] - span[0], loads.is_forced, quiet, loads.receivers)


class Switches:
    """Switches by name; what each has said is remembered, and so is why it has not."""

    def __init__(
        self,
        cluster: Cluster,
        ask: Ask,
        keep: Callable[[Reading], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster = cluster
        self._ask = ask
        self._keep = keep
        self._now = now
        self._locks = {name: threading.RLock() for name in cluster.switches}
        self._first: dict[str, First | FabricError] = {}
        self._quiet: dict[str, Mapping[str, Outcome] | FabricError] | None = None
        self._congesting = threading.Lock()
        self._readings: dict[tuple[str, str], Reading | FabricError] = {}

    def begin(self, wanted: Iterable[tuple[str, str]]) -> None:
        """Read what is wanted before the first load; failures show when it is asked for."""
        with ThreadPoolExecutor(AT_ONCE, "fabric switches") as threads:
            list(threads.map(lambda pair: self._begin(*pair), wanted))

    def congest(self) -> None:
        """Read the counters once more, before the first load that forces congestion; once."""
        with self._congesting:
            if self._quiet is None:
                names = [name for name, first in self._first.items() if isinstance(first, First)]
                with ThreadPoolExecutor(AT_ONCE, "fabric switches") as threads:
                    self._quiet = dict(zip(names, threads.map(self._later, names), strict=True))

    def _later(self, switch: str) -> Mapping[str, Outcome] | FabricError:
        """Return the counters of a switch as they are now, or why it does not tell them."""
        try:
            return self._ask(switch, Collect({**counts.WAIT, **counts.SECTIONS}, DEADLINE_S))
        except FabricError as error:
            return error

    def facts(self, switch: str) -> Reading:
        """Return how a switch is set up. Raises TransportError, MeasurementError."""
        return self._once(FACTS, switch, lambda: self._facts(switch))

    def window(self, switch: str, loads: Loads, known: Reading | None = None) -> Reading:
        """Return what a switch has counted since the start of the run, once.

        `loads` are those of the run so far; `known` is the window of the run that is resumed.
        Raises TransportError, MeasurementError.
        """
        earlier = known.facts if known is not None else None
        if earlier is not None and not loads.kinds:
            return self._once(WINDOW, switch, lambda: earlier)
        return self._once(WINDOW, switch, lambda: self._window(switch, loads, earlier))

    def _begin(self, topic: str, switch: str) -> None:
        try:
            if topic == FACTS:
                self.facts(switch)
            elif self._cluster.switches[switch].files is None:
                outcomes = self._ask(switch, Collect(counts.SECTIONS, DEADLINE_S))
                self._first[switch] = First(outcomes, self._now())
        except FabricError as error:
            if topic == WINDOW:
                self._first[switch] = error

    def _once(self, topic: str, switch: str, make: Callable[[], Facts]) -> Reading:
        key = (topic, switch)
        with self._locks[switch]:
            if key not in self._readings:
                try:
                    reading = Reading(switch, topic, make())
                    self._keep(reading)
                    self._readings[key] = reading
                except FabricError as error:
                    self._readings[key] = error
                except Exception as error:
                    self._readings[key] = slip(switch, topic, error)
            found = self._readings[key]
        if isinstance(found, FabricError):
            raise found.with_traceback(None)
        return found

    def _facts(self, switch: str) -> Facts:
        folder = self._cluster.switches[switch].files
        if folder is None:
            outcomes = self._ask(switch, Collect(facts.SECTIONS, DEADLINE_S))
        else:
            names = captured.there(folder, facts.SECTIONS, "before")
            outcomes = captured.read(switch, folder, "before", names)
        return facts.read_facts(ends(self._cluster, switch), outcomes)

    def _window(self, switch: str, loads: Loads, earlier: Facts | None) -> Facts:
        folder = self._cluster.switches[switch].files
        if folder is not None:
            window = captured_window(switch, folder, loads)
        else:
            first = self._first.get(switch)
            if first is None:
                raise MeasurementError(
                    switch,
                    "no_window",
                    "expected counters from before the first load, found none: nobody had asked "
                    "for them when the run began",
                )
            if isinstance(first, FabricError):
                raise first.with_traceback(None)
            quiet = (self._quiet or {}).get(switch)
            if isinstance(quiet, FabricError):
                raise quiet.with_traceback(None)
            after = self._ask(switch, Collect({**counts.WAIT, **counts.SECTIONS}, DEADLINE_S))
            seconds = self._now() - first.moment
            rest = (loads.is_forced, quiet, loads.receivers)
            window = Window(first.outcomes, after, seconds, *rest)
        return counts.read_window(ends(self._cluster, switch), window, earlier)
