"""RDMA of Intel's E810, X722 and IPU: irdma, and i40iw before it.

Names: drivers/infiniband/hw/irdma/verbs.c (irdma_hw_stat_names), with the prefixes `iw` and `tcp`
up to 6.x, and those of generation 3 with blanks. Registers have 16 to 56 bits; the driver adds them
up to 64. Behind the kernel's cache. Only generation 3 has out-of-order, NAK and timeout counters.
"""

from __future__ import annotations

from pytest_fabric.counters.entry import CACHED_S, Driver, entry, refreshed, reordering

#: Up to generation 2: E810 and X722.
COUNTERS = refreshed(
    CACHED_S,
    entry("ip[46]OutOctets", "bytes", "tx", "information", "B"),
    entry("ip[46]InOctets", "bytes", "rx", "information", "B"),
    entry("ip[46]OutPkts|TxUDP", "packets", "tx", "information"),
    entry("ip[46]InPkts|RxUDP", "packets", "rx", "information"),
    *reordering(entry("(?:tcp)?RetransSegs", "retransmissions", "tx", "uncongested")),
    entry("(?:tcp)?InProtoErrors", "receive_errors", "rx"),
    entry("ip[46]InDiscards", "refused", "rx", "information"),
    entry("RxECNMrkd", "ecn_marked", "rx", "forced"),
    entry("cnpSent", "cnp_sent", "tx", "forced"),
    entry("cnpHandled", "cnp_handled", "rx", "forced"),
    entry("cnpIgnored", "cnp_ignored", "rx", "uncongested"),
)

GENERATION_3 = refreshed(
    CACHED_S,
    *reordering(
        entry("Rcvd Out of order packets", "out_of_sequence", "rx", "uncongested"),
        entry("Nak Sequence Error", "out_of_sequence", "tx", "uncongested", "events"),
        entry("Nak Sequence Error Implied", "retransmissions", "tx", "uncongested", "events"),
    ),
    entry("RTO", "retransmissions", "tx", "never", "events"),
    entry("RNR received", "retransmissions", "tx", "never", "events"),
    entry("RNR sent", "receiver_not_ready", "rx", "uncongested", "events"),
    entry("CRC errors", "icrc_errors", "rx"),
)

#: The network driver of the IPU is idpf, whose statistics have no counters of the port.
DRIVER = Driver(("idpf",), (*COUNTERS, *GENERATION_3), verified=False)
