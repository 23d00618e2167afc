"""Whether runs can be compared at all: independent of each other, and measured in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_fabric.errors import ConfigError
from pytest_fabric.judge.compare.run import Run
from pytest_fabric.results import Measurement

#: Settings that say nothing about how the traffic was made.
ASIDE = ("expected_s",)


def require(before: Sequence[Run], after: Sequence[Run]) -> None:
    """Raise ConfigError, a line for each reason, for runs that cannot be compared."""
    runs = [*before, *after]
    problems = [*_shared(runs), *_setups(runs), *_settings(runs)]
    if problems:
        raise ConfigError(*dict.fromkeys(problems))


def _shared(runs: Sequence[Run]) -> Iterator[str]:
    """Yield what runs have from each other: a run that was resumed or replayed is no other run."""
    seen: dict[tuple[str, str, float], Run] = {}
    for run in runs:
        owners = (seen.setdefault((r.target, r.key, r.started), run) for r in _records(run))
        other = next((owner for owner in owners if owner is not run), None)
        if other is not None:
            yield (
                f"{run.name}: expected runs that were measured apart, found measurements of "
                f"{other.name}: give each run once, and none that was resumed or replayed from it"
            )
            return


def _setups(runs: Sequence[Run]) -> Iterator[str]:
    first = runs[0]
    for run in runs[1:]:
        for what, value in first.setup.items():
            if run.setup.get(what) != value:
                yield _unlike(run, what, run.setup.get(what, "none"), first, value)


def _settings(runs: Sequence[Run]) -> Iterator[str]:
    """Yield measurements with one tool that were made with other settings."""
    first, known = runs[0], _by_key(runs[0])
    for run in runs[1:]:
        own = _by_key(run)
        here = {key: own[key] for key in own.keys() - known.keys()}
        there = [known[key] for key in known.keys() - own.keys()]
        for settings in (here[key] for key in sorted(here)):
            other = next((one for one in there if _name(one) == _name(settings)), None)
            if other is not None:
                for what in sorted(settings.keys() | other.keys()):
                    values = [one.get(what) for one in (settings, other)]
                    if what not in ASIDE and values[0] != values[1]:
                        told = f"{_name(settings)[0]}: {what}"
                        yield _unlike(run, told, values[0], first, values[1])


def _unlike(run: Run, what: str, found: object, first: Run, expected: object) -> str:
    shown = [str("none" if value is None else value)[:60] for value in (expected, found)]
    return (
        f"{run.name}: expected {what} {shown[0]} as in {first.name}, found {shown[1]}: the numbers "
        "of unlike settings cannot be compared"
    )


def _by_key(run: Run) -> dict[str, Mapping[str, object]]:
    return {record.key: record.settings for record in _records(run)}


def _name(settings: Mapping[str, object]) -> tuple[str, object, object]:
    return str(settings.get("tool")), settings.get("directions"), settings.get("packet")


def _records(run: Run) -> Iterator[Measurement]:
    for measured in run.measured:
        yield measured.record
        yield from measured.alone
