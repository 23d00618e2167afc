"""Frames are found in any cut of the stream and behind any noise."""

from __future__ import annotations

import itertools
import time

from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.transport.frames import Decoder, Ended, Event, Hello, Ready

TOKEN = "0123456789abcdef"
MARK = TOKEN.encode()

NUMBERS = st.integers(0, 10**9)
#: Noise may hold anything, even the token, but no whole frame.
NOISE = st.one_of(
    st.binary(max_size=400),
    st.sampled_from([MARK, MARK[:9], MARK + b" ", MARK + b" ready ", MARK + b" end 1 exit 0 3\n"]),
)
PAYLOADS = st.one_of(st.binary(max_size=300), st.just(MARK + b" ready 9\n"))
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(Ready, NUMBERS),
    st.builds(
        Ended,
        NUMBERS,
        st.sampled_from(["exit", "deadline", "cancelled", "lease", "port"]),
        st.one_of(st.none(), st.integers(0, 255)),
        PAYLOADS,
        PAYLOADS,
        st.booleans(),
    ),
)


def encoded(event: Event) -> bytes:
    """Return a frame as the runner writes it."""
    match event:
        case Hello(pid):
            return b"%s hello %d\n" % (MARK, pid)
        case Ready(job):
            return b"%s ready %d\n" % (MARK, job)
        case Ended(job, why, status, stdout, stderr, cut):
            shown = "-" if status is None else status
            head = f"{TOKEN} end {job} {why} {shown} {len(stdout)} {len(stderr)} {int(cut)}\n"
            return head.encode() + stdout + stderr


def pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    """Return a stream cut at the given places."""
    places = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    return [stream[a:b] for a, b in itertools.pairwise(places)]


def decode(stream: bytes, cuts: list[int]) -> list[Event]:
    """Return the events of a stream that comes in pieces."""
    decoder = Decoder(TOKEN)
    return [event for piece in pieces(stream, cuts) for event in decoder.feed(piece)]


@given(st.lists(st.tuples(NOISE, EVENTS)), NOISE, st.lists(st.integers(0, 10**6)))
def test_events_come_out_of_any_cut_and_any_noise(
    frames: list[tuple[bytes, Event]], motd: bytes, cuts: list[int]
) -> None:
    """What a log-in shell prints, before the hello or between frames, changes nothing."""
    hello = Hello(4711)
    stream = motd + encoded(hello) + b"".join(noise + encoded(event) for noise, event in frames)

    assert decode(stream, cuts) == [hello, *(event for _, event in frames)]


@given(st.lists(st.binary(max_size=1000)))
def test_nothing_but_noise_gives_no_event_and_takes_no_room(chunks: list[bytes]) -> None:
    """A node that prints for ever does not fill our memory."""
    decoder = Decoder(TOKEN)

    assert [event for chunk in chunks for event in decoder.feed(chunk)] == []
    assert len(decoder.noise().encode()) < 1000


def test_frames_before_the_hello_are_noise() -> None:
    """What was printed before the runner greeted cannot be from it."""
    assert decode(encoded(Ready(1)) + encoded(Hello(2)) + encoded(Ready(3)), []) == [
        Hello(2),
        Ready(3),
    ]


def test_another_token_is_noise() -> None:
    """A tool that prints frames cannot end a job."""
    stream = encoded(Hello(1)) + b"fedcba9876543210 end 1 exit 0 0 0 0\n" + encoded(Ready(1))

    assert decode(stream, []) == [Hello(1), Ready(1)]


def test_a_size_that_nobody_announces_is_noise() -> None:
    """A damaged header does not make us wait for a gigabyte."""
    damaged = b"%s end 1 exit 0 9999999999 0 0\n" % MARK

    assert decode(encoded(Hello(1)) + damaged + encoded(Ready(1)), []) == [Hello(1), Ready(1)]


def test_large_outputs_are_put_together_in_linear_time() -> None:
    """20 MiB in small pieces take well under the time that quadratic copying would."""
    big = Ended(1, "exit", 0, b"\n" * 10 * 2**20, b"x" * 10 * 2**20, False)
    stream = encoded(Hello(1)) + encoded(big)
    started = time.monotonic()
    decoder = Decoder(TOKEN)
    events = [
        event
        for at in range(0, len(stream), 4096)
        for event in decoder.feed(stream[at : at + 4096])
    ]

    assert events == [Hello(1), big]
    assert time.monotonic() - started < 2
