"""ssh_config says for us what it says for OpenSSH."""

from __future__ import annotations

import getpass
import subprocess
from pathlib import Path

import pytest

from pytest_fabric.transport import ssh_config
from tests.transport.conftest import need


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home directory with an empty ~/.ssh."""
    (tmp_path / ".ssh").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def values(config: Path, alias: str = "gpu001", user: str | None = None) -> dict[str, list[str]]:
    """Return what a file says for a host."""
    return ssh_config.options(alias, config, user).values


@pytest.mark.parametrize(
    ("text", "keyword", "expected"),
    [
        ("Port 1\nPort 2", "port", ["1"]),
        ("Host gpu*\n Port 1\nHost *\n Port 2", "port", ["1"]),
        ("Host cpu*\n Port 1\nHost *\n Port 2", "port", ["2"]),
        ("Host GPU001\n Port 1", "port", ["1"]),
        ("Host gpu00? !gpu001\n Port 1\nHost *\n Port 2", "port", ["2"]),
        ("Host !gpu001\n Port 1", "port", None),
        ("Host gpu[0-9]*\n Port 1", "port", None),
        ('Host "gpu001" other\n Port=1', "port", ["1"]),
        ("# Port 1\n\n  PORT\t=  2  ", "port", ["2"]),
        ('HostName "gpu001.mgmt"', "hostname", ["gpu001.mgmt"]),
        ("IdentityFile a\nHost *\n IdentityFile b\n IdentityFile a", "identityfile", ["a", "b"]),
        ("Match host gpu*\n Port 1", "port", ["1"]),
        ("Match host gpu*,!gpu001\n Port 1", "port", None),
        ("Match !host gpu*\n Port 1\nMatch all\n Port 2", "port", ["2"]),
        ("HostName x.mgmt\nMatch host *.mgmt\n Port 1", "port", ["1"]),
        ("HostName x.mgmt\nMatch originalhost gpu001\n Port 1", "port", ["1"]),
        ("User ann\nMatch user ann host gpu001\n Port 1", "port", ["1"]),
        ("User ann\nMatch user bob\n Port 1", "port", None),
        ("Match exec true\n Port 1", "port", ["1"]),
        ('Match exec "test %h = gpu002"\n Port 1', "port", None),
        ("Match nonsense x\n Port 1", "port", None),
        ("Match final host *.mgmt\n Port 1\nHost *\n HostName x.mgmt", "port", ["1"]),
        ("Match final all\n Port 1\nHost *\n Port 2", "port", ["2"]),
        ("ProxyJump a\nProxyCommand b", "proxycommand", None),
        ("ProxyCommand b\nProxyJump a", "proxyjump", None),
        ("", "port", None),
    ],
)
def test_a_file_gives_the_first_value_that_matches(
    text: str, keyword: str, expected: list[str] | None, tmp_path: Path
) -> None:
    """Blocks, negation, case and criteria work as in ssh_config(5)."""
    (tmp_path / "config").write_text(text + "\n")

    assert values(tmp_path / "config").get(keyword) == expected


def test_the_user_of_the_inventory_counts_for_match(tmp_path: Path) -> None:
    """It is what ssh's command line would say."""
    (tmp_path / "config").write_text("User ann\nMatch user ops\n Port 1\n")

    assert values(tmp_path / "config", user="ops")["port"] == ["1"]


def test_include_takes_patterns_in_the_order_of_their_names(home: Path) -> None:
    """Relative files are in ~/.ssh; absent ones say nothing; `~` and `${NAME}` are replaced."""
    folder = home / ".ssh" / "config.d"
    folder.mkdir()
    (folder / "20-b").write_text("Port 2\n")
    (folder / "10-a").write_text("Host other\n Port 1\nHost gpu*\n User ann\n")
    (home / "more").write_text("HostName x.mgmt\n")
    (home / ".ssh" / "config").write_text(
        "Include none config.d/*\nInclude ~/more\nInclude ${HOME}/more\nPort 3\n"
    )

    found = ssh_config.options("gpu001", None).values
    assert (found["port"], found["user"], found["hostname"]) == (["2"], ["ann"], ["x.mgmt"])


@pytest.mark.parametrize(("alias", "port"), [("gpu001", "1"), ("cpu001", "2"), ("gpu002", "3")])
def test_a_file_included_by_a_block_speaks_within_that_block(
    alias: str, port: str, home: Path
) -> None:
    """Its own Host lines neither reach beyond the block nor end it."""
    (home / "part").write_text("Host gpu001 cpu001\n Port 1\nHost nobody\n")
    (home / "config").write_text("Host gpu*\n Include ~/part\n Port 3\nHost cpu*\n Port 2\n")

    assert values(home / "config", alias)["port"] == [port]


def test_files_that_include_each_other_come_to_an_end(home: Path) -> None:
    """A loop is no reason to hang."""
    (home / "config").write_text("Include ~/config\nPort 1\n")

    assert values(home / "config")["port"] == ["1"]


def test_a_named_file_stands_alone_and_must_exist(home: Path) -> None:
    """As with `ssh -F`, the user's own file is not read then."""
    (home / ".ssh" / "config").write_text("Port 1\n")
    (home / "config").write_text("User ann\n")

    assert "port" not in values(home / "config")
    with pytest.raises(FileNotFoundError):
        values(home / "none")


def test_percent_tokens_are_replaced(home: Path) -> None:
    """`%h` is the resolved name, `%n` the given one, `%%` a percent sign."""
    (home / "config").write_text("HostName %h.mgmt\nUser ann\nPort 7\n")
    found = ssh_config.tokens(ssh_config.options("gpu001", home / "config"))

    text = "%h %n %p %r %u %d %% %Z"
    expected = f"gpu001.mgmt gpu001 7 ann {getpass.getuser()} {home} % %Z"
    assert ssh_config.expanded(text, found) == expected


@pytest.mark.parametrize("alias", ["gpu001", "gpu002", "cpu001", "bastion"])
def test_openssh_reads_a_file_the_same_way(alias: str, home: Path) -> None:
    """`ssh -G` is the reference for everything that we use."""
    need("ssh")
    (home / "part").write_text("Host gpu002\n Port 2200\n User bob\n")
    config = home / "config"
    config.write_text(
        "\n".join((
            "Host gpu*",
            f"  Include {home}/part",
            "  HostName %h.mgmt",
            "  ProxyJump ops@bastion:2222",
            "  ConnectTimeout 7",
            "Match host *.mgmt !user bob",
            "  Port 2300",
            "  IdentityFile ~/.ssh/fabric",
            "Host * !bastion",
            "  User ann",
            "  HostKeyAlias fabric",
            "",
        ))
    )  # fmt: skip
    said = subprocess.run(
        ["ssh", "-G", "-F", str(config), alias], capture_output=True, text=True, check=True
    ).stdout
    reference = dict(line.split(" ", 1) for line in said.splitlines() if " " in line)
    found = ssh_config.options(alias, config)
    tokens = ssh_config.tokens(found)

    assert tokens["h"] == reference["hostname"]
    assert tokens["p"] == reference["port"]
    assert tokens["r"] == reference["user"]
    for keyword in ("proxyjump", "hostkeyalias", "connecttimeout"):
        expected = None if reference.get(keyword) == "none" else reference.get(keyword)
        assert found.first(keyword) == expected
    files = [line.split(" ", 1)[1] for line in said.splitlines() if line.startswith("identityfile")]
    assert ("~/.ssh/fabric" in files) == ("identityfile" in found.values)
