"""See what a machine really puts on the fabric link."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from .machines import NETDEV, Machine, background, rescue

ROCE_PORT = 4791


@contextmanager
def capture_traffic_class(machine: Machine) -> Iterator[set[int]]:
    """Collect the TOS bytes (IPv6: traffic classes) of the RoCE packets that the machine sends.

    The set is filled when the block ends.
    """
    seen: set[int] = set()
    tcpdump = f"tcpdump -i {NETDEV} -Q out -n -t -v -l --immediate-mode -s 96 udp port {ROCE_PORT}"
    with background(rescue(machine), tcpdump) as capture:
        capture.wait_for(lambda output: f"listening on {NETDEV}" in output)
        yield seen
        capture.stop("INT")
        seen.update(traffic_classes(capture.output()))


def traffic_classes(output: str) -> set[int]:
    """Return the TOS bytes and traffic classes in what `tcpdump -v` printed."""
    ipv4 = {int(tos, 16) for tos in re.findall(r"^IP \(tos (0x[0-9a-f]+)", output, re.MULTILINE)}
    # tcpdump names the class of an IPv6 packet only when it is not 0.
    ipv6 = {
        int(named.group(1), 16) if (named := re.search(r"class (0x[0-9a-f]+)", header)) else 0
        for header in re.findall(r"^IP6 \(([^)]*)\)", output, re.MULTILINE)
    }
    return ipv4 | ipv6
