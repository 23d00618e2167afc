"""What the kernel told of NICs, GPUs and PCIe within the last hour."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from pytest_fabric.measure.topics import heard, uptime
from pytest_fabric.measure.topics.heard import Heard, Outcomes
from pytest_fabric.measure.topics.topic import Subject
from pytest_fabric.results import Fact
from pytest_fabric.tools import kernel_log
from pytest_fabric.tools.kernel_log import Event
from pytest_fabric.transport.jobs import Word

#: How far back an event counts, in seconds: what is older was there before the fabric was handed
#: over, and what was repaired since needs no reboot to be forgiven.
WINDOW_S = 3600.0

#: Links go up and down while a machine boots: seconds of its uptime that are no news about a link.
BOOT_S = 300.0

#: Lines that are shown of each count.
SHOWN = 10

#: Xids that NVIDIA's "XID Errors" puts down to the user's program alone: graphics exception, page
#: fault, stopped and preempted channels.
XIDS_OF_PROGRAMS = frozenset({13, 31, 43, 45})

KINDS_OF_MLX5 = frozenset({"mlx5_health", "mlx5_syndrome", "firmware_fatal"})

#: A log that begins so early in the uptime begins with the boot.
FROM_BOOT_S = 30.0

#: The time at the start of the log's first line.
STAMP = re.compile(r"\s*(?:<[0-9]+>)?\[ *([0-9]{1,10}\.[0-9]{1,6})\]")

METRICS = (
    "host.log_mlx5",
    "host.log_xid",
    "host.log_aer",
    "host.log_aer_corrected",
    "host.log_link_down",
)

#: journalctl says this where there is nothing to say, and on stderr what the user may not see.
NO_ENTRIES = "-- No entries --"
HIDDEN = re.compile(r"insufficient permissions|not seeing messages")

ADVICE = "or let the user read the journal (group adm or systemd-journal)"


def sections(subject: Subject) -> Mapping[str, tuple[Word, ...]]:
    """Return the commands that show the log: dmesg, and the journal where dmesg is for root."""
    return {
        "uptime": uptime.COMMAND,
        "dmesg": (*subject.asroot("dmesg"), *kernel_log.command()[1:]),
        "journal": (
            *("journalctl", "-k", "-b", "--no-pager"),
            *("-o", "short-monotonic", "--since=-1h"),
        ),
    }


def read(subject: Subject, outcomes: Outcomes) -> dict[str, Fact]:
    """Return how many events of each kind there were, with their lines."""
    now = uptime.read(outcomes)
    events = _events(outcomes, now.value or 0.0)
    if now.value is None or events.value is None:
        return dict.fromkeys(METRICS, (events if events.value is None else now).nothing)
    oldest = now.value - WINDOW_S
    recent = [event for event in events.value if oldest <= _when(event)]
    return {
        "host.log_mlx5": _count(event for event in recent if event.kind in KINDS_OF_MLX5),
        "host.log_xid": _count(
            event
            for event in recent
            if event.kind == "xid" and event.number not in XIDS_OF_PROGRAMS
        ),
        "host.log_aer": _count(_errors_of_pcie(recent, "aer_uncorrected", "uncorrect")),
        "host.log_aer_corrected": _count(_errors_of_pcie(recent, "aer_corrected", "correct")),
        "host.log_link_down": _count(event for event in recent if _is_down(event, subject)),
    }


def _events(outcomes: Outcomes, now: float) -> Heard[tuple[Event, ...]]:
    """Return the events of the first log that can be read, and reaches back far enough.

    The log in memory is a ring: a flood of messages pushes out what it was about.
    """
    told = heard.heard(outcomes, "dmesg", "dmesg", _parsed)
    if told.value is not None:
        first = STAMP.match(outcomes["dmesg"].stdout)
        begins = float(first[1]) if first is not None else None
        if begins is not None and begins <= max(FROM_BOOT_S, now - WINDOW_S):
            return told
        reach = "tells no times" if begins is None else f"reaches back {now - begins:.0f} s only"
        told = Heard(None, f"the kernel's log in memory {reach}")
    journal = heard.heard(outcomes, "journal", "journalctl", _parsed)
    if journal.value is not None and not HIDDEN.search(outcomes["journal"].stderr):
        return journal
    return Heard(None, f"{told.problem}, {ADVICE}", told.kind)


def _parsed(text: str) -> tuple[Event, ...]:
    """Return the events of a log; journalctl says in words of its own that there are none."""
    lines = text.splitlines()
    if NO_ENTRIES in lines and all(line.startswith("-- ") for line in lines):
        return ()
    return kernel_log.parse(text).events


def _when(event: Event) -> float:
    """Return the uptime of an event; one whose time cannot be compared counts as recent."""
    return float("inf") if event.uptime_s is None else event.uptime_s


def _errors_of_pcie(events: Sequence[Event], kind: str, state: str) -> list[Event]:
    """Return the errors, or the notices that a port gave where those are more.

    A notice is followed by its error, which the kernel leaves out where there are too many.
    """
    errors = [event for event in events if event.kind == kind]
    notices = [event for event in events if event.kind == "aer_notice" and event.state == state]
    return max(errors, notices, key=len)


def _is_down(event: Event, subject: Subject) -> bool:
    """Return whether a declared port lost its link, other than while the node booted."""
    if event.kind != "link" or event.state != "down" or _when(event) < BOOT_S:
        return False
    names = {name for end in subject.ends for name in end.rdma.netdevs}
    return event.netdev in names or event.device in {end.rdma.pci for end in subject.ends}


def _count(events: Iterable[Event]) -> Fact:
    found = list(events)
    shown = tuple(f"{_time(event)}{event.message}" for event in found[-SHOWN:])
    return Fact(len(found), detail=shown)


def _time(event: Event) -> str:
    return "" if event.uptime_s is None else f"[{event.uptime_s:.0f} s] "
