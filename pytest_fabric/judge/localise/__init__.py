"""Where the failures of a run come from: places that explain them, and how sure that is."""

from __future__ import annotations

from pytest_fabric.judge.localise.findings import Finding as Finding
from pytest_fabric.judge.localise.findings import localise as localise
from pytest_fabric.judge.localise.followup import next_pairs as next_pairs
from pytest_fabric.judge.localise.seen import Evidence as Evidence
from pytest_fabric.judge.localise.seen import Seen as Seen
from pytest_fabric.judge.localise.seen import Sign as Sign
