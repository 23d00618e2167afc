"""Records are worked on when nothing starts: a start costs time on a NIC, a record does not."""

from __future__ import annotations

import pytest

from pytest_fabric.measure import books as module
from pytest_fabric.measure.books import LONGEST_S, SETTLE_S, Books


class Clock:
    """Stands for `time`: sleeping passes it, and measurements start at its moments."""

    def __init__(self, starts: list[float]) -> None:
        self.now = 100.0
        self.starts = [self.now + start for start in starts]
        self.books = Books()

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        end = self.now + seconds
        while self.starts and self.starts[0] <= end:
            self.now = self.starts.pop(0)
            self.books.note_start()
        self.now = end


@pytest.mark.parametrize(
    ("starts", "is_awaited", "waited_s"),
    [
        ([], False, 0.0),
        ([], True, SETTLE_S),
        ([0.05], True, 0.05 + SETTLE_S),
        ([0.05, 0.14, 0.2], True, 0.2 + SETTLE_S),
        ([0.05, 0.5], True, 0.05 + SETTLE_S),
        ([0.09 * number for number in range(1, 100)], True, LONGEST_S),
    ],
    ids=["nobody waits", "none", "one", "several", "a later one", "no end"],
)
def test_a_record_waits_until_nothing_starts(
    monkeypatch: pytest.MonkeyPatch, starts: list[float], is_awaited: bool, waited_s: float
) -> None:
    clock = Clock(starts)
    monkeypatch.setattr(module, "time", clock)

    with clock.books.after(lambda usual: is_awaited):
        assert clock.now - 100.0 == pytest.approx(waited_s)
