"""Servers and shells that the transport is tried on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pytest_fabric.transport import Endpoint, Pool, Session
from pytest_fabric.transport.client import NodeSession
from pytest_fabric.transport.local import open_session
from tests.transport.sshd import SSHD, Sshd, make_key

#: The shells that the runner must work in, as the words that start them; a bash that is called
#: `sh`, as on RHEL, is in its POSIX mode.
SHELLS = {"dash": ("dash",), "bash": ("bash", "--posix"), "busybox": ("busybox", "sh")}

HOLDER = "run=20261129-1321 user=ann host=ctl1"


def need(*programs: str) -> None:
    """Skip a test that lacks a program; in CI that is a failure."""
    missing = [name for name in programs if shutil.which(name) is None]
    if missing and os.environ.get("CI"):
        pytest.fail(f"missing: {', '.join(missing)}")
    if missing:
        pytest.skip(f"missing: {', '.join(missing)}")


@pytest.fixture(scope="module", params=list(SHELLS))
def shell(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Each shell in turn."""
    words = SHELLS[request.param]
    need(words[0])
    return words


@pytest.fixture(scope="module")
def session(shell: tuple[str, ...]) -> Iterator[NodeSession]:
    """A session on this machine in each shell in turn, shared by the tests of a module."""
    opened = open_session(Endpoint("gpu001", "local"), HOLDER, ignore, shell)
    yield opened
    opened.close()


def ignore(node: str, *commands: str) -> None:
    """Take an audit record and drop it."""


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a host key `host`, another one `other`, and a user's key `user`."""
    need(SSHD, "ssh-keygen")
    folder = tmp_path_factory.mktemp("keys")
    for name in ("host", "other", "user"):
        make_key(folder / name)
    return folder


Servers = Callable[..., Sshd]


@pytest.fixture
def servers(keys: Path, tmp_path: Path) -> Iterator[Servers]:
    """Start servers: `servers("a", "ForceCommand ...")` with lines of sshd_config."""
    with ExitStack() as stack:

        def start(name: str = "sshd", *options: str, host_key: str = "host") -> Sshd:
            server = Sshd(tmp_path / name, keys / host_key, keys / "user", options)
            server.start()
            stack.callback(server.stop)
            return server

        yield start


@pytest.fixture
def pool() -> Iterator[Callable[..., Pool]]:
    """Make pools that are closed after the test: `pool(endpoint, ...)`."""
    with ExitStack() as stack:

        def make(*endpoints: Endpoint) -> Pool:
            made = Pool(endpoints, HOLDER, ignore)
            stack.callback(made.close)
            return made

        yield make


@pytest.fixture
def remote(servers: Servers, pool: Callable[..., Pool]) -> Session:
    """A session through a server."""
    return pool(servers().endpoint()).session("gpu001")
