"""The layers of the suites."""

from __future__ import annotations

import re
from functools import cache

#: The layers of the suites, bottom up, which `-m` selects; and what each is about.
LAYERS = {
    "wiring": "every cable is where the plan says",
    "link": "ports, modules and slots are as declared",
    "host": "systems are set up for RDMA",
    "firmware": "firmware and drivers are those that are declared, and alike",
    "qos": "the class of RDMA traffic, at the hosts",
    "switch": "the switch end of each cable",
    "reach": "ports reach each other, with small and with full packets",
    "subnet": "the InfiniBand subnet as one node sees it",
    "pair": "latency, bandwidth and counters of pairs",
    "node": "all ports of a node at once",
    "fabric": "what the network does when it is congested, and across its middle",
    "tcp": "TCP between ports, where limits of it are declared",
    "soak": "hours of full load, where --fabric-soak asks for them",
    "collective": "a collective of all GPUs, where one is declared",
}


@cache
def layer_of(module: str) -> str:
    """Return the layer that a suite's module name carries: `test_4_pair` is `pair`."""
    stem = module.rpartition("/")[2].removesuffix(".py")
    return re.sub(r"^test_(\d+_)?", "", stem) or stem
