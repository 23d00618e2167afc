"""The cluster file: read, checked with every problem at its line, and turned into frozen models."""

from pytest_fabric.config.applies import SWITCHES, has_infiniband, unasked, why_missing
from pytest_fabric.config.cables import Cable
from pytest_fabric.config.hardware import Network
from pytest_fabric.config.limits import (
    Absolute,
    Baseline,
    Clause,
    Limit,
    Peers,
    Range,
    Relative,
    Word,
    header_bytes,
    payload_rate_bps,
)
from pytest_fabric.config.load import load, load_text
from pytest_fabric.config.models import ROOT_TOOLS, Cluster, Node, Pairs, Profile, Rail, Selector
from pytest_fabric.config.nodesets import expand, fold
from pytest_fabric.config.profile import builtin_names, builtin_profile
from pytest_fabric.config.schema import cluster_schema
from pytest_fabric.config.sections import (
    Cnp,
    Fabric,
    Infiniband,
    Lab,
    LatencyParts,
    Link,
    Pcie,
    Roce,
    Ssh,
    Tools,
    TrafficSettings,
    Waiver,
    Workload,
)
from pytest_fabric.config.switches import Switch

__all__ = [
    "ROOT_TOOLS",
    "SWITCHES",
    "Absolute",
    "Baseline",
    "Cable",
    "Clause",
    "Cluster",
    "Cnp",
    "Fabric",
    "Infiniband",
    "Lab",
    "LatencyParts",
    "Limit",
    "Link",
    "Network",
    "Node",
    "Pairs",
    "Pcie",
    "Peers",
    "Profile",
    "Rail",
    "Range",
    "Relative",
    "Roce",
    "Selector",
    "Ssh",
    "Switch",
    "Tools",
    "TrafficSettings",
    "Waiver",
    "Word",
    "Workload",
    "builtin_names",
    "builtin_profile",
    "cluster_schema",
    "expand",
    "fold",
    "has_infiniband",
    "header_bytes",
    "load",
    "load_text",
    "payload_rate_bps",
    "unasked",
    "why_missing",
]
