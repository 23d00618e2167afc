"""Whether the tests of a run were seen to fail: what `--fabric-prove` has left beside the run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pytest_fabric.report.about import About

#: A larger file is no proof of ours.
LARGEST_BYTES = 20_000_000

#: What a file of tests is known by.
DIGEST = re.compile(r"[0-9a-f]{64}")

UNKNOWN = "not known: no proof of these tests is beside the run (pytest suites/ --fabric-prove)"


@dataclass(frozen=True)
class Proven:
    """What a proof says of the tests of a run; `is_green` is None where there is none."""

    is_green: bool | None
    words: str


def suites_hash(suites: Mapping[str, str]) -> str:
    """Return one hash for all files of tests, by names and contents; empty for none."""
    if not suites:
        return ""
    text = "".join(f"{name}\0{digest}\n" for name, digest in sorted(suites.items()))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def proven(about: About, nodeids: Iterable[str], runs: Path) -> Proven:
    """Return what the newest proof of the same tests says, of those in the folder of runs.

    The same tests are files of the same content, with the same version of this product, and
    every test of the run must have been among those that were proven.
    """
    tests = {nodeid.partition("[")[0] for nodeid in nodeids}
    digests = about.suites
    if not tests or not digests or not all(map(DIGEST.fullmatch, digests.values())):
        return Proven(None, UNKNOWN)
    for path, document in _documents(runs):
        files, known = document.get("suites"), document.get("tests")
        if not isinstance(files, dict) or not isinstance(known, list):
            continue
        is_same = all(files.get(name) == digest for name, digest in digests.items())
        if (
            not is_same
            or document.get("version") != about.version
            or not tests <= {str(one) for one in known}
        ):
            continue
        when = str(document.get("ended", ""))[:40]
        if document.get("is_whole") is True:
            return Proven(
                True, f"green: each fault was caught in the lab, {when} ({path.parent.name})"
            )
        return Proven(False, f"not green: something was wanting, {when} ({path.parent.name})")
    return Proven(None, UNKNOWN)


def _documents(runs: Path) -> Iterator[tuple[Path, Mapping[str, object]]]:
    """Yield the proofs in a folder, the newest first; what is none is passed over."""
    found = []
    for path in runs.glob("prove-*/prove.json"):
        try:
            seen = path.stat()
            if path.is_file() and seen.st_size <= LARGEST_BYTES:
                found.append((seen.st_mtime, path))
        except OSError:  # it was removed meanwhile
            continue
    for _, path in sorted(found, reverse=True):
        try:
            document = json.loads(path.read_bytes())
        except (OSError, ValueError, RecursionError):  # no proof can be read from it
            continue
        if isinstance(document, dict):
            yield path, document
