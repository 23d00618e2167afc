"""The companion command: every command with its arguments, options and examples."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from docs.reference.markdown import code, table, text
from docs.reference.markdown import page as a_page
from pytest_fabric.cli import main


def commands() -> Iterator[tuple[str, Any]]:
    """Yield each command by its whole name, those of groups below the group."""
    group: Any = typer.main.get_command(main.app)
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        if inner is None:
            yield name, command
        else:
            yield from ((f"{name} {below}", one) for below, one in inner.items())


def _default(parameter: Any) -> str:  # noqa: ANN401 - click has no stubs where typer brings it
    value = parameter.default
    if value is None or value is False or parameter.required:
        return ""
    plain = getattr(value, "value", value)
    return code(plain.as_posix() if isinstance(plain, Path) else str(plain))


def _rows(command: Any) -> Iterator[tuple[str, str, str]]:  # noqa: ANN401 - as above
    for one in command.params:
        is_argument = one.param_type_name == "argument"
        name = one.metavar or one.name.upper() if is_argument else ", ".join(one.opts)
        yield code(name), text(getattr(one, "help", None) or ""), _default(one)


def _section(name: str, command: Any) -> str:  # noqa: ANN401 - as above
    paragraphs = [text(part) for part in (command.help or "").split("\n\n")]
    rows = list(_rows(command))
    blocks = [f"## {name}", *paragraphs]
    if rows:
        blocks.append(table(("argument or option", "meaning", "default"), rows).rstrip())
    if command.epilog:
        lines = [line.strip() for line in command.epilog.splitlines() if line.strip()]
        shown = [line for line in lines if line != "Examples:"]
        blocks.append("```console\n" + "\n".join(_example(line) for line in shown) + "\n```")
    return "\n\n".join(blocks)


def _example(line: str) -> str:
    is_command = "pytest-fabric" in line
    return f"$ {line}" if is_command else f"# {line}"


def page() -> str:
    """Return the page."""
    return a_page(
        "The command pytest-fabric",
        f"{text(main.app.info.help or '')} {text(main.app.info.epilog or '')}",
        *(_section(name, command) for name, command in commands()),
    )
