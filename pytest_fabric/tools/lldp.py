"""LLDP neighbours: which port of which switch a port is cabled to.

Read are `lldpcli show neighbors` in its formats json, json0 and keyvalue (lldpd, src/client), and
`lldptool -t -n -i PORT` (lldpad), which does not name the port that it was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, names
from pytest_fabric.tools.complaints import Known
from pytest_fabric.tools.printable import printable
from pytest_fabric.tools.strict_json import as_object, is_json, load

ERRORS: Known = (
    ("permission", re.compile(r"(?i)socket .*Permission denied|insufficient permissions?")),
    (
        "not_running",
        re.compile(
            r"(?i)^(?:.*\[\w+/\w+\] )?(?:unable|cannot|failed|could ?n.t) .*"
            r"(?:connect|connection|socket)|Connection refused$"
        ),
    ),
    ("no_such_device", re.compile(r"^(?:Device|Agent instance for device) not found|^No such dev")),
)

#: Kinds of IDs, by the words of either tool.
KINDS = {
    "mac": "mac",
    "ifname": "ifname",
    "ifalias": "ifalias",
    "ip": "ip",
    "ipv4": "ip",
    "ipv6": "ip",
    "local": "local",
    "unhandled": "unhandled",
}
PAIR = re.compile(r"lldp\.(\S+?)\.(via|rid|age|(?:chassis|port)\.[a-z][a-z-]*)=(.*)")
OTHER_PAIR = re.compile(r"lldp\.\S+?\.[a-z][A-Za-z0-9-]*(?:\.[^=]*)?=.*")
TITLE = re.compile(r"[A-Z][A-Za-z0-9 /-]* TLV|Unidentified Org Specific TLV.*")
END = "End of LLDPDU TLV"


@dataclass(frozen=True)
class Neighbour:
    """A neighbour of a port. IDs are what the switch gives, `*_id_kind` says what they are.

    Descriptions are first lines. `interface` is None where the tool does not tell it.
    """

    interface: str | None
    protocol: str
    chassis_id: str
    chassis_id_kind: str
    system_name: str | None
    port_id: str
    port_id_kind: str
    port_description: str | None


def command() -> tuple[str, ...]:
    """Return the command line that shows the neighbours of all ports, as lldpd knows them."""
    return ("lldpcli", "show", "neighbors", "-f", "json0")


def lldptool_command(netdev: str) -> tuple[str, ...]:
    """Return the command line that shows the neighbour of one port, as lldpad knows it."""
    return ("lldptool", "-t", "-n", "-i", names.netdev(netdev))


def parse(text: str) -> list[Neighbour]:
    """Return the neighbours; only the JSON formats can say that there are none.

    Raises ToolError when the daemon cannot be asked, NotRecognisedError for any other text.
    """
    if is_json(text):
        root = _only(as_object(load(text, ERRORS), "document").get("lldp"), "lldp")
        return [_from_json(name, entry) for name, entry in _interfaces(root)]
    lines = [line.rstrip("\r") for line in text.split("\n")]
    if text.endswith("\n") and any(PAIR.fullmatch(line) for line in lines):
        return [_from_pairs(name, pairs) for name, pairs in _pairs(lines)]
    sections = _sections(lines) if text.endswith("\n") else None
    if sections:
        return [_from_sections(sections)]
    complaints.check(text, ERRORS)
    raise NotRecognisedError(f"expected whole LLDP neighbours, got {text.strip()[:80]!r}")


def _only(value: object, what: str) -> dict[str, object]:
    """Return an object that json0 wraps in a list of one."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return as_object(value, what)


def _interfaces(root: dict[str, object]) -> Iterator[tuple[object, dict[str, object]]]:
    """Yield name and entry of each neighbour: json has names as keys, json0 among the values."""
    found = root.get("interface", [])
    for item in found if isinstance(found, list) else [found]:
        entry = as_object(item, "interface")
        if "chassis" in entry and "name" in entry:
            yield entry["name"], entry
        else:
            for name, value in entry.items():
                yield name, as_object(value, name)


