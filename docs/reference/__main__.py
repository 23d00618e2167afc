"""Print a page of the reference: `python -m docs.reference metrics`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from docs.reference import PAGES


def main(words: Sequence[str]) -> int:
    """Print the page that is named, or say which there are; return the exit status."""
    page = PAGES.get(words[0]) if len(words) == 1 else None
    if page is None:
        sys.stderr.write(f"docs.reference: expected one of {', '.join(PAGES)}\n")
        return 4
    sys.stdout.write(page())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
