"""What ports, nodes and the fabric say about themselves."""

from __future__ import annotations

from pytest_fabric.declare.declaration import Declaration


def port_facts() -> Declaration:
    """Declare what a port says about itself: state, speed, width, MTU, firmware, PCIe link."""
    return Declaration("port_facts", "port")


def node_facts() -> Declaration:
    """Declare what a node says about itself: kernel and perftest."""
    return Declaration("node_facts", "node")


def host_facts(over: str = "node") -> Declaration:
    """Declare how a node's system is set up; over `fabric`, what all nodes say at once."""
    return _topic("host", over, "node")


def link_facts(over: str = "port") -> Declaration:
    """Declare what a port says of its signal: FEC, bit errors, flaps, module, errors of PCIe."""
    return _topic("link", over, "port")


def wiring_facts(over: str = "port") -> Declaration:
    """Declare where a port's cable ends, held against the plan; over `fabric`, all cables."""
    return _topic("wiring", over, "port")


def infiniband_facts(over: str = "port") -> Declaration:
    """Declare what the subnet manager gave an InfiniBand port: its LID, and its partitions."""
    return _topic("infiniband", over, "port")


def subnet_facts() -> Declaration:
    """Declare what a sweep of the InfiniBand fabric shows, made from one of its nodes."""
    return Declaration("subnet", "fabric")


def qos_facts(over: str = "port") -> Declaration:
    """Declare how a port treats RDMA traffic; over `fabric`, what all ports say at once."""
    return _topic("qos", over, "port")


def firmware_facts(over: str = "port") -> Declaration:
    """Declare firmware and driver of a port; over `fabric`, what all ports say at once."""
    return _topic("firmware", over, "port")


def nccl_tests() -> Declaration:
    """Declare one run of all_reduce_perf over all GPUs that `collectives` in cluster.yaml names."""
    return Declaration("collective", "fabric")


def switch_facts() -> Declaration:
    """Declare how the switch end of a port's cable is set up, as the switch says."""
    return Declaration("switch", "port")


def switch_window(congested: bool = False) -> Declaration:
    """Declare what the switch end of a port's cable counted while the run loaded the fabric.

    It ends when all that the run measures has been measured: such tests belong behind all others.
    `congested` says that a test is about what incasts made the switch do.
    """
    return Declaration("switch_window", "port", congested=congested or None)


def _topic(topic: str, over: str, usual: str) -> Declaration:
    if over not in (usual, "fabric"):
        raise ValueError(f"{topic}_facts(over={over!r}): expected {usual} or fabric")
    return Declaration(topic, over)
