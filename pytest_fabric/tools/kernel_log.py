"""The kernel log, by `dmesg` or `journalctl -k`: what it tells of NICs, GPUs and PCIe.

Messages are those of mlx5 core/health.c, of drivers/pci (pcie/aer.c, `__pcie_print_link_status`),
of the NVIDIA driver, and of network drivers that report their link.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass

from pytest_fabric.errors import NotRecognisedError
from pytest_fabric.tools import complaints, names
from pytest_fabric.tools.complaints import Known
from pytest_fabric.tools.printable import printable

ERRORS: Known = (
    (
        "permission",
        re.compile(
            r"^dmesg: .*(?:Operation not permitted|Permission denied)|"
            r"^No journal files were opened due to insufficient permissions"
        ),
    ),
    ("no_journal", re.compile(r"^No journal files were found|^Failed to open .*journal")),
    ("usage", re.compile(r"^(?:dmesg|journalctl): (?:invalid|unrecognized|unknown) option")),
)

#: Facility and level of `dmesg -r` and `-x`; then the time since boot, or a date: in brackets by
#: `dmesg -T`, with a comma by `dmesg --time-format iso`, else with the node's name by journalctl.
_ISO = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}"
_ZONE = r"(?:Z|[+-][0-9]{2}:?[0-9]{2})"
_DATE = r"(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ 0-9]?[0-9] [0-9:]{8}(?: [0-9]{4})?"
LINE = re.compile(
    r"(?:<[0-9]{1,3}>|[a-z0-9]{1,9} *:[a-z]{1,9} *: )?(?:"
    r"\[ *(?P<uptime>[0-9]{1,10}\.[0-9]{1,9})\](?:\[ *[TC][0-9]{1,10}\])?(?: \S+ kernel:)?|"
    rf"\[(?P<local>{_DATE})\]|"
    rf"(?P<iso>{_ISO},[0-9]{{1,9}}{_ZONE})|"
    rf"(?P<journal>{_ISO}(?:\.[0-9]{{1,9}})?{_ZONE}|{_DATE}) \S+ kernel:(?: \[ *[0-9.]{{1,20}}\])?"
    r")(?: (?P<message>.*))?"
)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

NETDEV = r"(?P<netdev>[A-Za-z0-9_.@-]{1,15})"
PCI = rf"(?P<device>{names.PCI})"
ANY_PCI = r"[0-9a-f:.]{7,16}"
DRIVER = rf"(?:\S+ )?{PCI}(?: {NETDEV})?:"
STATE = r"[Ll]ink (?:is )?(?P<state>[Uu]p|[Dd]own|UP|DOWN)\b"


@dataclass(frozen=True)
class Event:
    """A message that matters. `uptime_s` or `timestamp` is when, as the log shows it.

    `kind` is one of `mlx5_health`, `mlx5_syndrome`, `firmware_fatal`, `aer_corrected`,
    `aer_uncorrected`, `aer_notice` (a port tells of an error that `aer_*` may detail), `xid`,
    `link` and `pcie_limited`. `number` is that of a Xid, a syndrome or a fatal error, `port` the
    PCI port that limits the bandwidth or gives notice. What a kind does not tell is None.
    """

    kind: str
    uptime_s: float | None
    timestamp: str | None
    device: str | None
    netdev: str | None
    port: str | None
    number: int | None
    state: str | None
    available_mbps: int | None
    capable_mbps: int | None
    message: str


@dataclass(frozen=True)
class KernelLog:
    """The events of a log, and how many lines of it tell of nothing that is known here."""

    events: tuple[Event, ...]
    ignored: int


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.ASCII)


#: Kind and pattern, in the order in which they are tried at the start of a message. The groups are
#: fields of Event; numbers are hexadecimal where they start with 0x, bandwidths in Gb/s.
KINDS = (
    ("xid", _pattern(rf"NVRM: Xid \((?:PCI:)?(?P<device>{ANY_PCI})\): (?P<number>[0-9]{{1,5}})\b")),
    (
        "firmware_fatal",
        _pattern(
            rf"{DRIVER} .*?(?:Fatal error (?P<number>[0-9]{{1,10}}) detected|"
            r"Firmware fatal (?:reset|error)|handling bad device|firmware fatal error)"
        ),
    ),
    (
        "mlx5_syndrome",
        _pattern(rf"{DRIVER} .*?(?<![a-z_])synd (?P<number>0x[0-9a-f]{{1,4}}): (?P<state>.+)"),
    ),
    (
        "mlx5_health",
        _pattern(
            rf"mlx5_core {PCI}: .*?(?:device's health compromised|Health issue observed|"
            r"health recovery (?:flow|failed|succeeded))"
        ),
    ),
    (
        "aer_corrected",
        _pattern(rf"{DRIVER} (?:AER: )?PCIe Bus Error: severity=(?P<state>Correct(?:ed|able))\b"),
    ),
    (
        "aer_uncorrected",
        _pattern(
            rf"{DRIVER} (?:AER: )?PCIe Bus Error: "
            r"severity=Uncorrect(?:ed|able) \((?P<state>Fatal|Non-Fatal)\)"
        ),
    ),
    (
        "aer_notice",
        _pattern(
            rf"(?:\S+ )?(?P<port>{ANY_PCI}): AER: (?:Multiple )?(?P<state>Correct|Uncorrect)"
            rf"(?:ed|able) (?:\((?:Non-)?Fatal\) )?error (?:message )?received(?:: | from ){PCI}"
        ),
    ),
    (
        "pcie_limited",
        _pattern(
            rf"{DRIVER} (?P<available>[0-9]{{1,6}}\.[0-9]{{3}}) Gb/s available PCIe bandwidth, "
            rf"limited by [^()]{{1,40}} at (?P<port>{ANY_PCI}|<unknown>) "
            r"\(capable of (?P<capable>[0-9]{1,6}\.[0-9]{3}) Gb/s with [^()]{1,40}\)"
        ),
    ),
    ("link", _pattern(rf"(?:\S+ )?{PCI} {NETDEV}: (?:\S+: \S+ )?(?:NIC )?{STATE}")),
    ("link", _pattern(rf"(?:[a-z0-9_]+: )?(?=[A-Za-z]){NETDEV}: (?:NIC )?{STATE}")),
    ("link", _pattern(rf"[a-z0-9_]+: {NETDEV} NIC {STATE}")),
    ("link", _pattern(rf"\S+: \(?slave {NETDEV}\)?: link status definitely (?P<state>up|down)\b")),
    (
        "link",
        _pattern(rf"\S+: link status definitely (?P<state>up|down) for interface {NETDEV}(?=,|$)"),
    ),
)


def command(source: str = "dmesg") -> tuple[str, ...]:
    """Return the command line that shows the log since boot: `dmesg` or `journalctl`."""
    commands = {
        "dmesg": ("dmesg",),
        "journalctl": ("journalctl", "-k", "-b", "--no-pager", "-o", "short-iso"),
    }
    if source not in commands:
        raise ValueError(f"source: expected dmesg or journalctl, got {source!r}")
    return commands[source]


def parse(text: str) -> KernelLog:
    """Return the events of a log; lines of other kinds are counted.

    Raises ToolError when the log cannot be read, NotRecognisedError for a text without any line of
    a kernel log, and for one whose last line is cut off.
    """
    lines = [COLOUR.sub("", line).rstrip("\r") for line in text.split("\n") if line.strip()]
    matches = [LINE.fullmatch(line) for line in lines]
    if not any(matches):
        complaints.check(text, ERRORS)
        raise NotRecognisedError(f"expected a kernel log, got {text.strip()[:80]!r}")
    if not text.endswith("\n"):
        raise NotRecognisedError("expected whole lines of a kernel log, got a cut-off text")
    events = [event for match in matches if match and (event := _event(match))]
    return KernelLog(tuple(events), len(lines) - len(events))


def _event(line: re.Match[str]) -> Event | None:
    message = (line["message"] or "").strip()
    for kind, pattern in KINDS:
        match = pattern.match(message)
        if match:
            return _from_match(kind, line, match, message)
    return None


def _from_match(kind: str, line: re.Match[str], match: re.Match[str], message: str) -> Event:
    found = match.groupdict()
    number, state = found.get("number"), found.get("state")
    return Event(
        kind=kind,
        uptime_s=float(line["uptime"]) if line["uptime"] else None,
        timestamp=line["local"] or line["iso"] or line["journal"],
        device=_address(found.get("device")),
        netdev=found.get("netdev"),
        port=_address(found.get("port")),
        number=int(number, 16 if number.startswith("0x") else 10) if number else None,
        state=printable(state.strip()).lower()[:80] if state else None,
        available_mbps=_megabits(found.get("available")),
        capable_mbps=_megabits(found.get("capable")),
        message=printable(message)[:300],
    )


def _address(text: str | None) -> str | None:
    """Return a PCI address with domain and function; the driver of a GPU leaves out function 0."""
    if text is None or not re.fullmatch(ANY_PCI, text):
        return None
    text = text if text.count(":") == 2 else f"0000:{text}"
    return text if "." in text else f"{text}.0"


def _megabits(text: str | None) -> int | None:
    """Return Mb/s of a text in Gb/s, which always has three decimals."""
    return int(text.replace(".", "")) if text else None


def records(text: str) -> list[dict[str, object]]:
    """Return the events as plain records; a log without any has none."""
    return [asdict(event) for event in parse(text).events]
