"""The virtual files behave as the kernel's: links, `..`, globs, and reads that fail."""

from __future__ import annotations

import errno

import pytest

from pytest_fabric.lab.filesystem import Directory, Entry, Live, Symlink, Unreadable, View

ROOT: Directory = {
    "sys": {
        "class": {"card": {"a0": Symlink("/sys/devices/bus/slot/a0"), "a1": {"speed": "2"}}},
        "devices": {"bus": {"speed": "8", "slot": {"speed": "4", "a0": {"speed": "1"}}}},
    },
    "live": Live(lambda: "now"),
    "bad": Unreadable(errno.EINVAL),
}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/sys/class/card/a1/speed", "2"),
        ("/sys/class/card/a0/speed", "1"),
        ("/sys/class/card/a0/../speed", "4"),
        ("/sys/class/card/a0/../../speed", "8"),
        ("/sys//class/./card/a1/speed", "2"),
        ("/../live", "now"),
    ],
)
def test_paths_are_followed_as_the_kernel_follows_them(path: str, text: str) -> None:
    """`..` after a link leads to the parent of what the link means."""
    assert View(ROOT).read(path) == text


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("/sys/class/card/a2/speed", errno.ENOENT),
        ("/sys/class/card", errno.EISDIR),
        ("/live/speed", errno.ENOTDIR),
        ("/bad", errno.EINVAL),
    ],
)
def test_what_cannot_be_read_fails_with_the_kernels_reason(path: str, number: int) -> None:
    with pytest.raises(OSError, match=path) as caught:
        View(ROOT).read(path)

    assert caught.value.errno == number


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("/sys/class/card/*/speed", ["/sys/class/card/a0/speed", "/sys/class/card/a1/speed"]),
        ("/sys/class/card/*/../speed", ["/sys/class/card/a0/../speed"]),
        ("/sys/class/card/a[1-9]/speed", ["/sys/class/card/a1/speed"]),
        ("/sys/class/card/a?", ["/sys/class/card/a0", "/sys/class/card/a1"]),
        ("/sys/*/*/a1/nothing", []),
        ("/live/*", []),
        ("*", []),
    ],
)
def test_globs_match_names_between_slashes(pattern: str, found: list[str]) -> None:
    assert View(ROOT).glob(pattern) == found


def test_a_command_sees_one_moment() -> None:
    """A directory of counters is made once per view, so that its files belong together."""
    made = []

    def counters() -> dict[str, Entry]:
        made.append(1)
        return {"one": str(len(made)), "two": str(len(made))}

    root: Directory = {"counters": counters}
    view = View(root)

    assert [view.read(path) for path in view.glob("/counters/*")] == ["1", "1"]
    assert View(root).read("/counters/two") == "2"
