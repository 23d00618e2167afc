"""Log-ins are paced, so that sshd's MaxStartups drops none of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_fabric.errors import TransportError
from pytest_fabric.transport import Pool, pacing
from pytest_fabric.transport.pacing import AT_ONCE, Pacer
from tests.transport.conftest import Servers
from tests.transport.sshd import Sshd

Pools = Callable[..., Pool]


def test_places_see_a_bounded_number_at_once() -> None:
    """Eight of one place, while another place has its own."""
    pacer, lock = Pacer(), threading.Lock()
    under_way: dict[str, int] = {"a": 0, "b": 0}
    most: dict[str, int] = {"a": 0, "b": 0}

    def attempt(place: str) -> None:
        with lock:
            under_way[place] += 1
            most[place] = max(most[place], under_way[place])
        time.sleep(0.02)
        with lock:
            under_way[place] -= 1

    with ThreadPoolExecutor(48) as executor:
        for place in ("a", "b") * 24:
            executor.submit(pacer.log_in, place, lambda place=place: attempt(place))

    assert most == {"a": AT_ONCE, "b": AT_ONCE}


def dropped(times: int, kind: str = "banner") -> Callable[[], str]:
    """Return an attempt that fails some times before it works."""
    left = [times]

    def attempt() -> str:
        left[0] -= 1
        if left[0] >= 0:
            raise TransportError("gpu001", kind, "closed at the banner")
        return "in"

    return attempt


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait between tries."""
    monkeypatch.setattr(pacing, "PAUSES_S", (0.0, 0.0, 0.0))


@pytest.mark.usefixtures("short_pauses")
def test_a_dropped_log_in_is_tried_again() -> None:
    """sshd drops at random; others may be logging in, too."""
    assert Pacer().log_in("a", dropped(3)) == "in"


@pytest.mark.usefixtures("short_pauses")
def test_a_log_in_that_is_dropped_for_ever_says_how_often() -> None:
    """The person at the keyboard learns of MaxStartups."""
    with pytest.raises(TransportError, match=r"^gpu001: closed at the banner, 4 times") as error:
        Pacer().log_in("a", dropped(4))

    assert error.value.kind == "banner"
    assert "MaxStartups 10:30:100" in str(error.value)


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize("kind", ["auth", "host_key_changed", "silent", "refused"])
def test_other_failures_are_final(kind: str) -> None:
    """A wrong key does not get right by trying, and locks accounts."""
    with pytest.raises(TransportError) as error:
        Pacer().log_in("a", dropped(1, kind))

    assert error.value.kind == kind


def test_40_log_ins_at_one_sshd_all_get_in(servers: Servers, pool: Pools) -> None:
    """With the default of MaxStartups, 40 at once would lose many."""
    server = servers()
    names = [f"gpu{n:03}" for n in range(40)]
    made = pool(*(server.endpoint(name) for name in names))

    assert made.connect_all(names) == {}
    assert server.log.read_text().count("Accepted publickey") == 40
    assert dropped_by(server) < 8  # a server under load counts a log-in for a while after its end


def dropped_by(server: Sshd) -> int:
    """Return how many connections a server has dropped for their number."""
    return server.log.read_text().count("past MaxStartups")


def test_a_server_that_drops_is_asked_until_it_does_not(servers: Servers, pool: Pools) -> None:
    """A strict MaxStartups is survived by trying again."""
    server = servers("sshd", "MaxStartups 4:80:6")
    names = [f"gpu{n:03}" for n in range(16)]
    made = pool(*(server.endpoint(name) for name in names))

    assert made.connect_all(names) == {}
    assert dropped_by(server) > 0
