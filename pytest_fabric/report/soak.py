"""What a soak has shown, in a few lines: also of a run that was interrupted or killed."""

from __future__ import annotations

import math
from collections.abc import Iterable

from pytest_fabric.judge.soak import Asked, Link, Soak, p1, span
from pytest_fabric.report.about import About
from pytest_fabric.report.clean import clean_line
from pytest_fabric.report.places import fold
from pytest_fabric.results import Measurement
from pytest_fabric.units import render

#: So many ports are named where something was counted.
NAMED = 4


def begun(about: About, records: Iterable[Measurement] = ()) -> Soak:
    """Return the soak of a run, with the windows that are known of it."""
    options = about.options
    asked = None
    if options.soak_s is not None and options.soak_window_s is not None:
        asked = Asked(options.soak_s, options.soak_window_s)
    soak = Soak(asked)
    for record in records:
        soak.add(record)
    return soak


def lines(soak: Soak, directory: str | None) -> list[str]:
    """Return how far a soak has come, what that shows, and how to go on; nothing for no soak."""
    if soak.asked is None:
        return []
    asked = soak.asked
    found = [
        f"soak: {soak.windows:,} of {asked.windows:,} windows of {asked.window_s:g} s, "
        f"{span(soak.seconds)} of {span(asked.seconds)}, {len(soak.links):,} ports"
    ]
    title = "so far" if soak.short else "shown"
    for shown in (_links(soak), [*_bandwidth(soak), *_drift(soak)]):
        found += [f"  {title}: {'; '.join(shown)}"] if shown else []
    if soak.missing:
        found.append(f"  not measured: {len(soak.missing):,}, as {clean_line(soak.missing[-1])}")
    if soak.short and directory:
        found.append(f"  go on: pytest suites/ --fabric-resume {directory}")
    return found


def claim(links: Iterable[Link]) -> float:
    """Return the bit error rate that each of some links was shown to be below: of the weakest."""
    return max((3 / link.bits if link.bits else math.inf for link in links), default=math.inf)


def _links(soak: Soak) -> list[str]:
    known = {port: link for port, link in soak.links.items() if link.bits > 0}
    if not known:
        return []
    found = []
    for name, title in (("flaps", "flaps"), ("lost", "uncorrectable blocks")):
        counts = {port: link.sums[name] for port, link in known.items() if name in link.sums}
        bad = [port for port, count in counts.items() if count]
        if not counts:
            found.append(f"{title} not read")
            continue
        at = f" ({fold(sorted(bad)[:NAMED])}{', ...' if len(bad) > NAMED else ''})" if bad else ""
        found.append(f"{sum(counts.values()):,} {title}{at}")
    clean = {port: link for port, link in known.items() if link.sums.get("lost") == 0}
    if clean:
        every = "every link" if len(clean) == len(known) else f"{len(clean):,} links"
        least = min(link.bits for link in clean.values())
        found.append(
            f"BER behind FEC of {every} below {claim(clean.values()):.2g} (3 / {least:.2g} bits)"
        )
    return found


def _bandwidth(soak: Soak) -> list[str]:
    if not soak.rates:
        return []
    end = min(soak.rates, key=lambda one: p1(soak.rates[one]))
    return [f"lowest P1 {render(p1(soak.rates[end]), 'b/s')} ({' '.join(end)})"]


def drift(link: Link) -> float | None:
    """Return by how many degrees a module is warmer at the end, None where that is not known."""
    parts = link.thirds()
    if parts is None:
        return None
    means = [_mean([c for c in link.celsius[part] if c == c]) for part in parts]
    then, now = means
    return None if then is None or now is None else now - then


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _drift(soak: Soak) -> list[str]:
    drifts = {
        port: found for port, link in soak.links.items() if (found := drift(link)) is not None
    }
    if not drifts:
        return []
    port = max(drifts, key=lambda one: drifts[one])
    return [f"most drift {drifts[port]:.1f} C ({port})"]
