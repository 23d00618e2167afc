"""The grammar of limits, and the payload rate that shares refer to."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_fabric import metrics
from pytest_fabric.config.limits import (
    EXAMPLES,
    OPERATORS,
    RANGES,
    Absolute,
    Baseline,
    Clause,
    Peers,
    Range,
    Relative,
    Word,
    check_metric,
    header_bytes,
    parse_limit,
    payload_rate_bps,
)
from pytest_fabric.errors import ConfigError
from pytest_fabric.units import Quantity, gbps, us


@pytest.mark.parametrize(
    ("layer", "mtu", "ipv6", "version", "share"),
    [
        ("Ethernet", 4096, False, 2, 98.0),
        ("Ethernet", 2048, False, 2, 96.2),
        ("Ethernet", 1024, False, 2, 92.6),
        ("Ethernet", 4096, True, 2, 97.6),
        ("Ethernet", 1024, True, 2, 90.9),
        ("Ethernet", 1024, False, 1, 91.6),
        ("InfiniBand", 4096, False, 2, 99.4),
    ],
)
def test_the_payload_rate_leaves_out_the_headers(
    layer: str, mtu: int, ipv6: bool, version: int, share: float
) -> None:
    """The smaller the packets, the less of a perfect link is payload."""
    rate = payload_rate_bps(1.0, mtu, header_bytes(layer, ipv6, version))

    assert round(100 * rate, 1) == share


@pytest.mark.parametrize(
    ("metric", "text", "clause"),
    [
        ("ib_write_lat.p99", "<= 5 us", Absolute("<=", us(5))),
        ("ib_write_lat.p99", " <=5us ", Absolute("<=", us(5))),
        ("ib_write_lat.p99", "< 0.005 ms", Absolute("<", us(5))),
        ("ib_write_lat.p99", "<= 5 µs", Absolute("<=", us(5))),
        ("ib_write_lat.4096.p99", "> 1 us", Absolute(">", us(1))),
        ("ib_read_lat.median", "1.5 us .. 3 us", Range(us(1.5), us(3))),
        ("ib_read_lat.median", "1.5us..3us", Range(us(1.5), us(3))),
        ("ib_write_bw.average", ">= 380 Gb/s", Absolute(">=", gbps(380))),
        ("ib_write_bw.average", ">= 0.38 Tbit/s", Absolute(">=", gbps(380))),
        ("ib_write_bw.average", ">= 97% of payload rate", Relative(">=", 0.97, "payload rate")),
        ("ib_write_bw.peak", "<= 102 % of line rate", Relative("<=", 1.02, "line rate")),
        (
            "ib_write_bw.8388608.average",
            ">= 92.5% of line rate",
            Relative(">=", 0.925, "line rate"),
        ),
        ("ib_write_bw.message_rate", ">= 1.5 M/s", Absolute(">=", Quantity(1.5e6, "/s"))),
        ("pause.growth", "== 0", Absolute("==", Quantity(0, ""))),
        ("discards.growth", "0 .. 10", Range(Quantity(0, ""), Quantity(10, ""))),
        ("class.share", ">= 0.9", Absolute(">=", Quantity(0.9, ""))),
        ("link.layer", "== InfiniBand", Word("InfiniBand")),
        ("link.mtu", "== 4 KiB", Absolute("==", Quantity(4096, "B"))),
        ("pcie.speed", "16 GT/s .. 32 GT/s", Range(Quantity(16e9, "T/s"), Quantity(32e9, "T/s"))),
        ("ib_write_bw.average", "within 3% of peers", Peers(0.03)),
        ("ping.rtt_median", "within 12.5 %  of peers", Peers(0.125)),
        ("ib_write_bw.average", ">= 0.98 x baseline", Baseline(">=", 0.98)),
        ("ib_write_lat.4096.p99", "<=1.10x baseline", Baseline("<=", 1.1)),
    ],
)
def test_a_limit_is_read(metric: str, text: str, clause: Clause) -> None:
    """Blanks do not matter, units do."""
    found = parse_limit(metric, text)

    assert type(found) is type(clause)
    assert str(found) == str(clause)


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        ("link.layer", "== ethernet"),
        ("link.layer", "<= Ethernet"),
        ("link.layer", "Ethernet .. InfiniBand"),
        ("ib_write_lat.p99", "<= 5 us of payload rate"),
        ("ib_write_lat.p99", "<= 5 us, >= 1 us"),
        ("ib_write_lat.p99", "<= 1e400 us"),
        ("ib_write_lat.p99", "<= nan us"),
        ("ib_write_lat.p99", ".."),
        ("ib_write_lat.p99", "1 us .. 2 us .. 3 us"),
        ("ib_write_bw.average", ">= 0% of line rate"),
        ("ib_write_bw.average", ">= 201% of line rate"),
        ("ib_write_bw.average", ">= 1.10 * baseline"),
        ("ib_write_bw.average", ">= 0 x baseline"),
        ("ib_write_bw.average", "== 1 x baseline"),
        ("ib_write_bw.average", "<= 1.1 x baseline"),
        ("ib_write_lat.p99", ">= 0.98 x baseline"),
        ("ib_write_lat.p99", "within 100% of peers"),
        ("ib_write_bw.average", "within 0% of peers"),
        ("ib_write_bw.average", "within 3 of peers"),
        ("pause.growth", "<= 1.10 x baseline"),
        ("link.raw_ber", "within 3% of peers"),
        ("ping.loss", "within 3% of peers"),
        ("pause.growth", "== 0 //"),
        ("pause.growth", "== -1"),
        pytest.param("ib_write_lat.p99", f"<= {'9' * 50_000} us", id="endless"),
    ],
)
def test_what_is_no_limit_is_refused(metric: str, text: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(ConfigError, match=r"^expected .*, got "):
        parse_limit(metric, text)


@pytest.mark.parametrize("metric", metrics.names())
def test_the_examples_of_messages_are_limits(metric: str) -> None:
    """Whoever copies an example from a message gets on."""
    unit = check_metric(metric)

    parse_limit(metric, EXAMPLES[unit])
    if unit in RANGES:
        parse_limit(metric, RANGES[unit])


SIGNS = "<>=.% µ/0123456789-+eEusbGMTkKiBof"
WORDS = [
    "within",
    "peers",
    "x baseline",
    "5",
    "us",
    "Gb/s",
    "%",
    "of",
    "payload",
    "rate",
    "line",
    "..",
    "== 0",
    "<=",
    ">=",
    "\n",
]


@settings(deadline=None)
@given(
    st.sampled_from([*metrics.names(), "ib_write_lat.4096.p99", "nonsense"]),
    st.one_of(
        st.text(),
        st.text(alphabet=SIGNS),
        st.lists(st.sampled_from(WORDS)).map(" ".join),
        st.none(),
        st.integers(),
        st.lists(st.text()),
    ),
)
def test_any_text_is_a_limit_or_one_line(metric: str, value: object) -> None:
    """Nothing but ConfigError is ever raised, and its message is one printable line."""
    try:
        found = str(parse_limit(metric, value))
    except ConfigError as error:
        found = str(error)

    assert found.isprintable()


@settings(deadline=None)
@given(
    st.sampled_from(OPERATORS),
    st.integers(1, 999_999),
    st.sampled_from(["ns", "us", "ms", "s"]),
)
def test_a_bound_is_the_number_that_is_written(op: str, number: int, unit: str) -> None:
    """No limit is rounded."""
    if unit == "s" and number > 86_400:
        number %= 86_400
    found = parse_limit("ib_write_lat.p99", f"{op} {number} {unit}")
    scale = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[unit]

    assert isinstance(found, Absolute)
    assert found.op == op
    assert found.quantity.number == pytest.approx(number * scale, rel=1e-12)


@settings(deadline=None)
@given(st.from_regex(r"[a-z_]{1,12}(\.[a-z0-9_]{1,8}){0,3}", fullmatch=True))
def test_an_unknown_metric_names_a_known_one(metric: str) -> None:
    """The suggestion is always a metric that exists."""
    if metrics.unit_of(metric) is None:
        with pytest.raises(ConfigError) as caught:
            check_metric(metric)
        assert metrics.unit_of(str(caught.value).split('"')[1]) is not None
