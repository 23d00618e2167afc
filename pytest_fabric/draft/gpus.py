"""The GPU beside each card, by the tree of PCIe: that with most bridges in common, each once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pytest_fabric.tools import names

DEVICES = "/sys/bus/pci/devices"

#: PCI classes of GPUs for computing, as sysfs writes them: 3D controllers (NVIDIA), display
#: controllers and processing accelerators (AMD). What draws the console (VGA, 0x030000) is none.
CLASSES = re.compile(r"(?i)PCI_CLASS=(?:302|380|1200)[0-9a-f]{2}")

#: A line of `grep -sH` on the files `uevent` of devices.
LINE = re.compile(rf"{DEVICES}/({names.PCI})/uevent:(\S+)")

#: A place in the tree of PCIe: `pci0000:17`, bridges, and the device itself.
PLACE = re.compile(rf"/sys/devices/(pci[0-9a-f:]+(?:/{names.PCI})+)")


def addresses(text: str) -> list[str]:
    """Return the addresses of the GPUs that the classes of all PCI devices show, in order."""
    found = (LINE.fullmatch(line) for line in text.splitlines())
    return sorted({one[1] for one in found if one is not None and CLASSES.fullmatch(one[2])})


def places(text: str) -> dict[str, tuple[str, ...]]:
    """Return the way of each device from the root, by its address; odd lines say nothing."""
    found = (PLACE.fullmatch(line) for line in text.splitlines())
    ways = [tuple(one[1].split("/")) for one in found if one is not None]
    return {way[-1]: way for way in ways}


def neighbours(
    cards: Sequence[str], gpus: Sequence[str], ways: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return the GPU of each card: the pairs with most in common first, no GPU twice.

    A card and a GPU that have not even a root complex in common are no neighbours.
    """
    order = [
        (-_common(ways[card], ways[gpu]), card, gpu)
        for card in dict.fromkeys(cards)
        for gpu in dict.fromkeys(gpus)
        if card in ways and gpu in ways and card != gpu
    ]
    found: dict[str, str] = {}
    for common, card, gpu in sorted(order):
        if common < 0 and card not in found and gpu not in found.values():
            found[card] = gpu
    return found


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many steps from the root two ways have in common."""
    same = [left == right for left, right in zip(one, other, strict=False)]
    return same.index(False) if False in same else len(same)
