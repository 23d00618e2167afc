"""What a run is: the record in `run.json`, from its first moment to its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

#: Counts the changes after which an older version must not read a run directory.
SCHEMA = 1


@dataclass(frozen=True)
class Options:
    """The options that tell what a run measured, and in which lab; `seed` is the lab's."""

    nodes: str | None
    load: str
    faults: tuple[str, ...]
    seed: int | None


@dataclass(frozen=True)
class About:
    """What a run is; times are UTC in ISO 8601.

    `ports` tells what each port id stands for: how it is found, and where; `leaves` the switch of
    those of which it is declared, `routing` how flows find their way. `ended`, `exit_status`
    and `interrupted` are None as long as it runs, and for ever when it was killed.
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
