"""A waived failure is its own state: not red, and always shown."""

from __future__ import annotations

import datetime
import sys
from xml.etree import ElementTree

import pytest

from pytest_fabric.report.records import read_verdicts

from .runs import bad, latest, run

WAIVERS = """
waivers:
  - {{check: test_pcie_width, target: "gpu002:rail1", until: {day}, owner: netops, reason: RMA 1}}
  - {{check: test_link_speed, target: "gpu[001,003]", until: {day}, owner: storage, reason: INC 12}}
  - {{check: test_pcie_width, target: "gpu004:rail0", until: {day}, owner: netops, reason: RMA 2}}
"""


def waived(site: pytest.Pytester, day: datetime.date, *options: str) -> pytest.RunResult:
    """Run the checks of the slot and the link with waivers until a day, and two faults."""
    inventory = site.path / "cluster.yaml"
    inventory.write_text(inventory.read_text() + WAIVERS.format(day=day))
    faults = ("pcie_width@gpu002:rail1", "ssh_down@gpu004")
    checks = "test_pcie_width or test_link_speed"
    return run(site, "-k", checks, "-rx", *options, faults=faults)


def test_a_waived_failure_is_shown_and_is_no_failure(site: pytest.Pytester) -> None:
    """An error is never waived, and a waiver that matched nothing is told."""
    tomorrow = datetime.date.today() + datetime.timedelta(days=1)
    done = waived(site, tomorrow, "--junitxml=own.xml", "--fabric-junit=ours.xml")

    assert done.ret == 10
    [one] = [v for v in read_verdicts(latest(site) / "verdicts.jsonl") if v.outcome == "waived"]
    assert (one.target, one.metric, one.value) == ("gpu002:rail1", "pcie.width", 8)
    assert {verdict.target for verdict in bad(site, "error")} == {"gpu004:rail0", "gpu004:rail1"}
    told = f"waived by netops until {tomorrow}: RMA 1"
    done.stdout.fnmatch_lines(
        [
            f"XFAIL *test_pcie_width[[]gpu002:rail1[]] - {told}",
            "*, 1 waived, *",
            f"waived: 1 x test_pcie_width  gpu002:rail1 (by netops until {tomorrow}: RMA 1)",
            "waivers that matched no failure: test_link_speed gpu[[]001,003[]] (storage: mended?), "
            "test_pcie_width gpu004:rail0 (netops: not judged in this run)",
        ]
    )
    for name in ("own.xml", "ours.xml"):
        skipped = [
            e.get("message") or "" for e in ElementTree.parse(site.path / name).iter("skipped")
        ]
        assert [message for message in skipped if told in message]
    page = (latest(site) / "report.html").read_text()
    assert "Waived" in page
    assert told in page
    assert_rendered_again(site)


def assert_rendered_again(site: pytest.Pytester) -> None:
    """What is rendered from the run directory says the same."""
    done = site.run(
        *(sys.executable, "-c", "from pytest_fabric.cli.main import main; main()"),
        *("report", str(latest(site)), "--html", "again.html"),
    )
    assert done.ret == 0
    assert "Waived" in (site.path / "again.html").read_text()


def test_an_expired_waiver_is_a_failure_that_says_so(site: pytest.Pytester) -> None:
    yesterday = datetime.date.today() - datetime.timedelta(days=1)
    done = waived(site, yesterday)

    assert done.ret == 1
    [failed] = bad(site)
    assert f"waiver of netops expired {yesterday}: RMA 1" in (failed.message or "")
