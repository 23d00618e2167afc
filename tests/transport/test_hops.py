"""The way to a node: jump hosts in order, each as ssh_config describes it."""

from __future__ import annotations

import getpass
from pathlib import Path

import pytest

from pytest_fabric.errors import TransportError
from pytest_fabric.transport import Endpoint
from pytest_fabric.transport.hops import CONNECT_TIMEOUT_S, Hop, route


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory and no agent."""
    (tmp_path / ".ssh").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return tmp_path


def hops(home: Path, text: str, **fields: object) -> tuple[Hop, ...]:
    """Return the way to gpu001 by a configuration."""
    (home / ".ssh" / "config").write_text(text)
    return route(Endpoint(**{"node": "gpu001", "host": "gpu001", **fields}))  # type: ignore[arg-type]


def places(found: tuple[Hop, ...]) -> list[str]:
    """Return `USER@HOST:PORT` of each hop, without `USER@` for the current user."""
    own = f"{getpass.getuser()}@"
    return [f"{hop.user}@{hop.host}:{hop.port}".removeprefix(own) for hop in found]


BASTION = "Host bastion\n HostName b.example\n Port 2222\n User ops\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ["gpu001:22"]),
        ("Host gpu*\n ProxyJump none\nHost *\n ProxyJump bastion\n", ["gpu001:22"]),
        (BASTION + "Host gpu*\n ProxyJump bastion\n", ["ops@b.example:2222", "gpu001:22"]),
        ("Host gpu*\n ProxyJump ann@x:23\n", ["ann@x:23", "gpu001:22"]),
        ("Host gpu*\n ProxyJump ssh://ann@[::1]:23\n", ["ann@::1:23", "gpu001:22"]),
        ("Host gpu*\n ProxyJump fe80::1\n", ["fe80::1:22", "gpu001:22"]),
        ("Host gpu*\n ProxyJump a, ann@b:23\n", ["a:22", "ann@b:23", "gpu001:22"]),
        (
            "Host gpu*\n ProxyJump b\nHost b\n ProxyJump a\n HostName b.x\n",
            ["a:22", "b.x:22", "gpu001:22"],
        ),
        (
            "Host gpu*\n ProxyJump a,b\nHost b\n ProxyJump elsewhere\n",
            ["a:22", "b:22", "gpu001:22"],
        ),
        ("Host *\n ProxyJump bastion\n", ["bastion:22", "gpu001:22"]),
    ],
)
def test_jump_hosts_are_visited_in_order(text: str, expected: list[str], home: Path) -> None:
    """The first of a chain may have a jump host of its own, the others are reached in turn."""
    assert places(hops(home, text)) == expected


def test_the_inventory_wins_over_ssh_config(home: Path) -> None:
    """As ssh's command line does."""
    text = BASTION + "Host gpu*\n User ann\n Port 1\n ProxyJump a\n ProxyCommand x\n"

    assert places(hops(home, text, user="bob", port=2, jump="bastion")) == [
        "ops@b.example:2222",
        "bob@gpu001:2",
    ]
    assert places(hops(home, text, jump="none")) == ["ann@gpu001:1"]


def test_a_named_configuration_is_used_for_jump_hosts_too(home: Path) -> None:
    """The user's own file does not mix in."""
    (home / "config").write_text("Host bastion\n Port 2222\n")

    found = hops(home, "Port 99\n", config=home / "config", jump="bastion")
    assert places(found) == ["bastion:2222", "gpu001:22"]


def test_a_circle_of_jump_hosts_is_one_clear_error(home: Path) -> None:
    """It names the circle instead of running in it."""
    text = "Host gpu*\n ProxyJump a\nHost a\n ProxyJump b\nHost b\n ProxyJump a\n"
    with pytest.raises(TransportError, match="in a circle: gpu001 -> a -> b -> a") as error:
        hops(home, text)

    assert error.value.kind == "unresolved"


@pytest.mark.parametrize(
    ("text", "fields", "told"),
    [
        ("Host gpu*\n ProxyJump a@b@c:x\n", {}, r"expected \[user@\]host"),
        ("Port x\n", {}, "Port: expected a number, got 'x'"),
        ("", {"config": Path("/nonsense/config")}, "No such file"),
    ],
)
def test_an_unusable_configuration_is_one_clear_error(
    text: str, fields: dict[str, object], told: str, home: Path
) -> None:
    """It names the node and says what is wrong."""
    with pytest.raises(TransportError, match=f"^gpu001: ssh_config: .*{told}") as error:
        hops(home, text, **fields)

    assert "\n" not in str(error.value)


def test_keys_and_known_hosts_come_from_ssh_config(home: Path) -> None:
    """Percent tokens, `~` and `none` are understood."""
    (hop,) = hops(
        home,
        "IdentityFile ~/.ssh/%n\nIdentitiesOnly yes\nIdentityAgent ~/agent\nHostKeyAlias fabric\n"
        'UserKnownHostsFile ~/a "%d/b c"\nGlobalKnownHostsFile none\nConnectTimeout 7\n',
    )

    assert hop.identities == (home / ".ssh" / "gpu001",)
    assert (hop.identities_are_named, hop.identities_only) == (True, True)
    assert (hop.agent, hop.alias) == (str(home / "agent"), "fabric")
    assert hop.known_hosts == (home / "a", home / "b c")
    assert hop.connect_timeout_s == 7


@pytest.mark.parametrize(
    ("text", "agent"),
    [("", "/a"), ("IdentityAgent none", None), ("IdentityAgent $OTHER", "/b"),
     ("IdentityAgent SSH_AUTH_SOCK", "/a"), ("IdentityAgent ${OTHER}", "/b")],
)  # fmt: skip
def test_the_agent_is_the_configured_one(
    text: str, agent: str | None, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """IdentityAgent wins over the environment."""
    monkeypatch.setenv("SSH_AUTH_SOCK", "/a")
    monkeypatch.setenv("OTHER", "/b")

    assert hops(home, text)[0].agent == agent


def test_defaults_are_those_of_openssh(home: Path) -> None:
    """The usual keys and files, and a time-out that does not wait for the kernel's."""
    (hop,) = hops(home, "")

    assert [path.name for path in hop.identities] == ["id_ed25519", "id_ecdsa", "id_rsa"]
    assert hop.known_hosts[0] == home / ".ssh" / "known_hosts"
    assert Path("/etc/ssh/ssh_known_hosts") in hop.known_hosts
    assert hop.connect_timeout_s == CONNECT_TIMEOUT_S


def test_a_proxy_command_leads_to_the_first_hop_only(home: Path) -> None:
    """What is reached through a jump host is not reached through a command as well."""
    text = "Host bastion\n ProxyCommand nc %h %p\nHost gpu*\n ProxyJump bastion\n"
    bastion, node = hops(home, text)

    assert (bastion.proxy_command, node.proxy_command) == ("nc bastion 22", None)
    assert (node.via, node.address) == ("bastion", "gpu001:22 (through bastion)")


def test_an_endpoint_with_a_host_key_needs_no_configuration(home: Path) -> None:
    """What the user has written for their own hosts does not reach the simulated ones."""
    text = "Host *\n ProxyJump bastion\n Port 99\n User ann\n"
    (hop,) = hops(home, text, host="127.0.0.1", port=4022, user="fabric", host_key="t k", key="pem")

    assert places((hop,)) == ["fabric@127.0.0.1:4022"]
    assert (hop.pinned, hop.key, hop.agent) == ("t k", "pem", None)
