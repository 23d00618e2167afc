"""What is built in: nodes and ports with firmware, alike ones in one row, the odd ones marked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from pytest_fabric.report.places import fold
from pytest_fabric.report.sections import markup
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.results import NodeFacts, RdmaPort
from pytest_fabric.units import render

PORT_COLUMNS = (
    "driver",
    "board (PSID)",
    "firmware",
    "link",
    "state",
    "speed",
    "width",
    "MTU",
    "PCIe",
)
NODE_COLUMNS = ("kernel", "perftest", "system", "governor", "locked memory")

#: What is alike within these columns should be alike in the others, too.
SAME_PORT, SAME_NODE = ("driver", "board (PSID)"), ()

Row = tuple[str, ...]


def section(record: RunRecord) -> list[str]:
    """Return tables of ports and nodes; nothing where no node has told anything."""
    facts = record.kept.facts
    if not facts:
        return []
    ports = {
        f"{node}:{port.device}": _port(port) for node, one in facts.items() for port in one.ports
    }
    nodes = {node: _node(record, one) for node, one in facts.items()}
    silent = [name for name in dict.fromkeys(_nodes(record)) if name not in facts]
    told = [f"<p>{markup.mark('error', f'nothing is known of {fold(silent)}')}</p>"]
    return [
        "<h2>Inventory</h2>",
        f"<p>Alike ports and nodes share a row; {markup.SIGNS['odd']} marks what most others of "
        "the same board have differently.</p>",
        grouped("RDMA ports", ports, PORT_COLUMNS, SAME_PORT),
        grouped("nodes", nodes, NODE_COLUMNS, SAME_NODE),
        *(told if silent else []),
    ]


def grouped(
    title: str, rows: Mapping[str, Row], columns: Sequence[str], same: Sequence[str]
) -> str:
    """Return a table with one row for all places that are alike, the most common first."""
    usual = _usual(rows, columns, same)
    groups: dict[Row, list[str]] = defaultdict(list)
    for place, row in rows.items():
        groups[row].append(place)
    cells = [
        [
            markup.safe(fold(places)),
            f"{len(places):,}",
            *(
                markup.safe(value) if value == most else markup.mark("odd", value)
                for value, most in zip(row, usual[_key(row, columns, same)], strict=True)
            ),
        ]
        for row, places in sorted(groups.items(), key=lambda found: (-len(found[1]), found[0]))
    ]
    return markup.table((title, "count", *columns), cells)


def _usual(rows: Mapping[str, Row], columns: Sequence[str], same: Sequence[str]) -> dict[Row, Row]:
    """Return what most have in each column, by what should be alike; a tie has no odd ones."""
    groups: dict[Row, list[Row]] = defaultdict(list)
    for row in rows.values():
        groups[_key(row, columns, same)].append(row)
    return {key: _most(group) for key, group in groups.items()}


def _most(group: Sequence[Row]) -> Row:
    return tuple(Counter(column).most_common(1)[0][0] for column in zip(*group, strict=True))


def _key(row: Row, columns: Sequence[str], same: Sequence[str]) -> Row:
    return tuple(row[columns.index(name)] for name in same)


def _port(port: RdmaPort) -> Row:
    hop = port.pcie[0] if port.pcie else None
    pcie = [
        render(hop.speed_tps, "T/s") if hop is not None and hop.speed_tps else "",
        f"x{hop.width}" if hop is not None and hop.width else "",
    ]
    return (
        port.driver,
        port.psid or "not told",
        port.firmware or "not told",
        port.link_layer,
        f"{port.state}, {port.physical_state}",
        render(port.speed_bps, "b/s") if port.speed_bps else "not told",
        "not told" if port.width is None else f"{port.width}x",
        "not told" if port.active_mtu is None else f"{port.active_mtu:,} B",
        " ".join(filter(None, pcie)) or "not told",
    )


def _node(record: RunRecord, facts: NodeFacts) -> Row:
    reading = record.kept.readings.get(("host", facts.node))
    said = reading.facts.get(facts.node, {}) if reading is not None else {}
    words = [said.get(f"host.{name}") for name in ("os", "governor")]
    memory = "unlimited" if facts.memlock_bytes is None else render(facts.memlock_bytes, "B")
    told = ["not asked" if w is None else str(w.value or w.problem or "") for w in words]
    return facts.kernel, facts.perftest or "not there", *told, memory


def _nodes(record: RunRecord) -> list[str]:
    names = [port.partition(":")[0] for port in record.run.declared]
    return [name for name in names if name not in record.run.excluded]
