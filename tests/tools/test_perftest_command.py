"""perftest's command line means what it says, on both ends alike."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_fabric.metrics import BANDWIDTH_TOOLS, LATENCY_TOOLS
from pytest_fabric.tools import allowed, perftest

BASE: dict[str, Any] = {"device": "mlx5_0", "ib_port": 1, "control_port": 18515, "size": 4}
LATENCY = BASE | {"iterations": 20000}


def test_a_latency_server() -> None:
    words = perftest.command("ib_write_lat", **LATENCY)

    assert " ".join(words) == "ib_write_lat -d mlx5_0 -i 1 -p 18515 -s 4 -n 20000 -F"


def test_a_client_has_the_same_words_and_the_server_last() -> None:
    options = LATENCY | {"gid_index": 3, "traffic_class": 106, "service_level": 0}
    server = perftest.command("ib_read_lat", **options)

    client = perftest.command("ib_read_lat", **options, peer="198.51.100.21")

    assert client == (*server, "198.51.100.21")
    assert " ".join(server).endswith("-n 20000 -F -x 3 --tclass=106 -S 0")


def test_bandwidth_has_a_duration_and_queue_pairs() -> None:
    words = perftest.command("ib_write_bw", **BASE, duration_s=5, qps=4, disable_numa=True)

    assert " ".join(words).endswith("-s 4 -F -q 4 -D 5 --disable_numa")


@pytest.mark.parametrize("tool", [*LATENCY_TOOLS, *BANDWIDTH_TOOLS])
def test_every_tool_runs_without_the_frequency_warning_and_in_one_unit(tool: str) -> None:
    words = perftest.command(tool, **LATENCY)

    assert "-F" in words
    assert "--report_gbits" not in words


@pytest.mark.parametrize(
    ("tool", "options", "message"),
    [
        ("ib_write_lat", {"size": "64k"}, "size: expected a whole number"),
        ("ib_write_lat", {"size": "64"}, "size: expected a whole number"),
        ("ib_write_lat", {"size": 64.0}, "size: expected a whole number"),
        ("ib_write_lat", {"size": True}, "size: expected a whole number"),
        ("ib_write_lat", {"size": 0}, "size: expected a whole number of 1"),
        ("ib_write_lat", {"size": 2**31}, "size: expected a whole number of 1"),
        ("ib_write_lat", {"iterations": 4}, "iterations"),
        ("ib_write_lat", {"iterations": None}, "either iterations or duration_s"),
        ("ib_write_lat", {"iterations": None, "duration_s": 5}, "no percentiles"),
        ("ib_write_bw", {"duration_s": 5}, "either iterations or duration_s"),
        ("ib_write_bw", {"iterations": None, "duration_s": 0}, "duration_s"),
        ("ib_write_bw", {"iterations": None, "duration_s": 2.5}, "duration_s"),
        ("ib_write_lat", {"qps": 1}, "no qps"),
        ("ib_write_bw", {"qps": 0}, "qps"),
        ("ib_write_bw", {"gid_index": 65}, "gid_index"),
        ("ib_write_bw", {"gid_index": -1}, "gid_index"),
        ("ib_write_bw", {"traffic_class": 256}, "traffic_class"),
        ("ib_write_bw", {"service_level": 16}, "service_level"),
        ("ib_write_bw", {"control_port": 0}, "control_port"),
        ("ib_write_bw", {"ib_port": 0}, "ib_port"),
        ("ib_atomic_lat", {}, "tool: expected one of"),
        ("rm", {}, "tool: expected one of"),
        ("ib_write_bw", {"device": ""}, "device"),
        ("ib_write_bw", {"device": "-R"}, "device"),
        ("ib_write_bw", {"device": "mlx5_0;reboot"}, "device"),
        ("ib_write_bw", {"device": "mlx5_0\n"}, "device"),
        ("ib_write_bw", {"peer": ""}, "peer"),
        ("ib_write_bw", {"peer": "--all"}, "peer"),
        ("ib_write_bw", {"peer": "a b"}, "peer"),
        ("ib_write_bw", {"peer": "a\n"}, "peer"),
    ],
)
def test_what_perftest_would_refuse_or_misread_is_never_sent(
    tool: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        perftest.command(tool, **(LATENCY | options))


def test_both_ends_send_at_once_in_bandwidth_only() -> None:
    words = perftest.command("ib_write_bw", **BASE, duration_s=5, bidirectional=True)

    assert words[-1] == "-b"
    with pytest.raises(ValueError, match="one direction"):
        perftest.command("ib_write_lat", **LATENCY, bidirectional=True)


def test_the_memory_of_gpus_is_named_by_its_place() -> None:
    """perftest wants the option for dmabuf behind the one that names the GPU."""
    memory = perftest.cuda_memory("0000:1b:00.0", is_dmabuf=True)
    words = perftest.command("ib_write_bw", **BASE, duration_s=5, memory=memory, peer="gpu002")

    assert words[-3:] == ("--use_cuda_bus_id=0000:1b:00.0", "--use_cuda_dmabuf", "gpu002")
    assert perftest.rocm_memory(3, is_dmabuf=False) == ("--use_rocm=3",)
    with pytest.raises(ValueError, match="gpu: expected a PCI address"):
        perftest.cuda_memory("0000:1b:00.0; reboot", is_dmabuf=False)


def test_a_handshake_over_ipv6_is_asked_for_at_both_ends() -> None:
    server = perftest.command("ib_write_lat", **LATENCY, is_ipv6=True)
    client = perftest.command("ib_write_lat", **LATENCY, is_ipv6=True, peer="fd00:1::2")

    assert server[-1] == "--ipv6-addr"
    assert client[-2:] == ("--ipv6-addr", "fd00:1::2")


def test_a_connection_other_than_rc_is_named_and_allowed() -> None:
    words = perftest.command(
        "ib_send_bw",
        device="rdmap16s27",
        ib_port=1,
        control_port=18515,
        size=8192,
        duration_s=5,
        qps=4,
        gid_index=0,
        connection="SRD",
    )

    assert words[words.index("-c") + 1] == "SRD"
    allowed.require(words)
    with pytest.raises(ValueError, match="connection: expected SRD"):
        perftest.command(
            "ib_send_bw",
            device="a",
            ib_port=1,
            control_port=18515,
            size=2,
            duration_s=1,
            connection="RC;x",
        )
