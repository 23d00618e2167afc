"""The tools whose output is understood, and the commands that may be run on a node."""

from __future__ import annotations

import sys

from docs.reference.markdown import code, table, text
from docs.reference.markdown import page as a_page
from pytest_fabric.tools import TOOLS, Parser
from pytest_fabric.tools.allowed import PATTERNS


def _about(parser: Parser) -> str:
    module = sys.modules[parser.records.__module__]
    return text((module.__doc__ or "").partition("\n\n")[0])


def page() -> str:
    """Return the page."""
    rows = [(code(name), _about(parser)) for name, parser in TOOLS.items()]
    allowed = "\n".join(PATTERNS)
    return a_page(
        "Tools",
        "`pytest-fabric parse NAME [FILE]` prints as JSON what a tool printed. A text that is not "
        "recognised as a whole is refused (exit status 2); what a tool does not say is null.",
        table(("name", "what it reads"), rows),
        "## Commands that may be run on a node",
        "A command line that none of these patterns matches as a whole is refused before it is "
        "sent. `have` and `usable` are words of the program that runs jobs on a node; "
        "`taskset -c`, `sudo -n` and the site's `tools.prefix` may stand before a command.",
        f"```text\n{allowed}\n```",
    )
