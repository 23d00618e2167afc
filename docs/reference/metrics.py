"""Every metric that a limit can name."""

from __future__ import annotations

from itertools import groupby

from docs.reference.markdown import code, codes, table, text
from docs.reference.markdown import page as a_page
from docs.reference.profiles import builtin
from pytest_fabric import metrics
from pytest_fabric.config import Profile


def _limit(profile: Profile, metric: str) -> str:
    if metric in profile.limits:
        return code(profile.limits[metric].text)
    reason = profile.why_not_available(metric)
    return "" if reason is None else "not available"


#: The profiles whose limits are shown beside the metrics.
SHOWN = ("cx7-400g-roce", "cx7-400g-ndr")


def _group(metric: str) -> str:
    first, _, rest = metric.partition(".")
    return "Growth of counters" if rest == "growth" else first


def page() -> str:
    """Return the page."""
    profiles = {name: profile for name, profile in builtin().items() if name in SHOWN}
    sized = sorted(
        {m for p in profiles.values() for m in p.limits} - set(metrics.names()),
        key=lambda metric: metric.split("."),
    )
    blocks = []
    for first, inside in groupby(sorted((*metrics.names(), *sized), key=_group), key=_group):
        rows = [
            (
                code(metric),
                metrics.unit_of(metric) or "number",
                *(_limit(profile, metric) for profile in profiles.values()),
            )
            for metric in inside
        ]
        heads = ("metric", "unit", *(f"`{name}`" for name in profiles))
        blocks += [f"## {first}", table(heads, rows)]
    return a_page(
        "Metrics",
        text(metrics.__doc__.partition("\n\n")[2] if metrics.__doc__ else ""),
        "The last columns are the limits of two [builtin profiles](profiles.md). A test that asks "
        "for a limit which no profile gives is an error, except for "
        f"{codes(sorted(metrics.OPTIONAL))}: without a limit these are skipped.",
        *blocks,
    )
