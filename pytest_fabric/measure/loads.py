"""What a run has loaded the fabric with so far, and when: what switches counted is told by it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_fabric.measure.job import Job
from pytest_fabric.results import Measurement


@dataclass(frozen=True)
class Loads:
    """Loads that were made; moments are seconds of the epoch, None where nothing was measured.

    `congested` is when the first load began that disrupts others, `receivers` are the ports at
    which incasts ended that went well.
    """

    kinds: frozenset[str] = frozenset()
    began: float | None = None
    ended: float | None = None
    congested: float | None = None
    receivers: frozenset[str] = frozenset()

    @property
    def is_forced(self) -> bool:
        """Return whether congestion was forced."""
        return "disruptive" in self.kinds

    def and_of(self, job: Job, record: Measurement) -> Loads:
        """Return these, and what a measurement added to them."""
        began, ended = record.started, record.started + record.duration
        is_forced = job.load == "disruptive"
        is_incast = bool(job.settings.senders) and record.error is None and not record.doubts
        return replace(
            self,
            kinds=self.kinds | {job.load},
            began=_least(self.began, began),
            ended=max(self.ended or ended, ended),
            congested=_least(self.congested, began) if is_forced else self.congested,
            receivers=self.receivers | ({record.target} if is_incast else set()),
        )


def _least(one: float | None, other: float) -> float:
    return other if one is None else min(one, other)
