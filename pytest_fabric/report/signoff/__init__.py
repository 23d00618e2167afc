"""Pages to sign: one for each leaf, of one printed page."""

from __future__ import annotations

from pytest_fabric.report.signoff.page import page as page
from pytest_fabric.report.signoff.sheet import Sheet as Sheet
from pytest_fabric.report.signoff.sheet import sheets as sheets
