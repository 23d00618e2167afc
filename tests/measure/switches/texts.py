"""What a switch prints, for tests: tables and JSON of two ports, one of them cabled."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pytest_fabric.config import Cable, Cluster
from pytest_fabric.measure.switches.far import Far, ends
from pytest_fabric.results import Port
from pytest_fabric.transport import Outcome
from tests.clusters import TEXT, cluster

PORT = Port("gpu001", "rail0")
CABLE = Cable(port=PORT, switch="leaf-0", switch_port="etp1", source="cables.csv:2")


def outcome(text: str, status: int = 0, stderr: str = "") -> Outcome:
    return Outcome("exit", status, text, stderr, False, 0.1)


def site(text: str = TEXT) -> Cluster:
    """Return a cluster whose first port is cabled to leaf-0."""
    return cluster(text).model_copy(update={"cables": {PORT: CABLE}})


def far(text: str = TEXT) -> tuple[Far, ...]:
    return ends(site(text), "leaf-0")


def table(titles: Sequence[str], *rows: Sequence[str]) -> str:
    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=True)]
    lines = (titles, ["-" * width for width in widths], *rows)
    return "".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) + "\n"
        for line in lines
    )


def status(
    oper: str = "up", fec: str = "rs", mtu: str = "9100", speed: str = "400G", alias: str = "etp1"
) -> Outcome:
    """Return `show interfaces status`, where the port of the cable is Ethernet8."""
    titles = ("Interface", "Lanes", "Speed", "MTU", "FEC", "Alias", "Vlan", "Oper", "Admin")
    other = ("Ethernet0", "1,2", "400G", "9100", "rs", "etp0", "trunk", "up", "up")
    mine = ("Ethernet8", "3,4", speed, mtu, fec, alias, "trunk", oper, "up")
    return outcome(table(titles, other, mine))


RULE = "-" * 79


def lldp(*heard: tuple[str, str, str, str]) -> Outcome:
    """Return `show lldp neighbors` of rows of local port, system, port ID and description."""
    lines = [RULE, "LLDP neighbors:", RULE]
    for local, system, port, described in heard:
        lines += [f"Interface:    {local}, via: LLDP, RID: 1, Time: 0 day, 00:01:00"]
        lines += ["  Chassis:", "    ChassisID:    mac 0c:42:a1:00:00:01"]
        lines += [f"    SysName:      {system}", "  Port:", f"    PortID:       mac {port}"]
        lines += [f"    PortDescr:    {described}", RULE]
    return outcome("\n".join(lines) + "\n")


def rows(**fields: object) -> Outcome:
    return outcome(json.dumps(fields))


QUEUES = {"Ethernet8|3": {"wred_profile": "LOSSLESS"}, "Ethernet0|3": {"scheduler": "s"}}
WRED = {"ecn": "ecn_all", "wred_green_enable": "true", "green_min_threshold": "250000"}


def facts(**changed: Outcome) -> dict[str, Outcome]:
    """Return the sections of a switch that is set up well."""
    return {
        "status": status(),
        "lldp": lldp(("Ethernet8", "gpu001", "0c:42:a1:00:00:01", "ens1")),
        "pfc": rows(Ethernet8={"pfc_enable": "3,4"}, Ethernet0={"pfc_enable": ""}),
        "queues": outcome(json.dumps(QUEUES)),
        "wred": rows(LOSSLESS=WRED),
        **changed,
    }


def counters(rx_ok: str = "1,000", rx_err: str = "7", since: str = "") -> Outcome:
    mine = {"STATE": "U", "RX_OK": rx_ok, "TX_OK": "5", "RX_ERR": rx_err}
    return outcome(since + json.dumps({"Ethernet0": {**mine, "RX_ERR": "0"}, "Ethernet8": mine}))


def fec(uncorrected: str = "3") -> Outcome:
    titles = ("IFACE", "STATE", "FEC_CORR", "FEC_UNCORR")
    return outcome(table(titles, ("Ethernet8", "U", "99", uncorrected)))


def pause(rx: str = "4", tx: str = "5", other: str = "0") -> Outcome:
    names = tuple(f"PFC{priority}" for priority in range(8))
    cells = (other, "0", "0")
    return outcome(
        table(("Port Rx", *names), ("Ethernet8", *cells, rx, *"0000"))
        + "\n"
        + table(("Port Tx", *names), ("Ethernet8", *cells, tx, *"0000"))
    )


def drops(dropped: str = "2", queue: str = "UC3") -> Outcome:
    names = ("totalpacket", "totalbytes", "droppacket", "dropbytes")
    values: Mapping[str, str] = {**dict.fromkeys(names, "9"), "droppacket": dropped}
    return rows(Ethernet8={"time": "now", queue: values})


def marks(marked: str = "7", queue: str = "UC3", since: str | None = None) -> Outcome:
    names = ("wreddroppacket", "wreddropbytes", "ecnmarkedpacket", "ecnmarkedbytes")
    values: Mapping[str, str] = {**dict.fromkeys(names, "0"), "ecnmarkedpacket": marked}
    cleared = {} if since is None else {"cached_time": since}
    return rows(Ethernet8={"time": "now", **cleared, queue: values})


PEAKS = "Egress shared pool occupancy per unicast queue:\n" + table(
    ("Port", "UC0", "UC1", "UC2", "UC3"), ("Ethernet8", "0", "0", "0", "4368")
)


def counts(**changed: Outcome) -> dict[str, Outcome]:
    """Return the sections of a switch's counters."""
    return {
        "status": status(),
        "counters": counters(),
        "fec": fec(),
        "pause": pause(),
        "drops": drops(),
        "peaks": outcome(PEAKS),
        "marks": marks(),
        **changed,
    }
