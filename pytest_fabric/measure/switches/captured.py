"""What a site has captured of a switch: a file for each command, in `before/` and `after/`.

`before/status.txt` is what `show interfaces status` printed before the load, and so on: the names
are those of the sections in `facts` and `counts`. What is old, or was captured at another time than
that of the run's load, says nothing of this run.
"""

from __future__ import annotations

import errno
import stat
import time
from collections.abc import Iterable
from pathlib import Path

from pytest_fabric.errors import MeasurementError
from pytest_fabric.measure.loads import Loads
from pytest_fabric.transport import Outcome

#: How old a capture may be, in seconds: a day, in which cables and settings change seldom.
AGE_S = 86_400.0

#: How far ahead of this machine's clock another one may be, in seconds.
AHEAD_S = 60.0

#: More is no output of these commands.
MOST_BYTES = 10 * 2**20


def path_of(folder: Path, when: str, section: str) -> Path:
    """Return where the output of a section is."""
    return folder / when / f"{section}.txt"


def read(switch: str, folder: Path, when: str, sections: Iterable[str]) -> dict[str, Outcome]:
    """Return the sections as if they had been run now. Raises MeasurementError."""
    found = {}
    for section in sections:
        path = path_of(folder, when, section)
        taken_s(switch, path)
        try:
            with path.open("rb") as opened:
                data = opened.read(MOST_BYTES + 1)
        except OSError as error:
            raise _missing(switch, path, error) from None
        text = data.decode("utf-8", "replace")
        found[section] = Outcome("exit", 0, text, "", len(data) > MOST_BYTES, 0.0)
    return found


#: What a site need not capture: releases of SONiC before 202505 count no marks, and nothing is
#: judged by the release.
OPTIONAL = frozenset({"marks", "version"})


def there(folder: Path, sections: Iterable[str], when: str = "after") -> tuple[str, ...]:
    """Return the sections that a site must have captured, and those of the others that it has."""
    return tuple(
        name for name in sections if name not in OPTIONAL or path_of(folder, when, name).exists()
    )


def require_load(switch: str, folder: Path, span: tuple[float, float], loads: Loads) -> None:
    """Raise MeasurementError for captures at another time than that of the run's load."""
    if loads.began is None or loads.ended is None:
        raise MeasurementError(
            switch,
            "no_load",
            f"expected {folder} to be captured before and behind the load of this run, which has "
            "made none: run the other suites too, or resume the run that has (--fabric-resume)",
        )
    if span[0] > loads.ended or span[1] < loads.began:
        raise MeasurementError(
            switch,
            "stale_file",
            f"expected {folder} to be captured around the load of this run, {_clock(loads.began)} "
            f"to {_clock(loads.ended)}, found it of {_clock(span[0])} to {_clock(span[1])}: "
            "capture it again, before and behind the load",
        )


def require_quiet(
    switch: str,
    folder: Path,
    sections: Iterable[str],
    span: tuple[float, float],
    loads: Loads,
) -> None:
    """Raise MeasurementError for a `middle/` that is not of before congestion was forced."""
    taken = [taken_s(switch, path_of(folder, "middle", name)) for name in sections]
    most = min(span[1], loads.congested or span[1])
    if min(taken) < span[0] or max(taken) > most + AHEAD_S:
        raise MeasurementError(
            switch,
            "stale_file",
            f"expected {folder / 'middle'} to be captured behind {folder / 'before'} and before "
            f"congestion was forced at {_clock(most)}, found it of {_clock(min(taken))} to "
            f"{_clock(max(taken))}: capture it there, or take the folder away",
        )


def _clock(moment: float) -> str:
    """Return a moment as people of the site see it on their clocks."""
    return time.strftime("%H:%M:%S", time.localtime(moment))


def span(switch: str, folder: Path, sections: Iterable[str]) -> tuple[float, float]:
    """Return when the first capture ended and the last began. Raises MeasurementError."""
    names = list(sections)
    before = max(taken_s(switch, path_of(folder, "before", name)) for name in names)
    after = min(taken_s(switch, path_of(folder, "after", name)) for name in names)
    if after <= before:
        raise MeasurementError(
            switch,
            "stale_file",
            f"expected {folder / 'after'} to be captured later than {folder / 'before'}, found it "
            f"{before - after:.0f} s earlier: capture it again behind the load",
        )
    return before, after


def taken_s(switch: str, path: Path) -> float:
    """Return when a file was captured, in seconds of the epoch. Raises MeasurementError."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):  # reading a pipe would wait for ever
            raise OSError(errno.EINVAL, "it is no file")
    except OSError as error:
        raise _missing(switch, path, error) from None
    taken = found.st_mtime
    age = time.time() - taken
    if age < -AHEAD_S:
        raise MeasurementError(
            switch,
            "stale_file",
            f"expected {path} of the last 24 hours, found it {-age:.0f} s ahead of this clock: set "
            "the clock, or capture it again",
        )
    if age > AGE_S:
        raise MeasurementError(
            switch,
            "stale_file",
            f"expected {path} of the last 24 hours, found it {age / 3600:.0f} hours old: capture "
            "it again",
        )
    return taken


def _missing(switch: str, path: Path, error: OSError) -> MeasurementError:
    return MeasurementError(
        switch,
        "missing_file",
        f"expected what the site has captured in {path}: {error.strerror}; "
        "docs/how-to/switches.md names the command of each file",
    )
