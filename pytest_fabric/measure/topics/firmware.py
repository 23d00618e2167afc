"""Which firmware runs on a port's card, which one is stored, for which board, and which driver."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_fabric.measure.end import End
from pytest_fabric.measure.topics.heard import Heard, Outcomes, heard, is_complete, problem, tree
from pytest_fabric.measure.topics.topic import Facts, Subject, Topic, netdevs
from pytest_fabric.results import Fact
from pytest_fabric.tools import devlink_info, ethtool_driver
from pytest_fabric.tools.devlink_info import Version
from pytest_fabric.tools.printable import printable
from pytest_fabric.transport import Glob, Outcome
from pytest_fabric.transport.jobs import Word

MODULES = "/sys/module"

#: Names of the whole firmware among devlink's versions, the more telling one first.
WHOLE = ("fw.version", "fw")


def sections(subject: Subject) -> Mapping[str, tuple[Word, ...]]:
    """Return the commands: all devices at once, then the driver of each port that has a netdev."""
    drivers = {
        f"driver-{place}": ethtool_driver.command(netdevs(end.rdma)[0])
        for place, end in enumerate(subject.ends)
        if netdevs(end.rdma)
    }
    return {
        "devlink": (*subject.asroot("devlink"), *devlink_info.command()[1:]),
        "modules": ("grep", "-sH", ".", Glob(f"{MODULES}/*/version")),
        **drivers,
    }


def read(subject: Subject, outcomes: Mapping[str, Outcome]) -> Facts:
    """Return what each port says."""
    rows = heard(outcomes, "devlink", "devlink", devlink_info.parse)
    return {
        str(end.port): {
            **_firmware(end, rows),
            "firmware.driver": _driver(end, f"driver-{place}", outcomes),
        }
        for place, end in enumerate(subject.ends)
    }


def _firmware(end: End, rows: Heard[list[Version]]) -> dict[str, Fact]:
    stored, pending = _stored(f"pci/{end.rdma.pci}", rows)
    return {
        "firmware.running": _word(end.rdma.firmware, "sysfs has no fw_ver"),
        "firmware.psid": _word(end.rdma.psid, "sysfs has no board_id"),
        "firmware.stored": stored,
        "firmware.pending": pending,
    }


def _word(text: str | None, why: str) -> Fact:
    if text is None:
        return problem(f"the driver does not tell: {why}", "see not_available")
    return Fact(printable(text)[:80])


def _stored(handle: str, rows: Heard[list[Version]]) -> tuple[Fact, Fact]:
    """Return the stored firmware, and how many versions of the card wait for a reset."""
    if rows.value is None:
        return rows.nothing, rows.nothing
    own = {row.name: row for row in rows.value if row.device == handle and row.name}
    both = [row for row in own.values() if row.running and row.stored]
    whole = next((own[name] for name in WHOLE if name in own and own[name].stored), None)
    if whole is None or not both:
        nothing = problem(f"devlink tells no stored firmware of {handle}", "see not_available")
        return nothing, nothing
    detail = tuple(
        f"{row.name}: {row.running} runs, {row.stored} is stored: reset the card"
        for row in both
        if row.running != row.stored
    )
    return Fact(whole.stored), Fact(1 if detail else 0, detail=detail)


def _driver(end: End, section: str, outcomes: Outcomes) -> Fact:
    """Return the driver with its version, as the port's network device tells it.

    A port without one has the version of the module, which a driver of the kernel's own leaves out:
    then it is the kernel's release, as `ethtool -i` has it.
    """
    if section in outcomes:
        told = heard(outcomes, section, "ethtool", ethtool_driver.parse)
        if told.value is None:
            return told.nothing
        found = told.value
        # IPoIB names itself behind the card's driver: `mlx5_core[ib_ipoib]`.
        return Fact(" ".join(filter(None, (found.driver.partition("[")[0], found.version)))[:80])
    if not end.rdma.driver or not is_complete(outcomes["modules"]):
        return problem("sysfs does not tell the driver of the port", "see not_available")
    version = tree(outcomes, "modules").get(f"{MODULES}/{end.rdma.driver}/version")
    return Fact(printable(f"{end.rdma.driver} {version or end.node.kernel}")[:80])


TOPIC = Topic("firmware", sections, read)
