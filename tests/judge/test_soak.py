"""What a soak shows: exposure grows with its windows, and nothing holds that was not watched."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pytest_fabric.errors import MissingValueError
from pytest_fabric.judge.ledger import Ledger
from pytest_fabric.judge.soak import Asked, Soak, p1
from pytest_fabric.judge.soak_values import SoakFabric, SoakPort
from pytest_fabric.results import Bandwidth, Failure, Health, Measurement, Member
from pytest_fabric.units import Quantity

from ..report.examples import BANDWIDTH

PORTS = ("a:r0", "b:r0", "c:r0")


def health(port: str, **more: Any) -> Health:  # noqa: ANN401 - fields of the record
    usual: dict[str, Any] = {"flaps": 0, "lost": 0, "corrected": 1000, "celsius": 48.0}
    return Health(port, 60.0, 400e9, **{**usual, **more})


def window(number: int, slow: str = "", error: str = "", **more: Any) -> Measurement:  # noqa: ANN401
    """Return a window of a ring of three ports; `more` is what the first port says."""
    order = PORTS if number % 2 else tuple(reversed(PORTS))
    ends = zip(order, (*order[1:], order[0]), strict=True)
    rows = tuple(
        Member(
            f"{one}..{other}",
            Bandwidth(2**20, 1000, None, 190e9 if slow in (one, other) else 390e9, 46_000.0),
            *(4096, 0.0, 60.0),
        )
        for one, other in ends
    )
    return replace(
        BANDWIDTH,
        tool="soak_window",
        target="fabric",
        settings={"duration_s": 60, "window": number},
        bandwidth=None,
        doubts=(),
        members=() if error else rows,
        health=(health(PORTS[0], **more), *(health(port) for port in PORTS[1:])),
        error=Failure("completion", error) if error else None,
    )


def soaked(*windows: Measurement, asked: int = 0) -> Soak:
    soak = Soak(Asked(60.0 * (asked or len(windows)), 60.0), lambda pair: 392e9)
    for one in windows:
        soak.add(one)
    return soak


def port(soak: Soak, name: str = PORTS[0]) -> SoakPort:
    return SoakPort(name, soak, Ledger())


def bandwidth(soak: Soak) -> Any:  # noqa: ANN401 - a value, compared with numbers
    return SoakFabric(soak, Ledger()).bandwidth_p1


def test_a_clean_soak_holds_everything() -> None:
    soak = soaked(*(window(number) for number in range(1, 9)))
    told = port(soak)

    assert told.flaps == 0
    assert told.uncorrectable == 0
    assert told.raw_ber <= 1e-9
    assert told.raw_ber_growth <= 2
    assert told.temperature_drift <= Quantity(5, "C")
    assert bandwidth(soak) >= 0.9
    assert soak.short == ""


@pytest.mark.parametrize(("windows", "rate"), [(1, 1.3e-13), (8, 1.6e-14), (1440, 8.7e-17)])
def test_the_claim_of_no_errors_grows_with_exposure(windows: int, rate: float) -> None:
    """Three by the bits that were watched; a bound below that is no verdict yet."""
    told = port(soaked(*(window(number) for number in range(1, windows + 1))))

    assert told.effective_ber <= 1.05 * rate
    with pytest.raises(MissingValueError, match="cannot show"):
        assert told.effective_ber <= 0.9 * rate


def test_errors_of_all_windows_add_up() -> None:
    soak = soaked(window(1), window(2, flaps=1, lost=7), window(3), window(4, flaps=2, lost=1))
    told = port(soak)

    assert float(told.flaps) > 0
    assert float(told.flaps) == 3
    assert float(told.uncorrectable) == 8
    assert not told.effective_ber <= 1e-14
    assert port(soak, PORTS[1]).flaps == 0


def test_what_is_left_to_do_lets_nothing_pass() -> None:
    """A soak that was stopped may fail, and cannot hold."""
    soak = soaked(window(1, flaps=1), window(2), window(3), window(4), asked=60)

    assert float(port(soak).flaps) > 0
    with pytest.raises(MissingValueError, match="is 0 so far, and not measured: 56 of 60 windows"):
        assert port(soak, PORTS[1]).flaps == 0
    with pytest.raises(MissingValueError, match="56 of 60 windows"):
        assert bandwidth(soak) >= 0.7


def test_windows_without_a_value_are_told_with_the_first_reason() -> None:
    """Another one takes the place of each, but they are not forgotten: nor is what links lost."""
    good = [window(number) for number in range(1, 9) if number != 3]
    soak = soaked(*good, window(3, error="no route", flaps=1), window(9), asked=8)

    assert soak.windows == 8
    with pytest.raises(MissingValueError, match="without a value: 1 of 9 windows: window 3"):
        assert bandwidth(soak) >= 0.7
    assert float(port(soak).flaps) > 0


def test_a_window_that_is_given_twice_counts_once() -> None:
    soak = soaked(window(1), window(1), window(2))

    assert soak.windows == 2
    assert soak.links[PORTS[0]].windows == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("flaps", "flaps"),
        ("lost", "uncorrectable"),
        ("lost", "effective_ber"),
        ("corrected", "raw_ber"),
        ("corrected", "raw_ber_growth"),
        ("celsius", "temperature_drift"),
    ],
)
@pytest.mark.parametrize("dark", [range(1, 9), (5,)])
def test_what_was_not_read_in_every_window_cannot_hold(
    name: str, value: str, dark: range | tuple[int, ...]
) -> None:
    hidden: dict[str, Any] = {name: None, "problems": {name: "ethtool is not installed"}}
    soak = soaked(*(window(n, **(hidden if n in dark else {})) for n in range(1, 9)))

    bound = Quantity(1e9, "C") if name == "celsius" else 1e9
    with pytest.raises(MissingValueError, match="ethtool is not installed"):
        assert getattr(port(soak), value) <= bound


def test_creeping_errors_and_a_module_that_warms_are_held_against_their_beginning() -> None:
    """What comes in the first quarter is warming up."""
    warm = [40, 48, 50, 50, 51, 53, 56, 58]
    rows = enumerate(warm, 1)
    soak = soaked(*(window(n, celsius=float(c), corrected=1000 * 2**n) for n, c in rows))
    told = port(soak)

    assert float(told.temperature_drift) == 7.0
    assert float(told.raw_ber_growth) == 16.0
    assert "50 C once it was warm" in told.temperature_drift.detail[0]


def test_too_few_windows_show_no_drift() -> None:
    with pytest.raises(MissingValueError, match="expected 4 windows or more"):
        _ = port(soaked(window(1), window(2), window(3))).temperature_drift


def test_copper_has_no_temperature() -> None:
    why = {"celsius": "a copper cable has no diagnostics"}
    soak = soaked(*(window(n, celsius=None, problems=why, inapplicable=why) for n in range(1, 9)))
    skipped: list[str] = []
    told = SoakPort(PORTS[0], soak, Ledger(), skip=skipped.append)

    with pytest.raises(MissingValueError):
        _ = told.temperature_drift
    assert skipped == ["a:r0: soak.temperature_drift: a copper cable has no diagnostics"]


def test_a_port_in_no_window_is_an_error() -> None:
    with pytest.raises(MissingValueError, match="it was in no window of the soak"):
        _ = port(soaked(window(1)), "d:r0").flaps
    with pytest.raises(MissingValueError, match="no window of the soak has a value"):
        bandwidth(soaked())


def test_a_slow_port_is_named_and_its_partners_are_not() -> None:
    """Each partner has one bad window, the slow port has all of them."""
    soak = soaked(*(window(n, slow=PORTS[1]) for n in range(1, 3)), *map(window, range(3, 9)))

    assert not bandwidth(soak) >= 0.7
    slow = soaked(*(window(n, slow=PORTS[1] if n < 7 else "") for n in range(1, 9)))
    assert bandwidth(slow).detail[0].startswith("b:r0")


def test_rates_that_nobody_declares_judge_nothing() -> None:
    soak = Soak(Asked(60.0, 60.0))
    soak.add(window(1))

    with pytest.raises(MissingValueError, match="its profile needs"):
        bandwidth(soak)


def test_p1_of_few_values_is_the_lowest() -> None:
    assert p1([3.0, 1.0, 2.0]) == 1.0
    assert p1(list(map(float, range(1, 201)))) == 2.0
