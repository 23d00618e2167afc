"""Build the root images of the two virtual machines, once per recipe, in the user's cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

GUEST = Path(__file__).parent / "guest"
PROGRAMS = ("qemu-system-x86_64", "mmdebstrap", "mke2fs", "ssh", "ssh-keygen", "setpriv", "unshare")


class Unavailable(Exception):
    """The virtual machines cannot be made here; the text says why in one line."""


@dataclass(frozen=True)
class Keys:
    """The SSH keys of the machines: private key files, each with its `.pub` beside it."""

    client: Path
    hosts: dict[str, Path]

    def host_key(self, name: str) -> str:
        """Return the public host key as known_hosts wants it: type and key."""
        return public_key(self.hosts[name])


@dataclass(frozen=True)
class Image:
    """What QEMU boots: a kernel, its initrd and a root file system."""

    kernel: Path
    initrd: Path
    root: Path


def public_key(private: Path) -> str:
    """Return the type and the key of a key file, without its comment."""
    return " ".join(private.with_suffix(".pub").read_text().split()[:2])


def check_programs() -> None:
    """Raise Unavailable when this machine lacks a program that the harness runs."""
    if platform.machine() != "x86_64":
        raise Unavailable(f"the virtual machines are x86_64, this machine is {platform.machine()}")
    path = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
    missing = [program for program in PROGRAMS if shutil.which(program, path=path) is None]
    if missing:
        raise Unavailable(f"not installed: {', '.join(missing)}")


def cache() -> Path:
    """Return the folder outside the checkout that keeps images and keys; it may be deleted."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "pytest-fabric-vm"
    try:
        # Private: the images hold private host keys.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"no cache: {error}") from error
    return folder


def keys(*names: str) -> Keys:
    """Return one client key and one host key per machine name, made when the cache has none."""
    folder = cache() / f"keys-{'-'.join(names)}"
    with _making(folder) as temporary:
        if temporary is not None:
            for name in ("client", *names):
                file = str(temporary / name)
                keygen = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", file]
                _run("making the keys", keygen)
    return Keys(folder / "client", {name: folder / name for name in names})


def image(suite: str, host_key: Path, client_key: Path) -> Image:
    """Return the image of a Debian suite, built when the cache has none of this recipe and keys."""
    recipe = hashlib.sha256()
    for text in (suite, public_key(host_key), public_key(client_key)):
        recipe.update(f"{text}\n".encode())
    for file in sorted(GUEST.iterdir()):
        recipe.update(f"{file.name}\n".encode() + file.read_bytes())
    folder = cache() / f"{suite}-{recipe.hexdigest()[:16]}"
    with _making(folder) as temporary:
        if temporary is not None:
            _build(suite, host_key, client_key, temporary)
    return Image(folder / "vmlinuz", folder / "initrd", folder / "root.ext4")


def _build(suite: str, host_key: Path, client_key: Path, out: Path) -> None:
    if os.geteuid() != 0:
        raise Unavailable("only root can build the images of the virtual machines")
    arguments = [suite, str(host_key), f"{client_key}.pub", str(out)]
    # In a mount namespace of its own: clearing up after a build that was killed must not meet
    # the host's /dev, which mmdebstrap mounts in the new root.
    command = ["unshare", "--mount", "sh", str(GUEST / "build.sh"), *arguments]
    _run(f"building the image of {suite}", command)


@contextmanager
def _making(folder: Path) -> Iterator[Path | None]:
    """Yield a temporary folder that becomes `folder` at the end, or None when that exists.

    The lock keeps two runs from building at once, the rename a broken build from looking whole.
    """
    with open(folder.parent / f"{folder.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.exists():
            yield None
            return
        temporary = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
        try:
            yield temporary
            temporary.rename(folder)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def _run(what: str, command: list[str]) -> None:
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        lines = [line for line in done.stdout.splitlines() if line.strip()]
        # The first error of apt is the cause, the later ones are who gave up because of it.
        errors = [line for line in lines if line.startswith("E:")]
        reason = errors[0] if errors else lines[-1] if lines else "no output"
        raise Unavailable(f"{what} failed: {reason}")
