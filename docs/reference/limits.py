"""The grammar of limits."""

from __future__ import annotations

from docs.reference.markdown import code, doc, table
from docs.reference.markdown import page as a_page
from pytest_fabric.config import limits

#: What each unit is called.
UNITS = {
    "s": "time",
    "b/s": "rate",
    "T/s": "transfers of a PCIe lane",
    "B": "size",
    "B/s": "bytes per second",
    "/s": "messages per second",
    "C": "temperature",
    "dBm": "optical power",
    "dB": "a ratio of optical powers",
    "": "a plain number",
    "word": "a word",
}

KINDS = (
    (limits.Absolute, ("<= 5 us", "== 0")),
    (limits.Relative, (">= 97% of payload rate", ">= 92% of line rate")),
    (limits.Range, ("1.5 us .. 3 us",)),
    (limits.Word, ("== Ethernet",)),
    (limits.Peers, ("within 3% of peers",)),
    (limits.Baseline, ("<= 1.10 x baseline", ">= 0.98 x baseline")),
)


def page() -> str:
    """Return the page."""
    kinds = [
        (" ".join(map(code, examples)), doc(kind).partition("\n")[0]) for kind, examples in KINDS
    ]
    units = [
        (UNITS.get(unit, unit), code(example), code(limits.RANGES.get(unit, "")))
        for unit, example in limits.EXAMPLES.items()
    ]
    return a_page(
        "Limits",
        "A limit is a text after a [metric](metrics.md) in `limits:` of a profile. A list of "
        "limits means all of them. A limit has a unit where its metric has one.",
        table(("written", "meaning"), kinds),
        f"Operators are {', '.join(map(code, limits.OPERATORS))}. `within N% of peers` cannot "
        "stand alone: a fabric that is slow everywhere is within it.",
        "The *line rate* is the declared speed. The *payload rate* is what of it is left for "
        f"payload at the declared MTU: MTU / (MTU + {limits.ROCE_BYTES + limits.IPV4_BYTES} B) for "
        f"RoCE over IPv4, MTU / (MTU + {limits.ROCE_BYTES + limits.IPV6_BYTES} B) where the rail's "
        f"`network` is one of IPv6, MTU / (MTU + {limits.header_bytes('Ethernet', version=1)} B) "
        f"for RoCE version 1, MTU / (MTU + {limits.INFINIBAND_BYTES} B) for InfiniBand. What was "
        "negotiated never counts.",
        "## Units",
        table(("metric is", "limit", "range"), units),
    )
