"""What a run builds on: an earlier run that it resumes or replays, and what it says of itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import pytest

from pytest_fabric.description import about_of, now
from pytest_fabric.errors import ConfigError
from pytest_fabric.inventory import Inventory, user_path
from pytest_fabric.measure.earlier import Earlier
from pytest_fabric.measure.plan import Policy
from pytest_fabric.report.about import About
from pytest_fabric.report.rundir import RunDirectory
from pytest_fabric.report.stored import Stored, open_run
from pytest_fabric.results import Measured, Measurement
from pytest_fabric.sources import without_baseline


@dataclass(frozen=True)
class History:
    """What a run is, and the earlier run that it resumes or replays, if any."""

    about: About
    resumed: Stored | None = None
    replayed: Stored | None = None
    baseline: tuple[Stored, ...] = ()
    without_baseline: bool = False

    @property
    def earlier(self) -> Earlier:
        """Return what the runs of the baseline have measured."""
        return Earlier((run.path.name, run.measured) for run in self.baseline)

    @property
    def known(self) -> list[Measurement]:
        """Return the measurements that need not be made again."""
        return self.resumed.settled if self.resumed is not None else []

    def begin(self, directory: RunDirectory) -> None:
        """Write what is taken over, then what the run is. Raises OSError, ConfigError.

        A run that is killed before `run.json` is there has lost nothing: the earlier one is whole.
        """
        for earlier in (self.resumed, self.replayed):
            if earlier is not None:
                for record in earlier.copies(settled_only=earlier is self.resumed):
                    directory.measurement(record)
        if self.replayed is not None:
            for node, facts in self.replayed.facts.items():
                directory.facts(node, asdict(facts))
            for reading in self.replayed.readings.values():
                directory.reading(reading)
        directory.about(self.about)

    def ended(self, status: int) -> About:
        """Return what a run is at its end."""
        return replace(
            self.about,
            ended=now(),
            exit_status=status,
            interrupted=status == pytest.ExitCode.INTERRUPTED,
        )

    def notes(self, taken_over: int) -> list[str]:
        """Return what a reader of the verdicts must know of the earlier run."""
        if self.replayed is not None:
            return [
                f"replay of {self.replayed.path}{self._change(self.replayed)}: not measured now"
            ]
        if self.resumed is None:
            return []
        left = len(self.known) - taken_over
        unused = f", {left:,} not asked for" if left else ""
        told = f"taken over: {taken_over:,} measurement{'' if taken_over == 1 else 's'} of "
        return [f"{told}{self.resumed.path}{unused}{self._change(self.resumed)}"]

    def _change(self, earlier: Stored) -> str:
        is_same = earlier.about.inventory_sha256 == self.about.inventory_sha256
        return "" if is_same else f" ({Path(self.about.inventory).name} has changed since)"


def history_of(
    config: pytest.Config, inventory: Inventory, policy: Policy, nodeids: Iterable[str]
) -> History:
    """Return what a run is and builds on. Raises ConfigError for an earlier run that is unfit."""
    about = about_of(config, inventory, policy, nodeids)
    compared = (_baseline(config, about), without_baseline(config))
    resumed = _earlier(config, "--fabric-resume")
    replayed = _earlier(config, "--fabric-replay")
    require_apart(compared[0], resumed or replayed)
    if resumed is not None:
        require_same("--fabric-resume", resumed, about)
        require_same_lab(resumed, about)
        about = replace(about, resumed_from=str(resumed.path))
        return History(about, resumed, None, *compared)
    if replayed is not None:
        require_same("--fabric-replay", replayed, about)
        then = replayed.about.options  # its lab is the one that was measured
        options = replace(about.options, faults=then.faults, seed=then.seed)
        about = replace(about, options=options, replayed_from=str(replayed.path))
        return History(about, None, replayed, *compared)
    return History(about, None, None, *compared)


def _earlier(config: pytest.Config, option: str) -> Stored | None:
    named = config.getoption(option)
    return None if named is None else _opened(config, option, named)


def _baseline(config: pytest.Config, about: About) -> tuple[Stored, ...]:
    """Return the runs of the baseline, each once. Raises ConfigError."""
    option = "--fabric-baseline"
    runs = [_opened(config, option, named) for named in config.getoption(option)]
    found = {run.path: run for run in runs}
    for run in found.values():
        require_same(option, run, about)
    return tuple(found.values())


def require_apart(baseline: Iterable[Stored], earlier: Stored | None) -> None:
    """Raise ConfigError for a baseline with measurements of the run that is judged again.

    What is compared with itself is never worse.
    """
    own = {_made(m) for m in earlier.measured} if earlier is not None else set()
    for run in baseline:
        if earlier is not None and any(_made(m) in own for m in run.measured):
            raise ConfigError(
                f"--fabric-baseline: expected runs that were measured apart from {earlier.path}, "
                f"found its measurements in {run.path}: what is compared with itself is never worse"
            )


def _made(measured: Measured) -> tuple[str, str, float]:
    return measured.record.target, measured.record.key, measured.record.started


def _opened(config: pytest.Config, option: str, named: str) -> Stored:
    path = user_path(config, named)
    if named == "latest":
        path = user_path(config, config.getoption("--fabric-out")) / "latest"
    return open_run(option, path)


def require_same(option: str, earlier: Stored, about: About) -> None:
    """Raise ConfigError for a run on another fabric: its measurements say nothing about this."""
    then = earlier.about
    _require(option, earlier, "cluster", then.cluster, about.cluster)
    _require(option, earlier, "transport", then.transport, about.transport)
    for port in about.ports.keys() & then.ports.keys():
        _require(option, earlier, port, then.ports[port], about.ports[port])


def require_same_lab(resumed: Stored, about: About) -> None:
    """Raise ConfigError for a run in a lab that was another one, or broken in another way."""
    then, now = resumed.about, about
    seeds = (_shown(then.options.seed), _shown(now.options.seed))
    _require("--fabric-resume", resumed, "lab.seed", *seeds)
    _require("--fabric-resume", resumed, "--fabric-fault", _faults(then), _faults(now))


def _require(option: str, earlier: Stored, what: str, found: str, expected: str) -> None:
    if found != expected:
        raise ConfigError(
            f"{option}: expected a run with {what} {expected}, found {found[:60]!r} in "
            f"{earlier.path}: choose another run, or start anew without {option}"
        )


def _shown(number: int | None) -> str:
    return "none" if number is None else str(number)


def _faults(about: About) -> str:
    return ",".join(sorted(set(about.options.faults))) or "none"
