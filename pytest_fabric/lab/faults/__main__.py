"""`python -m pytest_fabric.lab.faults [FILE...]`: print the catalogue of faults as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pytest_fabric.errors import ConfigError
from pytest_fabric.lab.faults import sources

#: Exit status of a file that cannot be used, as pytest's for usage errors.
USAGE = 4

#: What is told of a fault: what it changes is the lab's own.
KEYS = ("name", "places", "text", "cause", "layers", "spread", "of_bonds")


def main(files: Sequence[str]) -> int:
    """Print the faults of the catalogue, and those of files with a hook, in their order."""
    try:
        known = sources.known(map(Path, files))
    except ConfigError as error:
        print("\n".join(error.lines), file=sys.stderr)
        return USAGE
    print(json.dumps([{key: getattr(fault, key) for key in KEYS} for fault in known.values()]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
