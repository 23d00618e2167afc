"""Verdicts and measurements as a run makes them, to be varied by the tests."""

from __future__ import annotations

from dataclasses import replace

from pytest_fabric.report.about import SCHEMA, About, Options
from pytest_fabric.report.planned import Planned
from pytest_fabric.results import (
    Attempt,
    Bandwidth,
    Failure,
    Growth,
    Latency,
    Measurement,
    Traffic,
    Verdict,
)

HOSTILE = "\x1b[31mred\x1b[0m \x00 ]]> <script>alert('x')</script> \ufffe \ud800 & \"quoted\"\x9b2J"


def verdict(
    target: str,
    outcome: str = "passed",
    check: str = "test_p99",
    message: str | None = None,
    value: float | str | None = None,
    unit: str | None = "s",
    limit: str | None = "<= 5 us",
) -> Verdict:
    """Return a verdict on `target`, by default on its P99; no value unless passed or failed."""
    usual = 18e-6 if outcome == "failed" else 2.1e-6
    measured = outcome in ("passed", "failed")
    return Verdict(
        nodeid=f"suites/test_4_pair.py::{check}[{target}]",
        check=check,
        target=target,
        layer="pair",
        outcome=outcome,
        metric="ib_write_lat.4.p99" if measured else None,
        value=(usual if value is None else value) if measured else None,
        unit=unit if measured else None,
        limit=limit if measured else None,
        limit_source="cluster.yaml:41" if measured and limit else None,
        message=message,
        started=1_795_958_460.5,
        duration=0.25,
    )


def planned(result: Verdict) -> Planned:
    """Return the plan that a verdict fulfils."""
    node = result.target.partition(":")[0]
    return Planned(result.nodeid, result.check, result.target, result.layer, node)


LATENCY = Measurement(
    key="ib_write_lat-4",
    tool="ib_write_lat",
    target="gpu001:rail0..gpu002:rail0",
    commands={
        "client": "ib_write_lat -d mlx5_0 -p 18515 -s 4 -n 20000 -F 10.1.0.2",
        "server": "ib_write_lat -d mlx5_0 -p 18515 -s 4 -n 20000 -F",
    },
    versions={"client": "6.10", "server": "6.10"},
    attempts=(Attempt(18515, "taken"), Attempt(18516, "ran")),
    settings={"size": 4, "duration": None},
    latency=Latency(4, 20000, 1.9e-6, 40e-6, 2.1e-6, 2.4e-6, 18e-6, 25e-6),
    bandwidth=None,
    mtu=4096,
    growth=(
        Growth("gpu001:rail0", "rx_prio3_pause", "pause", 0, "rx", 3),
        Growth("gpu001:rail0", "tx_bytes_phy", "bytes", 9_000_000, "tx"),
        Growth("gpu002:rail0", "out_of_sequence", "out_of_sequence", 7),
        Growth("gpu002:rail0", "tx_prio3_pause", "pause", 18_422, "tx", 3),
    ),
    counter_errors={"crc_errors": "gpu001:rail0: rx_crc_errors_phy is saturated"},
    traffic=Traffic(80_000, 81_000, 81_500, 0.99, "gpu002:rail0"),
    doubts=(),
    beside=("gpu003:rail0..gpu004:rail0",),
    company=1,
    alone=False,
    raw={"client.stdout": "4 20000 1.9\n", "client.stderr": "", "server.stdout": HOSTILE},
    error=None,
    started=1_795_958_460.5,
    duration=1.25,
)

BANDWIDTH = replace(
    LATENCY,
    key="ib_write_bw",
    tool="ib_write_bw",
    latency=None,
    bandwidth=Bandwidth(1 << 20, 467_000, None, 392e9, 46_730.0),
    attempts=(Attempt(18515, "ran"),),
    growth=(),
    beside=(),
    company=0,
    alone=False,
    doubts=("gpu002:rail0: 12% of the traffic was somebody else's",),
    raw={},
)

BROKEN = replace(
    LATENCY,
    latency=None,
    mtu=None,
    growth=(),
    counter_errors={},
    traffic=None,
    attempts=(),
    beside=(),
    company=0,
    alone=False,
    commands={},
    raw={},
    error=Failure("node_refused", "gpu002: expected an SSH server, the connection was refused"),
)

ABOUT = About(
    schema=SCHEMA,
    version="0.1.0",
    cluster="lab",
    inventory="cluster.yaml",
    inventory_sha256="0" * 64,
    transport="lab",
    strategy="ring",
    options=Options(nodes=None, load="full", faults=(), seed=1),
    started="2026-01-01T00:00:00+00:00",
    user="ops",
    host="desk",
    ports={"gpu001:rail0": "gpu001 pci 0000:1a:00.0 10.1.0.0/16 leaf-0"},
)
