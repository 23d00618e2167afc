"""`pytest-fabric parse` prints one JSON document, and its exit status tells what it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_fabric.cli.parse import parse_text

DATA = Path(__file__).parents[1] / "data"
CASES = sorted(path.stem for path in (DATA / "perftest").glob("*.txt"))


@pytest.mark.parametrize("case", CASES)
def test_every_capture_gives_its_document(case: str) -> None:
    wanted = json.loads((DATA / "perftest" / f"{case}.json").read_text())

    document, status = parse_text("perftest", (DATA / "perftest" / f"{case}.txt").read_text())

    assert status == wanted["status"]
    assert list(document) == ["tool", "version", "results", "error"]
    assert document["tool"] == "perftest"
    assert document["version"] == wanted["version"]
    assert document["results"] == wanted["results"]
    assert (document["error"] or {}).get("kind") == wanted["error"]
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_a_latency_row_has_these_keys() -> None:
    document, _ = parse_text("perftest", (DATA / "perftest" / "lat-iterations.txt").read_text())

    keys = ["bytes", "iterations", "min_s", "median_s", "mean_s", "p99_s", "p999_s", "max_s"]
    assert [list(row) for row in document["results"]] == [keys]


def test_a_bandwidth_row_has_these_keys() -> None:
    document, _ = parse_text("perftest", (DATA / "perftest" / "bw-mebibytes.txt").read_text())

    keys = ["bytes", "iterations", "average_bps", "peak_bps", "message_rate"]
    assert [list(row) for row in document["results"]] == [keys]


def test_an_error_has_a_kind_and_a_message() -> None:
    document, status = parse_text("perftest", "Couldn't connect to 192.0.2.9:18515\n")

    assert status == 1
    assert document["error"]["kind"] == "connect_refused"
    assert "192.0.2.9:18515" in document["error"]["message"]


def test_the_other_tools_give_records_too() -> None:
    statistics, _ = parse_text("ethtool-S", "NIC statistics:\n     rx_prio3_pause: 7\n")
    devices, _ = parse_text("ibv_devinfo", (DATA / "ibv_devinfo" / "two-devices.txt").read_text())

    assert statistics["results"] == [{"name": "rx_prio3_pause", "value": 7}]
    assert [row["device"] for row in devices["results"]] == ["mlx5_2", "mlx5_3", "mlx5_3"]


def test_an_unknown_tool_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="expected a tool of perftest, ethtool-S, ibv_devinfo"):
        parse_text("iperf9", "")
