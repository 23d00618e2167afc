"""How long messages take and how fast they flow: pure functions of ports and a random source.

Sources: reference figures for one switch hop, FEC and headers come from public measurements of
400G fabrics; each constant says which part of the path it stands for.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import ceil, exp
from statistics import NormalDist

from pytest_fabric.lab.model import ETHERNET, INFINIBAND, UNKNOWN, Port

#: Posting, doorbell, both network cards and the poll that sees the message.
SOFTWARE_AND_NIC_S = 1.35e-6
#: A card that answers a read fetches the data over PCIe.
READ_FETCH_S = 0.45e-6
#: One switch, cut-through: Spectrum-class Ethernet, Quantum-class InfiniBand.
SWITCH_S = {ETHERNET: 0.30e-6, INFINIBAND: 0.20e-6, UNKNOWN: 0.30e-6}
#: What the card of EFA does more: its transport is in firmware. AWS tells of some 15 us in all for
#: a small message of MPI; engineering judgement for what is left of it below libfabric.
SRD_S = 11e-6
#: Reed-Solomon FEC, per link.
FEC_S = 0.10e-6
#: Light in a cable, 5 ns per metre; 3 m to the leaf, 20 m between leaf and spine.
LEAF_CABLE_S = 15e-9
SPINE_CABLE_S = 100e-9
#: Messages longer than the inline limit are fetched by the card, a fixed cost and their length.
FETCH_S = 0.20e-6
INLINE_BYTES = 220
#: A receive work request costs a send what a write does not pay.
SEND_S = 0.06e-6

#: What a frame carries beside the payload. Ethernet: preamble, gap, MAC, CRC, IPv4, UDP, BTH, ICRC,
#: and 20 more with IPv6; InfiniBand: LRH, BTH and both CRCs. Preamble, gap and CRC (24 bytes) are
#: in no byte counter.
OVERHEAD_BYTES = {ETHERNET: 82, INFINIBAND: 26, UNKNOWN: 82}
IPV6_MORE_BYTES = 20
UNCOUNTED_BYTES = {ETHERNET: 24, INFINIBAND: 0, UNKNOWN: 24}

#: Headers of an RDMA write inside its IP packet, that of IPv4 included: UDP, BTH, RETH, ICRC.
PACKET_BYTES = 20 + 8 + 12 + 16 + 4

#: Share of the PCIe line rate that payload can use: 128/130 coding and packet headers.
PCIE_EFFICIENCY = 128 / 130 * 0.90
#: Messages per second of one queue pair.
QP_MESSAGES = 12e6
#: What a clean link delivers of the payload rate.
CLEAN = 0.995

#: The tail: latency is median + scale * (exp(z) - 1), z normal; P99 is then 9.2 scales above.
TAIL_S = 0.05e-6
#: A queue is three times as long as usual for one message in a hundred; engineering judgement.
SWING = 2 / 9.2
_NORMAL = NormalDist()
_GRID = tuple(_NORMAL.inv_cdf((place + 0.5) / 400) for place in range(400))


@dataclass(frozen=True)
class Latencies:
    """The figures of one latency run, in seconds, as perftest defines them."""

    minimum: float
    maximum: float
    median: float
    mean: float
    deviation: float
    p99: float
    p999: float


def switches(one: Port, other: Port) -> int:
    """Return how many switches are between two ports: their leaf, or leaf, spine and leaf."""
    return 1 if one.leaf == other.leaf else 3


def median_s(verb: str, size: int, client: Port, server: Port) -> float:
    """Return the usual latency of a message: half a round trip, a whole one for a read."""
    hops = switches(client, server)
    spine_cables = hops - 1
    path = hops * SWITCH_S[client.layer] + (2 + spine_cables) * FEC_S
    path += 2 * LEAF_CABLE_S + spine_cables * SPINE_CABLE_S
    path += client.edge.late_s + server.edge.late_s if spine_cables else 0.0
    path += client.quirks.late_s + server.quirks.late_s + client.adapter.is_srd * SRD_S
    payload = _payload_s(size, client, server)
    if verb == "read":
        return SOFTWARE_AND_NIC_S + READ_FETCH_S + 2 * path + payload
    return SOFTWARE_AND_NIC_S + path + payload + (SEND_S if verb == "send" else 0)


def _payload_s(size: int, client: Port, server: Port) -> float:
    frame = min(size, client.mtu, server.mtu)
    wire = wire_bytes(size, min(client.mtu, server.mtu), client) * 8
    serialisation = wire / min(client.speed_bps, server.speed_bps)
    if size <= INLINE_BYTES:
        return serialisation
    return serialisation + FETCH_S + sum(frame * 8 / pcie_bps(port) for port in (client, server))


def latencies(
    verb: str,
    size: int,
    count: int,
    client: Port,
    server: Port,
    chance: random.Random,
    queued_s: float = 0.0,
) -> Latencies:
    """Return the figures of `count` messages; the worse tail of both ports decides.

    `queued_s` is what a message waits behind others on the way; queues swing around that.
    """
    median = median_s(verb, size, client, server) + chance.gauss(0, 0.01e-6) + queued_s
    scale = TAIL_S * exp(chance.gauss(0, 0.08)) * (1.5 if verb == "read" else 1.0)
    scale += queued_s * SWING
    factor = max(client.tail, server.tail)

    def sample(z: float) -> float:
        return median + scale * (factor if z > 0 else 1.0) * (exp(z) - 1)

    def quantile(share: float) -> float:
        return sample(_NORMAL.inv_cdf(share))

    grid = [sample(z) for z in _GRID]
    mean = sum(grid) / len(grid)
    whole = [int(abs(value - mean) * 1e6) for value in grid]  # perftest truncates to whole us
    return Latencies(
        minimum=quantile(1 / (count + 1)),
        maximum=quantile(1 - 2 / (count + 1)),  # perftest drops the largest sample
        median=median,
        mean=mean,
        deviation=(sum(value**2 for value in whole) / len(whole)) ** 0.5 * 1e-6,
        p99=min(quantile(0.99), quantile(1 - 2 / (count + 1))),
        p999=min(quantile(0.999), quantile(1 - 2 / (count + 1))),
    )


def pcie_bps(port: Port) -> float:
    """Return the payload bits per second that the PCIe links above a card carry."""
    lanes = min(port.pcie_width, port.quirks.above or port.pcie_width)
    return port.pcie_tps * lanes * PCIE_EFFICIENCY


def packets(size: int, mtu: int) -> int:
    """Return how many packets a message of `size` bytes takes."""
    return max(1, ceil(size / mtu))


def ip_bytes(size: int, one: Port, other: Port) -> int:
    """Return the largest IP packet of a message of `size` bytes over RoCE."""
    return min(size, one.mtu, other.mtu) + PACKET_BYTES + _more_bytes(one)


def overhead_bytes(port: Port) -> int:
    """Return what a frame of a port carries beside the payload, the gap behind it included."""
    return OVERHEAD_BYTES[port.layer] + _more_bytes(port)


def _more_bytes(port: Port) -> int:
    is_six = port.layer == ETHERNET and port.address.version == 6
    return IPV6_MORE_BYTES if is_six else 0


def wire_bytes(size: int, mtu: int, sender: Port) -> int:
    """Return the bytes that a message takes on the wire, gaps between frames included."""
    return size + packets(size, mtu) * overhead_bytes(sender)


def goodput_bps(size: int, qps: int, sender: Port, receiver: Port, chance: random.Random) -> float:
    """Return the payload bits per second of a flow that has both ports for itself."""
    mtu = min(sender.mtu, receiver.mtu)
    lines = (min(port.speed_bps, qps * port.member_bps) for port in (sender, receiver))
    line = min(bps * port.passes for bps, port in zip(lines, (sender, receiver), strict=True))
    line = min(line, sender.speed_bps * sender.quirks.sends)
    payload = line * size / wire_bytes(size, mtu, sender) * CLEAN
    host = min(pcie_bps(sender), pcie_bps(receiver))
    messages = QP_MESSAGES * qps * size * 8
    return min(payload, host, messages) * (1 - abs(chance.gauss(0, 0.0005)))
