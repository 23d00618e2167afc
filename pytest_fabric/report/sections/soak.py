"""What a soak has shown of every port so far: exposure, what that proves, and what was counted."""

from __future__ import annotations

from pytest_fabric.judge.soak import Link, Soak, p1, span
from pytest_fabric.report import soak as told
from pytest_fabric.report.sections import markup
from pytest_fabric.report.sections.record import RunRecord
from pytest_fabric.units import render

HEAD = (
    *("port", "watched", "bits", "BER behind FEC", "BER before FEC", "flaps"),
    *("uncorrectable", "drift", "P1 sent", "P1 received"),
)

#: What stands where nothing was read.
NOTHING = "-"


def section(record: RunRecord) -> list[str]:
    """Return how far the soak has come, and a row for each port, those with errors first."""
    soak = record.run.soak
    if soak is None or soak.asked is None:
        return []
    lines = told.lines(soak, record.run.directory)
    ports = sorted(soak.links, key=lambda port: (not _is_odd(soak.links[port]), port))
    rows = [_row(port, soak) for port in ports]
    odd = sum(_is_odd(link) for link in soak.links.values())
    title = f"{len(rows):,} ports, {odd:,} with flaps or uncorrectable blocks"
    return [
        "<h2>Soak</h2>",
        *(f"<p>{markup.safe(line)}</p>" for line in lines),
        *([markup.folded(title, markup.table(HEAD, rows), bool(odd))] if rows else []),
    ]


def _is_odd(link: Link) -> bool:
    return bool(link.sums.get("flaps") or link.sums.get("lost"))


def _row(port: str, soak: Soak) -> list[str]:
    link = soak.links[port]
    drift = told.drift(link)
    words = [
        port,
        span(link.seconds),
        f"{link.bits:.3g}",
        _behind(link),
        _rate(link.sums.get("corrected"), link.bits),
        _count(link, "flaps"),
        _count(link, "lost"),
        NOTHING if drift is None else f"{drift:+.1f} C",
        *(_p1(soak, port, way) for way in ("sends", "receives")),
    ]
    return [markup.safe(word) for word in words]


def _behind(link: Link) -> str:
    """Return the rate of errors, or what it was shown to be below, with 95 % confidence."""
    lost = link.sums.get("lost")
    if lost == 0 and link.bits:
        return f"< {3 / link.bits:.2g}"
    return _rate(lost, link.bits)


def _rate(count: int | None, bits: float) -> str:
    return NOTHING if count is None or not bits else f"{count / bits:.2g}"


def _count(link: Link, name: str) -> str:
    return f"{link.sums[name]:,}" if name in link.sums else NOTHING


def _p1(soak: Soak, port: str, way: str) -> str:
    rates = soak.rates.get((port, way))
    return render(p1(rates), "b/s") if rates else NOTHING