def _from_json(name: object, entry: dict[str, object]) -> Neighbour:
    chassis, port = _only(entry.get("chassis"), "chassis"), _only(entry.get("port"), "port")
    system = _leaf(chassis.get("name"))
    if not isinstance(chassis.get("id"), list) and "type" not in _maybe(chassis.get("id")):
        # The json format has the name of the switch as a key around all the rest.
        if len(chassis) != 1:
            raise NotRecognisedError("expected one chassis for a neighbour")
        system, inner = next(iter(chassis.items()))
        chassis = as_object(inner, "chassis")
    chassis_id, port_id = _only(chassis.get("id"), "id"), _only(port.get("id"), "id")
    return _neighbour(
        name,
        entry.get("via"),
        (chassis_id.get("type"), chassis_id.get("value")),
        system,
        (port_id.get("type"), port_id.get("value")),
        _leaf(port.get("descr")),
    )


def _maybe(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _leaf(value: object) -> object:
    """Return a text, which json0 wraps as `[{"value": TEXT}]`."""
    if isinstance(value, list) and len(value) == 1:
        return _maybe(value[0]).get("value")
    return value


def _pairs(lines: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield interface and values of each neighbour; `via` comes first, descriptions go on."""
    found: list[tuple[str, dict[str, str]]] = []
    for line in lines:
        match = PAIR.fullmatch(line)
        if match:
            if match[2] == "via":
                found.append((match[1], {}))
            if not found or found[-1][0] != match[1]:
                raise NotRecognisedError(f"expected via of {match[1][:40]!r} before its values")
            found[-1][1].setdefault(match[2], match[3])
        elif line.strip() and not found:
            raise NotRecognisedError(f"expected lldp.PORT.via first, got {line[:80]!r}")
        elif line.startswith("lldp.") and not OTHER_PAIR.fullmatch(line):
            raise NotRecognisedError(f"expected lldp.PORT.KEY=VALUE, got {line[:80]!r}")
    yield from found


def _from_pairs(interface: str, values: Mapping[str, str]) -> Neighbour:
    chassis, port = (
        next(((kind, values[f"{what}.{kind}"]) for kind in KINDS if f"{what}.{kind}" in values), ())
        for what in ("chassis", "port")
    )
    if not chassis or not port:
        raise NotRecognisedError(f"expected chassis and port of {interface[:40]!r}")
    system, description = values.get("chassis.name"), values.get("port.descr")
    return _neighbour(interface, values.get("via"), chassis, system, port, description)


def _sections(lines: list[str]) -> dict[str, str] | None:
    """Return the first line below each title of lldptool; None unless the text is whole."""
    whole = [line for line in lines if line.strip()]
    if not whole or whole[-1] != END or whole[0] != "Chassis ID TLV":
        return None
    sections: dict[str, str] = {}
    for title, line in pairwise(whole):
        if TITLE.fullmatch(title) and line.startswith("\t"):
            sections.setdefault(title, line.strip())
    return sections


def _from_sections(sections: Mapping[str, str]) -> Neighbour:
    chassis, port = (
        sections.get(f"{what} ID TLV", "").partition(": ")[::2] for what in ("Chassis", "Port")
    )
    system, description = sections.get("System Name TLV"), sections.get("Port Description TLV")
    return _neighbour(None, "LLDP", chassis, system, port, description)


def _neighbour(
    interface: object,
    protocol: object,
    chassis: tuple[object, ...],
    system: object,
    port: tuple[object, ...],
    description: object,
) -> Neighbour:
    kinds = [
        KINDS.get(str(kind).lower().replace("network address", "ip")) for kind, _ in (chassis, port)
    ]
    ids = [_shown(value) for _, value in (chassis, port)]
    via, name = _shown(protocol), _shown(interface)
    chassis_kind, port_kind = kinds
    chassis_id, port_id = ids
    if not (via and chassis_kind and port_kind and chassis_id and port_id) or (
        interface is not None and not name
    ):
        raise NotRecognisedError("expected interface, protocol, chassis ID and port ID")
    return Neighbour(
        interface=name,
        protocol=via,
        chassis_id=chassis_id.lower() if chassis_kind == "mac" else chassis_id,
        chassis_id_kind=chassis_kind,
        system_name=_shown(system),
        port_id=port_id.lower() if port_kind == "mac" else port_id,
        port_id_kind=port_kind,
        port_description=_shown(description),
    )


def _shown(value: object) -> str | None:
    """Return the first line of a text, made printable; None for an empty one and what is none."""
    line = value.strip().split("\n")[0].strip() if isinstance(value, str) else ""
    return printable(line) or None


def records(text: str) -> list[dict[str, object]]:
    """Return the neighbours as plain records."""
    return [asdict(neighbour) for neighbour in parse(text)]
