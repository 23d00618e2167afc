"""The options and ini settings of the plugin."""

from __future__ import annotations

import pytest

# Help texts: a phrase without a full stop, the unit of a value named.


def add(parser: pytest.Parser) -> None:
    """Register every option of the plugin."""
    group = parser.getgroup("fabric", "RDMA fabric acceptance")
    group.addoption(
        "--fabric-cluster",
        metavar="FILE",
        help="Inventory of the fabric (default: ini fabric_cluster, or ./cluster.yaml)",
    )
    group.addoption(
        "--fabric-nodes",
        metavar="SET",
        help="Test only these nodes, as a node set such as gpu[001-004]",
    )
    group.addoption(
        "--fabric-pairs",
        metavar="STRATEGY",
        choices=("cover", "ring", "all", "permutation", "random", "list"),
        help="Choose pairs by this strategy instead of the inventory's: "
        "cover, ring, all, permutation, random or list",
    )
    group.addoption(
        "--fabric-out",
        metavar="DIR",
        default="fabric-runs",
        help="Write the run directory below this one (default: fabric-runs)",
    )
    group.addoption(
        "--fabric-junit",
        metavar="FILE",
        help="Write JUnit XML with one suite per node and every planned check exactly once",
    )
    group.addoption(
        "--fabric-junit-group",
        choices=("node", "layer"),
        default="node",
        help="Let a suite of --fabric-junit be a node or a layer (default: node)",
    )
    group.addoption(
        "--fabric-no-reports",
        action="store_true",
        help="Leave no report.html, junit.xml, tickets and signoff/ in the run directory",
    )
    group.addoption(
        "--fabric-fault",
        metavar="NAME@TARGET",
        action="append",
        default=[],
        help="Break the lab in this way, as in latency_tail@gpu002:rail0 (repeatable)",
    )
    group.addoption(
        "--fabric-prove",
        action="store_true",
        help="Break the lab in every way that the selected tests declare with @catches, and see "
        "each fault caught at its place and nothing else (lab only)",
    )
    group.addoption(
        "--fabric-plan",
        action="store_true",
        help="Print what would be measured where and for how long, contact nobody, and stop",
    )
    group.addoption(
        "--yes",
        action="store_true",
        help="Confirm a full mesh (strategy all) of more than 64 nodes",
    )
    group.addoption(
        "--fabric-jobs",
        metavar="N",
        type=int,
        help="Make at most so many measurements at the same time (default: 512)",
    )
    group.addoption(
        "--fabric-load",
        choices=("light", "full", "disruptive"),
        help="Skip what loads the fabric more than this: light is latency, full is bandwidth of "
        "pairs, disruptive is all ports at once (default: full, on a dedicated fabric disruptive)",
    )
    group.addoption(
        "--fabric-lease-wait",
        metavar="TIME",
        help="Wait so long for a port that another run measures, as 90s or 5m (default: 5m)",
    )
    group.addoption(
        "--fabric-timeout",
        metavar="TIME",
        help="End measuring after this time, as 30m or 24h: what is left becomes an error",
    )
    group.addoption(
        "--fabric-resume",
        metavar="RUN",
        help="Take over what this run directory (or latest) has measured, and measure only what is "
        "missing there or was an error",
    )
    group.addoption(
        "--fabric-replay",
        metavar="RUN",
        help="Judge the measurements of this run directory (or latest) by the limits of today, "
        "contact nobody",
    )
    group.addoption(
        "--fabric-baseline",
        metavar="RUN",
        nargs="+",
        action="extend",
        default=[],
        help="Compare with these run directories (or latest): limits such as `<= 1.10 x baseline`, "
        "and a count of what got worse and better at the end",
    )
    group.addoption(
        "--fabric-no-baseline",
        action="store_true",
        help="Leave out the clauses of limits that need a baseline",
    )
    group.addoption(
        "--fabric-soak",
        metavar="TIME",
        help="Load the fabric for so long, as 10m or 24h, in permutations of a minute each, and "
        "judge what links and bandwidths show meanwhile (suites/test_8_soak.py); drift takes four "
        "windows or more: 4m",
    )
    group.addoption(
        "--fabric-localise",
        action="store_true",
        help="After the planned measurements, measure up to 12 more pairs, those that tell the "
        "suspects of failures apart",
    )
    group.addoption(
        "--fabric-allow-busy",
        action="store_true",
        help="Load nodes although somebody uses them: their jobs, GPUs or traffic may suffer",
    )
    parser.addini("fabric_cluster", "Inventory of the fabric, relative to the rootdir")
    parser.addini("fabric_soak_window", "Length of a window of --fabric-soak (default: 60s)")


def conflict(config: pytest.Config) -> str | None:
    """Return in one line why options make no sense beside each other, or None."""
    given = {
        "--fabric-resume": config.getoption("--fabric-resume") is not None,
        "--fabric-replay": config.getoption("--fabric-replay") is not None,
        "--fabric-fault": bool(config.getoption("--fabric-fault")),
        "--fabric-plan": config.getoption("--fabric-plan"),
        "--fabric-localise": config.getoption("--fabric-localise"),
        "--fabric-baseline": bool(config.getoption("--fabric-baseline")),
        "--fabric-no-baseline": config.getoption("--fabric-no-baseline"),
        "--fabric-soak": config.getoption("--fabric-soak") is not None,
        "--fabric-prove": config.getoption("--fabric-prove"),
        "-n": config.getoption("dist", "no") != "no",
    }
    reasons = {
        ("--fabric-replay", "--fabric-resume"): "a replay measures nothing: give one of them",
        ("--fabric-replay", "--fabric-fault"): "a replay has no lab that could be broken",
        ("--fabric-replay", "--fabric-plan"): "a replay measures nothing that could be planned",
        ("--fabric-replay", "--fabric-localise"): "a replay measures nothing more",
        ("--fabric-replay", "-n"): "a replay takes seconds in one process",
        ("--fabric-resume", "--fabric-plan"): "a plan does not know what is measured already",
        ("--fabric-no-baseline", "--fabric-baseline"): "give one of them",
        ("--fabric-prove", "--fabric-resume"): "a proof measures in labs of its own",
        ("--fabric-prove", "--fabric-replay"): "a proof measures in labs of its own",
        ("--fabric-prove", "--fabric-fault"): "a proof chooses the faults by itself",
        ("--fabric-prove", "--fabric-plan"): "a plan is of one run, and a proof makes several",
        ("--fabric-soak", "-n"): "the windows of a soak come one after another",
        ("--fabric-prove", "--fabric-soak"): "a proof makes a short soak by itself",
        ("--fabric-prove", "-n"): "a proof starts processes of its own",
    }
    for (one, other), reason in reasons.items():
        if given[one] and given[other]:
            return f"{one}: expected no {other} beside it, found both: {reason}"
    return None
