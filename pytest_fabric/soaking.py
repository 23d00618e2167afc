"""`--fabric-soak`: for how long the fabric is loaded, by the options of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_fabric.errors import ConfigError
from pytest_fabric.inventory import user_path
from pytest_fabric.judge.soak import Asked
from pytest_fabric.report.stored import open_run
from pytest_fabric.spans import span

#: A window of perftest: a quarter of it is left out at each end, and days are many windows.
SHORTEST_S, LONGEST_S = 4.0, 3600.0

NOT_ASKED = "a soak takes hours of full load: --fabric-soak 24h asks for it"

asked_key = pytest.StashKey["Asked | None"]()


def asked_of(config: pytest.Config) -> Asked | None:
    """Return the soak that was asked for, by a run that is resumed or replayed if not by this one.

    Raises ConfigError.
    """
    if asked_key not in config.stash:
        config.stash[asked_key] = _asked(config)
    return config.stash[asked_key]


def _asked(config: pytest.Config) -> Asked | None:
    earlier = _earlier(config)
    if earlier is not None and config.getoption("dist", "no") != "no":
        raise ConfigError("--fabric-resume: expected no -n with a soak: its windows come in turn")
    option = config.getoption("--fabric-soak")
    if option is None:
        return earlier
    seconds = span("--fabric-soak", option)
    window_s = earlier.window_s if earlier else span("fabric_soak_window", _window(config))
    if not SHORTEST_S <= window_s <= LONGEST_S or window_s != int(window_s):
        raise ConfigError(
            f"fabric_soak_window: expected whole seconds from {SHORTEST_S:g} to {LONGEST_S:g}, got "
            f"{window_s:g} s"
        )
    if earlier is None and seconds < window_s:
        raise ConfigError(
            f"--fabric-soak: expected a time such as 10m or 24h, a window of {window_s:g} s at "
            f"least, got {option!r}"
        )
    return Asked(seconds, window_s)


def _window(config: pytest.Config) -> str:
    return str(config.getini("fabric_soak_window")).replace(" ", "") or "60s"


def _earlier(config: pytest.Config) -> Asked | None:
    """Return what the run that is resumed or replayed was asked for. Raises ConfigError."""
    for option in ("--fabric-resume", "--fabric-replay"):
        named = config.getoption(option)
        if named is None:
            continue
        path = user_path(config, named)
        if named == "latest":
            path = user_path(config, config.getoption("--fabric-out")) / "latest"
        return asked_in(option, path)
    return None


def asked_in(option: str, path: Path) -> Asked | None:
    """Return what the run of a directory was asked for. Raises ConfigError for what is none."""
    options = open_run(option, path).about.options
    if options.soak_s is None or options.soak_window_s is None:
        return None
    return Asked(options.soak_s, options.soak_window_s)


def why_not(config: pytest.Config) -> str | None:
    """Return why there is no soak, or None when one was asked for. Raises ConfigError."""
    return None if asked_of(config) else NOT_ASKED
