"""What the runs of a baseline have measured, by the jobs that measure it now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytest_fabric.results import Measured

#: A run by its name, with what it knows of a measurement, if anything.
Past = tuple[str, Measured | None]


class Earlier:
    """The measurements of earlier runs, each run by its name."""

    def __init__(self, runs: Iterable[tuple[str, Iterable[Measured]]] = ()) -> None:
        self._runs: list[tuple[str, Mapping[str, Measured]]] = [
            (name, {f"{m.record.target} {m.record.key}": m for m in measured})
            for name, measured in runs
        ]

    def of(self, key: str) -> tuple[Past, ...]:
        """Return what each run knows of the measurement with the key of a job."""
        return tuple((name, known.get(key)) for name, known in self._runs)
