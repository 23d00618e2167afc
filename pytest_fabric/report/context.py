"""What a run knows at its end beside verdicts and measurements: `context.json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pytest_fabric.errors import ConfigError
from pytest_fabric.report import records, typed
from pytest_fabric.results import Growth, Verdict

FILE = "context.json"


@dataclass(frozen=True)
class Device:
    """The RDMA device of a declared port, as its node names it, and the number of its port."""

    name: str
    number: int


@dataclass(frozen=True)
class Context:
    """What a run knows at its end beside verdicts and measurements.

    `notes` are what its summary says of it, `baseline` how it compares, `unused` waivers that no
    failure fell under; `growth` is the sum of all windows of pairs, `odd` by port what is not as
    declared, `devices` the ports that their nodes have. `extra` are verdicts of pairs that were
    measured to tell places apart, and `followed` tells of them.
    """

    notes: tuple[str, ...] = ()
    baseline: tuple[str, ...] = ()
    is_coverage_short: bool = False
    unused: tuple[str, ...] = ()
    growth: tuple[Growth, ...] = ()
    odd: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    devices: Mapping[str, Device] = field(default_factory=dict)
    extra: tuple[Verdict, ...] = ()
    followed: str = ""


def read(directory: Path) -> Context | None:
    """Return that of a run, None where it did not come to its end. Raises ConfigError."""
    path = directory / FILE
    if not path.exists():
        return None
    if not path.is_file():
        raise ConfigError(f"{path}: expected a file, found something else")
    try:
        return typed.read(Context, records.loads(path.read_bytes()))
    except OSError as error:
        raise ConfigError(f"{path}: cannot read it: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path}: expected a record of this product, got {repr(error)[:200]}"
        ) from None
