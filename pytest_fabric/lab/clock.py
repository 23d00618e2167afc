"""The lab's time: simulated seconds that pass faster than real ones, and calls at a later time."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from itertools import count

#: Real seconds that any simulated run takes at least, so that runs overlap as real ones do.
SHORTEST_S = 0.005

#: The smallest scale: 0 means as fast as it goes, and uptime still advances.
FASTEST = 1e-4

#: Simulated seconds that a node has been up when the lab starts.
UPTIME_S = 86_400.0


class Timer:
    """A call that is due later, unless it is cancelled."""

    def __init__(self, due: float, call: Callable[[], None]) -> None:
        self.due = due
        self.call: Callable[[], None] | None = call

    def cancel(self) -> None:
        """Forget the call; harmless when it has been made."""
        self.call = None


class Clock:
    """Makes calls when they are due, all in one thread; `scale` is real per simulated second."""

    def __init__(self, scale: float) -> None:
        self.scale = max(scale, FASTEST)
        self._started = time.monotonic()
        self._began = time.time()
        self._order = count()
        self._due: list[tuple[float, int, Timer]] = []
        self._changed = threading.Condition()
        threading.Thread(target=self._run, name="lab-clock", daemon=True).start()

    def uptime(self) -> float:
        """Return the simulated seconds since the nodes booted."""
        return UPTIME_S + (time.monotonic() - self._started) / self.scale

    def wall(self) -> float:
        """Return the simulated time of day, in seconds since 1970: that of the start, and on."""
        return self._began + self.uptime() - UPTIME_S

    def real(self, simulated_s: float) -> float:
        """Return the real seconds that a run of simulated seconds takes."""
        return max(SHORTEST_S, simulated_s * self.scale)

    def after(self, real_s: float, call: Callable[[], None]) -> Timer:
        """Make a call in `real_s` seconds; it must not block."""
        timer = Timer(time.monotonic() + real_s, call)
        with self._changed:
            heapq.heappush(self._due, (timer.due, next(self._order), timer))
            if self._due[0][2] is timer:
                self._changed.notify()
        return timer

    def _run(self) -> None:
        while True:
            call = self._next().call
            if call is not None:
                call()

    def _next(self) -> Timer:
        with self._changed:
            while True:
                if not self._due:
                    self._changed.wait()
                elif (left := self._due[0][0] - time.monotonic()) > 0:
                    self._changed.wait(left)
                else:
                    return heapq.heappop(self._due)[2]
