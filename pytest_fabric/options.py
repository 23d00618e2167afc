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
        "--fabric-no-reports",
        action="store_true",
        help="Leave no report.html and junit.xml in the run directory",
    )
    group.addoption(
        "--fabric-fault",
        metavar="NAME@TARGET",
        action="append",
        default=[],
        help="Break the lab in this way, as in latency_tail@gpu002:rail0 (repeatable)",
    )
    parser.addini("fabric_cluster", "Inventory of the fabric, relative to the rootdir")
