"""Whether a measurement is outside what its profiles declare: then it is to be confirmed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress

from pytest_fabric.config import Baseline, Peers, Profile
from pytest_fabric.errors import FabricError
from pytest_fabric.judge import reach
from pytest_fabric.judge.baseline import Past
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.limits import Limits
from pytest_fabric.judge.peers import Group
from pytest_fabric.judge.values import Value
from pytest_fabric.judge.views import PairResult
from pytest_fabric.metrics import BY_LOAD, family
from pytest_fabric.results import Measurement


def misses(
    record: Measurement,
    profiles: tuple[Profile, ...],
    routing: str = "ecmp",
    past: Callable[[], Sequence[Past]] | None = None,
    group: Group | None = None,
) -> bool:
    """Return whether a value of a measurement is outside a declared limit that applies to it.

    Only what the load of others can change is looked at: values of the tool and growth; a way on
    which nothing at all comes back is no matter of load. `past` returns what the baseline has of
    it. `group` are its peers, once all of them are measured: then only limits with a clause of
    peers are looked at.
    """
    if reach.is_silent(record):
        return False
    without = (*(() if group else (Peers,)), *(() if past else (Baseline,)))
    limits = Limits(record.target, profiles, _ignore, routing, without)
    peers = None if group is None else lambda: group
    result = PairResult(record, Ledger(), routing=routing, group=peers, past=past)
    usual = {int(profile.traffic.size.number) for profile in profiles}
    found = [limit for profile in profiles for limit in profile.limits.items()]
    names = dict.fromkeys(name for name, _ in found)
    compared = {name for name, limit in found if any(isinstance(c, Peers) for c in limit.clauses)}
    for metric in names if group is None else compared:
        if _has_own_limit(metric, record, names):
            continue
        for value in _values(result, metric, usual):
            with suppress(FabricError):  # a limit that only one end has: told by the test
                if value not in limits[metric]:
                    return True
    return False


def _has_own_limit(metric: str, record: Measurement, names: Collection[str]) -> bool:
    """Return whether a limit of this message size takes the place of one that names none."""
    size = _size(record)
    tool, _, statistic = metric.partition(".")
    return bool(size) and f"{tool}.{size}.{statistic}" in names


def _values(result: PairResult, metric: str, usual: Collection[int]) -> Iterator[Value]:
    """Yield the value that a limit is about, if this measurement has it.

    A limit of bandwidth without a size is about messages of the usual size only.
    """
    first, _, rest = metric.partition(".")
    size, _, statistic = rest.rpartition(".")
    own = _size(result.record)
    row = result.record.bandwidth
    if row is not None and size == "" and first not in BY_LOAD and row.bytes not in usual:
        return
    with suppress(FabricError):
        if first in BY_LOAD:
            yield result.growth(first)
        elif first == family(result.record.tool) and own is not None and size in ("", own):
            yield getattr(result, statistic)


def _size(record: Measurement) -> str | None:
    """Return what a limit calls the size of a measurement, or None where nothing was measured."""
    if record.reach:
        return reach.size(record)
    if record.tcp is not None:
        return ""
    row = record.latency or record.bandwidth
    return None if row is None else str(row.bytes)


def _ignore(reason: str) -> None:
    """Leave out what a profile says that its hardware cannot show."""
