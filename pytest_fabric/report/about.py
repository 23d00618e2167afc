"""What a run is: the record in `run.json`, from its first moment to its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_fabric.judge.training import Work

#: Counts the changes after which an older version must not read a run directory.
SCHEMA = 1


@dataclass(frozen=True)
class Options:
    """The options that tell what a run measured, and in which lab; `seed` is the lab's.

    `soak_s` is for how long a soak was asked for, in windows of `soak_window_s`.
    """

    nodes: str | None
    load: str
    faults: tuple[str, ...]
    seed: int | None
    soak_s: float | None = None
    soak_window_s: float | None = None


@dataclass(frozen=True)
class Waived:
    """A waiver as `cluster.yaml` has it; without a metric it is about any."""

    check: str
    target: str
    until: str
    owner: str
    reason: str
    metric: str | None = None


@dataclass(frozen=True)
class Cabled:
    """Where the plan has the other end of a cable; `length_m` is None where it does not say."""

    switch: str
    switch_port: str
    length_m: float | None = None


@dataclass(frozen=True)
class Retest:
    """The ticket that a run measures again, of which run, and the steps tried before by ticket."""

    ticket: str
    run: str
    tried: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class About:
    """What a run is; times are UTC in ISO 8601.

    `ports` tells what each port id stands for: how it is found, and where; `leaves` the switch of
    those of which it is declared, `routing` how flows find their way, `workload` what is
    trained. `ended`, `exit_status` and `interrupted` are None as long as it runs, and for ever when
    it was killed.

    `declared` are all ports of the inventory, those of `excluded` nodes included, `cables` their
    plan, `switches` the operating systems of those that are asked. `limits` are the metrics that
    have a limit, by profile, and `profiles` is the profile of each port. `suites` are the files of
    the tests with their SHA-256. `retest` is None for a run that is no retest.
    """

    schema: int
    version: str
    cluster: str
    inventory: str
    inventory_sha256: str
    transport: str
    strategy: str
    options: Options
    started: str
    user: str
    host: str
    ports: Mapping[str, str]
    resumed_from: str | None = None
    replayed_from: str | None = None
    ended: str | None = None
    exit_status: int | None = None
    interrupted: bool | None = None
    routing: str | None = None
    leaves: Mapping[str, str] = field(default_factory=dict)
    declared: tuple[str, ...] = ()
    excluded: Mapping[str, str] = field(default_factory=dict)
    waivers: tuple[Waived, ...] = ()
    min_coverage: float | None = None
    cables: Mapping[str, Cabled] = field(default_factory=dict)
    switches: Mapping[str, str] = field(default_factory=dict)
    profiles: Mapping[str, str] = field(default_factory=dict)
    limits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    suites: Mapping[str, str] = field(default_factory=dict)
    workload: Work | None = None
    retest: Retest | None = None
