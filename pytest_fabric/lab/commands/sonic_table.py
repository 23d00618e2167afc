"""Tables as SONiC's scripts print them: titles over dashes, columns two blanks apart."""

from __future__ import annotations

from collections.abc import Sequence


def table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table with every cell flush right, and a newline at its end."""
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    ruled = ["-" * width for width in widths]
    lines = (
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in (titles, ruled, *rows)
    )
    return "".join(f"{line}\n" for line in lines)
