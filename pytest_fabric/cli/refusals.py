"""How commands end when something is wrong: one line on standard error, and an exit status."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from pytest_fabric.errors import ConfigError

#: Exit statuses: what was asked for holds; it does not; the call or the configuration is wrong.
EXIT_OK, EXIT_NO, EXIT_WRONG = 0, 1, 4

#: Ends the help of every command.
STATUSES = "Exit status: 0 done, 1 {no}, 4 the call or cluster.yaml is wrong."


@contextmanager
def refusals() -> Iterator[None]:
    """End with exit status 4 and a line for each problem where a ConfigError is raised."""
    try:
        yield
    except ConfigError as error:
        for line in error.lines:
            typer.echo(line, err=True)
        raise typer.Exit(EXIT_WRONG) from None


def refuse(line: str, status: int = EXIT_WRONG) -> typer.Exit:
    """Say in one line why a command ends here; return what is to be raised."""
    typer.echo(line, err=True)
    return typer.Exit(status)
