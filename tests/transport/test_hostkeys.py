"""Host keys are verified as OpenSSH does it, and every refusal says what to do."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path

import pytest

from pytest_fabric.errors import TransportError
from pytest_fabric.transport.hops import Hop
from pytest_fabric.transport.hostkeys import fingerprint, preferred, verify
from tests.transport.conftest import need
from tests.transport.sshd import make_key, public

GOOD, OTHER, THIRD = (base64.b64encode(name * 9).decode() for name in (b"good", b"bad.", b"3rd."))
OFFERED = ("ssh-ed25519", "ecdsa-sha2-nistp256", "rsa-sha2-512", "rsa-sha2-256")


def hop(file: Path, port: int = 22, **fields: object) -> Hop:
    """Return a log-in at gpu001 with one file of known hosts."""
    known = {"known_hosts": (file,), **fields}
    return Hop("node1", "gpu001", port, "ann", 5, **known)  # type: ignore[arg-type]


def kind_of(text: str, tmp_path: Path, port: int = 22, **fields: object) -> str:
    """Return how a file of known hosts takes the key GOOD: `accepted`, or the kind of error."""
    file = tmp_path / "known_hosts"
    file.write_text(text)
    try:
        verify(hop(file, port, **fields), "ssh-ed25519", base64.b64decode(GOOD))
    except TransportError as error:
        return error.kind if "\n" not in str(error) else "more than one line"
    return "accepted"


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (f"gpu001 ssh-ed25519 {GOOD}", "accepted"),
        (f"gpu001 ssh-ed25519 {GOOD} a comment", "accepted"),
        (f"x,gpu*,y ssh-ed25519 {GOOD}", "accepted"),
        (f"gpu* ssh-ed25519 {OTHER}\ngpu001 ssh-ed25519 {GOOD}", "accepted"),
        (f"GPU001 ssh-ed25519 {GOOD}", "accepted"),
        ("", "host_key_unknown"),
        (f"gpu002 ssh-ed25519 {GOOD}", "host_key_unknown"),
        (f"gpu*,!gpu001 ssh-ed25519 {GOOD}", "host_key_unknown"),
        (f"# gpu001 ssh-ed25519 {GOOD}", "host_key_unknown"),
        ("gpu001 ssh-ed25519 !!!\ngpu001", "host_key_unknown"),
        (f"@cert-authority gpu001 ssh-ed25519 {GOOD}", "host_key_unknown"),
        (f"[gpu001]:2222 ssh-ed25519 {GOOD}", "host_key_unknown"),
        (f"gpu001 ssh-ed25519 {OTHER}", "host_key_changed"),
        (f"gpu001 ssh-rsa {OTHER}", "host_key_changed"),
        (f"@revoked gpu001 ssh-ed25519 {GOOD}", "host_key_changed"),
        (f"gpu001 ssh-ed25519 {GOOD}\n@revoked * ssh-ed25519 {GOOD}", "host_key_changed"),
        (f"@revoked gpu001 ssh-ed25519 {OTHER}\ngpu001 ssh-ed25519 {GOOD}", "accepted"),
    ],
)
def test_a_key_is_accepted_only_when_it_is_known(line: str, kind: str, tmp_path: Path) -> None:
    """Patterns, markers and comments count as in sshd(8), SSH_KNOWN_HOSTS FILE FORMAT."""
    assert kind_of(line + "\n", tmp_path) == kind


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (f"[gpu001]:2222 ssh-ed25519 {GOOD}", "accepted"),
        (f"gpu001 ssh-ed25519 {GOOD}", "accepted"),
        (f"gpu001 ssh-ed25519 {OTHER}", "host_key_unknown"),
        (f"[gpu001]:2222 ssh-ed25519 {OTHER}\ngpu001 ssh-ed25519 {GOOD}", "accepted"),
        (f"[gpu001]:2222 ssh-ed25519 {OTHER}", "host_key_changed"),
    ],
)
def test_another_port_is_another_host(line: str, kind: str, tmp_path: Path) -> None:
    """The plain name helps, but does not condemn: another server may listen there."""
    assert kind_of(line + "\n", tmp_path, port=2222) == kind


def test_an_alias_stands_for_host_and_port(tmp_path: Path) -> None:
    """HostKeyAlias is looked up as it is."""
    assert kind_of(f"fabric ssh-ed25519 {GOOD}\n", tmp_path, 2222, alias="fabric") == "accepted"
    assert kind_of(f"gpu001 ssh-ed25519 {GOOD}\n", tmp_path, alias="fabric") == "host_key_unknown"


@pytest.mark.parametrize("port", [22, 2222])
def test_hashed_names_are_recognised(port: int, tmp_path: Path) -> None:
    """HashKnownHosts is Debian's default."""
    need("ssh-keygen")
    file = tmp_path / "known_hosts"
    name = "gpu001" if port == 22 else f"[gpu001]:{port}"
    make_key(tmp_path / "key")
    file.write_text(f"{name} {public(tmp_path / 'key')}\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(file)], check=True, capture_output=True)

    assert "gpu001" not in file.read_text()
    blob = base64.b64decode(public(tmp_path / "key").split()[1])
    verify(hop(file, port), "ssh-ed25519", blob)
    with pytest.raises(TransportError) as error:
        verify(hop(file, port), "ssh-ed25519", b"another")
    assert error.value.kind == "host_key_changed"


@pytest.mark.parametrize("port", [22, 2222])
def test_the_remedy_for_a_changed_key_works_as_printed(port: int, tmp_path: Path) -> None:
    """The line can be copied: afterwards the key is unknown, no longer wrong."""
    need("ssh-keygen")
    file = tmp_path / "known hosts"
    name = "gpu001" if port == 22 else f"[gpu001]:{port}"
    make_key(tmp_path / "key")
    file.write_text(f"{name} {public(tmp_path / 'key')}\n")
    with pytest.raises(TransportError, match=r"known hosts:1\)") as error:
        verify(hop(file, port), "ssh-ed25519", b"another")
    remedy = str(error.value).rpartition("remove the old key: ")[2]
    subprocess.run(["sh", "-c", remedy], check=True, capture_output=True)
    with pytest.raises(TransportError) as again:
        verify(hop(file, port), "ssh-ed25519", b"another")

    assert error.value.kind == "host_key_changed"
    assert again.value.kind == "host_key_unknown"


def test_an_unknown_key_comes_with_fingerprint_and_commands(tmp_path: Path) -> None:
    """The fingerprint is to be compared before the key is taken."""
    with pytest.raises(TransportError) as error:
        verify(hop(tmp_path / "none", 2222), "ssh-ed25519", base64.b64decode(GOOD))

    told = str(error.value)
    assert fingerprint(base64.b64decode(GOOD)) in told
    assert f"ssh-keyscan -p 2222 gpu001 >> {tmp_path}/none" in told


def test_behind_a_jump_host_no_scan_is_proposed(tmp_path: Path) -> None:
    """ssh-keyscan knows no jump hosts."""
    with pytest.raises(TransportError, match="log in once by hand") as error:
        verify(hop(tmp_path / "none", via="bastion"), "ssh-ed25519", b"x")

    assert "ssh-keyscan" not in str(error.value)


def test_fingerprints_are_those_of_ssh_keygen(tmp_path: Path) -> None:
    """They are compared by eye."""
    need("ssh-keygen")
    make_key(tmp_path / "key")
    said = subprocess.run(
        ["ssh-keygen", "-lf", str(tmp_path / "key.pub")], capture_output=True, text=True, check=True
    ).stdout

    assert fingerprint(base64.b64decode(public(tmp_path / "key").split()[1])) == said.split()[1]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("", "ssh-ed25519"),
        (f"gpu001 ssh-rsa {GOOD}\n", "rsa-sha2-512"),
        (f"gpu001 ecdsa-sha2-nistp256 {GOOD}\n", "ecdsa-sha2-nistp256"),
        (f"gpu001 ssh-dss {GOOD}\n", "ssh-ed25519"),
        (f"@revoked gpu001 ssh-rsa {GOOD}\n", "ssh-ed25519"),
    ],
)
def test_the_server_is_asked_for_the_key_that_is_known(
    text: str, first: str, tmp_path: Path
) -> None:
    """Another of its keys would look like a stranger's."""
    (tmp_path / "known_hosts").write_text(text)
    asked = preferred(hop(tmp_path / "known_hosts"), OFFERED)

    assert asked[0] == first
    assert sorted(asked) == sorted(OFFERED)


def test_a_pinned_key_is_the_only_one(tmp_path: Path) -> None:
    """Known hosts have no say then."""
    known = f"gpu001 ssh-ed25519 {GOOD}\n"

    assert kind_of("", tmp_path, pinned=f"ssh-ed25519 {GOOD}") == "accepted"
    assert kind_of(known, tmp_path, pinned=f"ssh-ed25519 {THIRD}") == "host_key_changed"
