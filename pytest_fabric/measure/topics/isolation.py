"""What stands between a NIC and memory: translation by an IOMMU, and redirection by ACS."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pytest_fabric.measure.topics.heard import (
    BY_HAND,
    Outcomes,
    heard,
    is_complete,
    problem,
    root_advice,
    tree,
)
from pytest_fabric.measure.topics.topic import Subject
from pytest_fabric.results import Fact
from pytest_fabric.tools import lspci, names, sysfs
from pytest_fabric.transport import Glob
from pytest_fabric.transport.jobs import Word

CMDLINE = "/proc/cmdline"
DEVICES = "/sys/bus/pci/devices"
TREE = "/sys/devices/"
ADDRESS = re.compile(names.PCI)
UNITS = "/sys/class/iommu"
GROUP = f"{sysfs.RDMA}/*/device/iommu_group/type"

#: Words of the kernel's command line, for kernels whose groups do not say how they translate.
PASSES = frozenset({"iommu=pt", "iommu.passthrough=1"})
TRANSLATES = frozenset({"iommu=nopt", "iommu.passthrough=0", "intel_iommu=on", "amd_iommu=on"})

#: ACS functions that send what one device writes to another up to the root and back.
REDIRECTS = frozenset({"ReqRedir", "CmpltRedir"})
IS_ROOT_ONLY = "lspci shows capabilities to root only"


def sections(subject: Subject) -> Mapping[str, tuple[Word, ...]]:
    """Return the commands that read both."""
    paths = [f"{DEVICES}/{device}" for device in _devices(subject)]
    return {
        **({"bridges": ("readlink", "-f", *paths)} if paths else {}),
        "cmdline": ("cat", CMDLINE),
        "iommu-units": ("usable", Glob(f"{UNITS}/*")),
        "iommu-groups": ("grep", "-sH", ".", Glob(GROUP)),
        "lspci": (*subject.asroot("lspci"), *lspci.command()[1:]),
    }


def _devices(subject: Subject) -> dict[str, None]:
    """Return the addresses of the cards, and of the GPUs that are declared beside them."""
    found = [(end.rdma.pci or "", end.rail.gpu or "") for end in subject.ends]
    return {one: None for both in found for one in both if ADDRESS.fullmatch(one)}


def iommu(subject: Subject, outcomes: Outcomes) -> Fact:
    """Return `off` without an IOMMU, `pt` where NICs pass through it, `translated` otherwise.

    Only declared ports decide; what other RDMA devices do is told.
    """
    texts = {name: outcomes[name] for name in ("cmdline", "iommu-units", "iommu-groups")}
    late = [name for name, outcome in texts.items() if not is_complete(outcome)]
    shown = re.findall(rf"(?m)^[r-][w-] {UNITS}/(\S+)$", texts["iommu-units"].stdout)
    if late or not shown:
        return problem(f"{UNITS} was not told", "see not_available")
    if shown == ["*"]:
        return Fact("off", detail=(f"{UNITS} is empty",))
    said = tree(outcomes, "iommu-groups").items()
    kinds = {path: kind for path, kind in said if path.count("/") > 3}  # others are no device's
    detail = (
        f"IOMMU: {', '.join(sorted(shown))}",
        *(f"{path.split('/')[4]}: {kind}" for path, kind in sorted(kinds.items())),
    )
    own = {end.rdma.device for end in subject.ends}
    kinds = {path: kind for path, kind in kinds.items() if path.split("/")[4] in own}
    if kinds:
        passes = all(kind == "identity" for kind in kinds.values())
        return Fact("pt" if passes else "translated", detail=detail)
    words = set(texts["cmdline"].stdout.split()) if texts["cmdline"].status == 0 else set()
    if words & (PASSES | TRANSLATES):
        told = tuple(sorted(words & (PASSES | TRANSLATES)))
        return Fact("pt" if words & PASSES else "translated", detail=(*detail, *told))
    return problem(f"neither {GROUP} nor {CMDLINE} says how the IOMMU is used", "see not_available")


def acs(subject: Subject, outcomes: Outcomes) -> Fact:
    """Return how many bridges between cards and their GPUs redirect what these exchange.

    Bridges above both of them see none of it, and what crosses a root port goes to the root anyway:
    Linux has redirection on there wherever an IOMMU is (pci_enable_acs in drivers/pci/pci.c).
    """
    if not any(end.rail.gpu for end in subject.ends):
        none = "no rail declares a GPU (`gpu:`): nothing is exchanged below the root"
        return Fact(None, inapplicable=none)
    told = heard(outcomes, "lspci", "lspci", lspci.parse)
    if told.value is None:
        return told.nothing
    if not is_complete(outcomes.get("bridges", outcomes["lspci"])):
        return problem("readlink did not come to its end", BY_HAND)
    above = {device: _above(device, outcomes) for device in _devices(subject)}
    gpus = {end.rail.gpu for end in subject.ends if end.rail.gpu in above}
    lost = sorted(device for device in above if device in gpus and not above[device])
    if lost:
        return problem(f"no device is at {lost[0]}", "correct `gpu` of the rail, or reseat it")
    pairs = [
        (above.get(end.rdma.pci or "", ()), above[end.rail.gpu])
        for end in subject.ends
        if end.rail.gpu in gpus
    ]
    if not pairs or not all(nic and gpu for nic, gpu in pairs):
        return problem("no PCIe bridge is above a card (virtual machine?)", "see not_available")
    between = {address for nic, gpu in pairs for address in set(nic[1:]) ^ set(gpu[1:])}
    bridges = [device for device in told.value if device.address in between]
    if len(bridges) < len(between):
        return problem(f"lspci shows no bridge at {sorted(between)[0]} or below", BY_HAND)
    if any(bridge.capabilities_readable is False for bridge in bridges):
        return problem(IS_ROOT_ONLY, root_advice("lspci"))
    on = {bridge.address: REDIRECTS & set(bridge.acs or ()) for bridge in bridges}
    detail = tuple(f"{address} {' '.join(sorted(flags))}" for address, flags in on.items() if flags)
    return Fact(len(detail), detail=detail)


def _above(device: str, outcomes: Outcomes) -> tuple[str, ...]:
    """Return the bridges above a device from the root port down; none where no device is there."""
    for line in outcomes["bridges"].stdout.splitlines():
        path, _, name = line.strip().rpartition("/")
        if name == device and path.startswith(TREE):
            return tuple(part for part in path.split("/") if ADDRESS.fullmatch(part))
    return ()
