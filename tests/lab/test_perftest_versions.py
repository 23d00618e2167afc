"""Perftest from 4.4 to 26.x: what each version prints, takes and refuses."""

from __future__ import annotations

import pytest

from pytest_fabric.errors import ToolError
from pytest_fabric.tools import perftest

from .clusters import ROCE, fabric
from .perftest_pairs import Pair

#: The internal version of a package, and what its header has that others have not.
LINES = {
    "5.60": ("MB/sec", ()),  # 4.4-0.23
    "5.92": ("MB/sec", ("PCIe relax order", "ibv_wr* API")),  # 4.4-0.29
    "6.21": ("MB/sec", ("WARNING: BW peak",)),  # 24.04
    "6.22": ("MiB/sec", ("WARNING: BW peak",)),  # 24.07
    "6.24": ("MiB/sec", ("Lock-free", "Using DDP")),  # 25.01
    "6.25": ("MiB/sec", ("Using DDP", "CQE Poll Batch")),  # 25.04
    "6.27": ("MiB/sec", ("Using Enhanced Reorder", "CQE Poll Batch")),  # 25.10
    "6.29": ("MiB/sec", ("Using Enhanced Reorder", "NUMA node")),  # 26.04
}
EVERY = sorted({words for _, known in LINES.values() for words in known})


def pair(client: str, server: str | None = None, *fault: str) -> Pair:
    """Return a client and a server of two versions."""
    versions = f'gpu001: "{client}", gpu002: "{server or client}"'
    return Pair(fabric(ROCE.replace('gpu002: "6.06"', versions), *fault))


@pytest.mark.parametrize("version", LINES)
def test_the_header_of_a_version(version: str) -> None:
    unit, own = LINES[version]

    told = pair(version).run("ib_write_bw -D 3")[0].stdout

    assert f"BW average[{unit}]" in told
    assert [words for words in own if words not in told] == []
    newer = [v for v in LINES if v > version]
    later = {words for v in newer for words in LINES[v][1]} - {
        words for v in LINES if v <= version for words in LINES[v][1]
    }
    assert [words for words in later if words in told] == []


@pytest.mark.parametrize("version", LINES)
@pytest.mark.parametrize("command", ["ib_write_bw -D 3 -s 1M -q 4", "ib_write_lat -n 20000 -s 4"])
def test_the_row_of_every_version_is_read_alike(version: str, command: str) -> None:
    """The unit is MiB/s whatever older versions call it."""
    run = perftest.parse(pair(version).run(command)[0].stdout)

    if command.startswith("ib_write_bw"):
        assert run.bandwidth[0].average_bps == pytest.approx(0.97 * 400e9, rel=0.02)
    else:
        assert run.latency[0].median_s == pytest.approx(1.9e-6, rel=0.1)


@pytest.mark.parametrize("version", ["5.92", "6.27", "6.28", "6.29"])
def test_messages_that_nobody_acknowledges_are_one_error_in_both_forms(version: str) -> None:
    client, _ = pair(version, None, "rdma_blocked@gpu002:rail0").run("ib_write_bw -D 3")

    assert ("counter exceeded (12): wr_id" in client.stderr) is (version >= "6.28")
    with pytest.raises(ToolError, match="status 12") as caught:
        perftest.parse(client.stdout + client.stderr)
    assert caught.value.kind == "completion"


def test_only_new_versions_know_the_option_against_their_own_binding() -> None:
    """Where it is not given, they say to which NUMA node they went."""
    new, _ = pair("6.29").run("ib_write_lat --disable_numa")
    older = pair("6.27")
    older.serve("ib_write_lat --disable_numa")
    old = older.server.end()

    assert (new.status, old.status) == ("0", "1")
    assert "NUMA node" not in new.stdout
    assert "option --disable_numa not recognized" in old.stderr


@pytest.mark.parametrize(("client", "server"), [("6.24", "5.60"), ("5.60", "6.24")])
def test_a_version_that_is_too_old_is_refused_by_the_newer_one(client: str, server: str) -> None:
    ends = pair(client, server).run("ib_write_lat")
    newer = ends[0 if client > server else 1]

    assert {end.status for end in ends} == {"1"}
    with pytest.raises(ToolError) as caught:
        perftest.parse(newer.stdout + newer.stderr)
    assert caught.value.kind == "version_mismatch"


def test_old_versions_run_with_one_another() -> None:
    client, server = pair("5.60").run("ib_write_lat")

    assert (client.status, server.status) == ("0", "0")
