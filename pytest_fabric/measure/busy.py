"""Whether a node is in use by others: before any load, and without any load of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from pytest_fabric.errors import FabricError
from pytest_fabric.measure import moving, users
from pytest_fabric.measure.end import End
from pytest_fabric.measure.fabric import AT_ONCE, Fabric
from pytest_fabric.measure.record import slip
from pytest_fabric.results import Port
from pytest_fabric.transport import Collect, Session

#: What may be done about a node that is in use, for the end of a message.
REMEDY = "wait until it is idle, or load it all the same with --fabric-allow-busy"

#: Without persistence mode, nvidia-smi takes seconds for each GPU that it wakes up.
DEADLINE_S = 45.0


def check(session: Session, ends: Sequence[End]) -> tuple[str, ...]:
    """Return why a node must not be loaded, empty when it is idle; `ends` are its ports.

    Takes one job and a second or two. Raises TransportError.
    """
    sections = {**moving.sections(ends), **users.sections()}
    outcomes = session.collect(Collect(sections, DEADLINE_S))
    return (
        *users.reasons(session, outcomes, DEADLINE_S, moving.lease_files(ends)),
        *moving.reasons(session, ends, outcomes, DEADLINE_S),
    )


def busy_nodes(fabric: Fabric, ports: Iterable[Port]) -> dict[str, tuple[str, ...]]:
    """Return why nodes must not be loaded, for those that must not; all are asked side by side.

    A port that cannot be found, and a node that cannot be reached, is told where it is measured.
    """
    ends: dict[str, list[End]] = {}
    for port in dict.fromkeys(ports):
        try:
            ends.setdefault(port.node, []).append(fabric.end(port))
        except FabricError:
            continue
    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = threads.map(lambda node: _checked(fabric, node, ends[node]), ends)
        return {node: reasons for node, reasons in zip(ends, found, strict=True) if reasons}


def _checked(fabric: Fabric, node: str, ends: Sequence[End]) -> tuple[str, ...]:
    if not ends:
        return ()
    told: FabricError
    try:
        return check(fabric.session(node), ends)
    except FabricError as error:  # lost, or what it says is not recognised
        told = error
    except Exception as error:
        told = slip(node, "busy", error)
    why = str(told).removeprefix(f"{node}: ")
    return (f"{node}: cannot tell whether it is in use: {why}",)
