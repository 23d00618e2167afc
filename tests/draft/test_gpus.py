"""The GPU beside a card is the one behind the same switch; a console is none."""

from __future__ import annotations

from pytest_fabric.draft.gpus import addresses, neighbours, places

DEVICES = "/sys/bus/pci/devices"


def way(*parts: str) -> tuple[str, ...]:
    return ("pci0000:17", *parts)


def test_gpus_are_found_by_their_class() -> None:
    """3D controllers and accelerators; the VGA of a management controller draws the console."""
    text = "".join(
        f"{DEVICES}/{address}/uevent:PCI_CLASS={kind}\n"
        for address, kind in (
            ("0000:1b:00.0", "30200"),
            ("0000:05:00.0", "30000"),
            ("0000:1a:00.0", "20000"),
            ("0000:c1:00.0", "120000"),
            ("0000:c2:00.0", "38000"),
        )
    )
    assert addresses(text) == ["0000:1b:00.0", "0000:c1:00.0", "0000:c2:00.0"]
    assert addresses("rubbish\n\x1b[2J") == []
    assert addresses(f"{DEVICES}/../../etc/uevent:PCI_CLASS=30200\n") == []


def test_places_are_the_ways_from_the_root() -> None:
    text = "/sys/devices/pci0000:17/0000:17:01.0/0000:1a:00.0\n/nowhere\nrubbish\n"

    assert places(text) == {"0000:1a:00.0": way("0000:17:01.0", "0000:1a:00.0")}


def test_the_nearest_gpu_is_taken_and_none_twice() -> None:
    """Two cards and two GPUs below one switch are paired, whatever their order."""
    switch = ("0000:17:01.0", "0000:18:00.0")
    ways = {
        "0000:1a:00.0": way(*switch, "0000:19:00.0", "0000:1a:00.0"),
        "0000:1c:00.0": way(*switch, "0000:19:02.0", "0000:1c:00.0"),
        "0000:1b:00.0": way(*switch, "0000:19:01.0", "0000:1b:00.0"),
        "0000:1d:00.0": way(*switch, "0000:19:03.0", "0000:1d:00.0"),
        "0000:9a:00.0": ("pci0000:97", "0000:97:01.0", "0000:9a:00.0"),
    }
    found = neighbours(
        ["0000:9a:00.0", "0000:1c:00.0", "0000:1a:00.0"], ["0000:1d:00.0", "0000:1b:00.0"], ways
    )

    assert found == {"0000:1a:00.0": "0000:1b:00.0", "0000:1c:00.0": "0000:1d:00.0"}
    assert neighbours(["0000:1a:00.0"], ["0000:ff:00.0"], ways) == {}
