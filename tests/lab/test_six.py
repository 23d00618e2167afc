"""Rails of IPv6 alone: GIDs, handshake and echoes are of that family, or nothing is reached."""

from __future__ import annotations

from random import Random

import pytest

from pytest_fabric.lab import physics
from pytest_fabric.tools import perftest

from .clusters import ROCE, fabric, port
from .perftest_pairs import Pair

SIX = ROCE.replace("10.1.0.0/16", '"fd00:1::/64"')
ENDS = ("gpu001", "gpu002")
RUN = "ib_write_lat -x 3 -n 500"


def test_larger_headers_leave_less_of_the_line() -> None:
    """At MTU 4096, 4096 of 4198 bytes on the wire are payload; over IPv4 of 4178."""

    def rate(text: str) -> float:
        sender, receiver = (port(text, f"{name}:rail0") for name in ENDS)
        return physics.goodput_bps(2**20, 4, sender, receiver, Random(1))

    assert rate(SIX) / rate(ROCE) == pytest.approx(4178 / 4198)


def test_a_handshake_over_ipv6_needs_its_option() -> None:
    world = fabric(SIX)
    client, server = Pair(world).run(f"{RUN} --ipv6-addr")

    assert perftest.parse(client.stdout).latency
    assert server.status == "0"
    pair = Pair(fabric(SIX))
    pair.serve(RUN)
    pair.ready()
    lost = pair.client.run(f"{RUN} -p 18515 {pair.address}")
    error = perftest.find_error(f"{lost.stdout}\n{lost.stderr}")
    assert error is not None
    assert error.kind == "resolve"
