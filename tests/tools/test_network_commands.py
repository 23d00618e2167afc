"""The command lines of the network, GPU and switch tools: what they ask, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_fabric.tools import (
    iperf3,
    nccl_tests,
    nvidia_smi_gpu,
    nvidia_smi_topo,
    ping,
    sonic_counters,
    sonic_db,
    sonic_lldp,
    sonic_pfc,
    sonic_watermark,
    ss,
)


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (ping.command("10.0.0.7"), "ping -n -c 20 -i 0.2 -s 56 10.0.0.7"),
        (
            ping.command("fe80::1%ens1", 3, 1, 8972, device="ens1", whole=True),
            "ping -n -c 3 -i 1 -s 8972 -M do -I ens1 fe80::1%ens1",
        ),
        (
            ping.command("10.1.0.2", 3000, 0.002, device="ens1", source="10.1.0.1", linger_s=2),
            "ping -n -c 3000 -i 0.002 -s 56 -W 2 -I ens1 -I 10.1.0.1 10.1.0.2",
        ),
        (iperf3.command("node7"), "iperf3 -J -c node7 -p 5201 -t 10 -P 1"),
        (iperf3.command("node7", 5, 4, 5300, True), "iperf3 -J -c node7 -p 5300 -t 5 -P 4 -R"),
        (
            iperf3.command("10.1.0.2", 5, 4, 18600, source="10.1.0.1"),
            "iperf3 -J -c 10.1.0.2 -B 10.1.0.1 -p 18600 -t 5 -P 4",
        ),
        (
            iperf3.server_command("10.1.0.2", 18600),
            "iperf3 -J -s -1 -B 10.1.0.2 -p 18600",
        ),
        (ss.command(), "ss -tinHO"),
        (ss.command("10.1.0.2", 18600), "ss -tinH dst 10.1.0.2:18600"),
        (ss.command("fd00::2", 18600), "ss -tinH dst [fd00::2]:18600"),
        (nvidia_smi_topo.command(), "nvidia-smi topo -m"),
        (nccl_tests.command("all_reduce"), "all_reduce_perf -b 8 -e 8G -f 2 -g 1 -n 20"),
        (
            nccl_tests.launch(("n1", "n2"), 8, {"NCCL_IB_TC": "104"}, ("/opt/all_reduce_perf",)),
            "mpirun -np 16 -H n1:8,n2:8 --bind-to numa -x NCCL_IB_TC=104 /opt/all_reduce_perf",
        ),
        (sonic_pfc.command(), "show pfc counters"),
        (sonic_pfc.command(history=True), "show pfc counters --history"),
        (sonic_counters.command(), "portstat -j"),
        (sonic_counters.command("fec-stats"), "show interfaces counters fec-stats"),
        (sonic_watermark.command("queue_unicast"), "show queue watermark unicast"),
        (sonic_lldp.command(), "show lldp table"),
        (sonic_lldp.command(detail=True), "show lldp neighbors"),
        (
            sonic_db.command("COUNTERS:oid:0x1000000000002"),
            "sonic-db-cli COUNTERS_DB hgetall COUNTERS:oid:0x1000000000002",
        ),
    ],
)
def test_the_command_line_asks_what_the_parser_reads(command: tuple[str, ...], line: str) -> None:
    assert " ".join(command) == line


def test_the_fields_of_a_gpu_are_asked_for_with_their_titles() -> None:
    """Without titles a field that a driver does not know could shift all others."""
    assert "noheader" not in " ".join(nvidia_smi_gpu.command())


@pytest.mark.parametrize(
    "call",
    [
        lambda: ping.command("-f"),
        lambda: ping.command("a b"),
        lambda: ping.command("a;b"),
        lambda: ping.command("a", device="x y"),
        lambda: ping.command("a", source="-f"),
        lambda: ping.command("a", linger_s=0),
        lambda: ping.command("a", 0),
        lambda: ping.command("a", interval_s=0.001),
        lambda: ping.command("a", payload_bytes=70_000),
        lambda: iperf3.command("--help"),
        lambda: iperf3.command("a", parallel=129),
        lambda: iperf3.command("a", port=0),
        lambda: iperf3.command("a", source="-f"),
        lambda: iperf3.server_command("-D", 5201),
        lambda: iperf3.server_command("a", 70_000),
        lambda: nccl_tests.command("all_reduce;"),
        lambda: nccl_tests.command("all_reduce", largest="8X"),
        lambda: nccl_tests.command("all_reduce", gpus=0),
        lambda: nccl_tests.launch((), 8, {}, ()),
        lambda: nccl_tests.launch(("-x",), 8, {}, ()),
        lambda: sonic_counters.command("clear"),
        lambda: sonic_watermark.command("clear"),
        lambda: sonic_db.command("COUNTERS:oid:0x1", "FLEX; rm"),
        lambda: sonic_db.command("COUNTERS:* flushall"),
    ],
)
def test_what_is_no_name_and_out_of_range_is_refused(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="expected"):
        call()
