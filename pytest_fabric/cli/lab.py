"""`pytest-fabric lab`: a lab for hand use, and switches for its faults from another terminal."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import yaml

from pytest_fabric import config, endpoints
from pytest_fabric.config import Cluster
from pytest_fabric.errors import ConfigError
from pytest_fabric.prove import catalogue
from pytest_fabric.report.clean import clean_line

#: Seconds after which an answer of the lab is given up.
ANSWER_S = 10.0

#: How often it is looked whether the lab is still there, in seconds.
LOOK_S = 0.5


def usual_place() -> Path:
    """Return where the files of a user's running lab are: one lab at a time."""
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime:
        return Path(runtime) / "pytest-fabric-lab"
    return Path(tempfile.gettempdir()) / f"pytest-fabric-lab-{os.getuid()}"


def up(path: Path, place: Path, say: Callable[[str], None]) -> None:
    """Run a lab until Ctrl-C or SIGTERM; nothing of it is left then. Raises ConfigError."""
    cluster = config.load(path)
    if cluster.transport != "lab":
        raise ConfigError(
            f"{path.name}: expected transport lab, got {cluster.transport}: there is nothing to run"
        )
    hook = path.resolve().parent / "conftest.py"
    files = [hook] if hook.exists() and catalogue.HOOK in hook.read_text() else []
    signal.signal(signal.SIGTERM, _interrupt)
    with contextlib.suppress(KeyboardInterrupt), _folder(place):
        lab = endpoints.Lab(cluster, (), files)
        try:
            _write(place, cluster, lab.address)
            with _control(place, lab):
                for line in _greeting(place, cluster):
                    say(line)
                while lab.is_running:
                    threading.Event().wait(LOOK_S)
            raise ConfigError("lab: expected it to run until Ctrl-C, found that it has ended")
        finally:
            lab.close()


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt(f"signal {number}")


@contextlib.contextmanager
def _folder(place: Path) -> Iterator[None]:
    """Make the folder of a lab, ours alone, and remove it at the end. Raises ConfigError."""
    if (place / "control").exists() and _is_live(place):
        raise ConfigError(f"{place}: a lab runs there already: end it, or choose another --at")
    if place.exists():
        _require_ours(place)
        shutil.rmtree(place)  # of a lab that was killed
    place.mkdir(mode=0o700, parents=True)
    try:
        yield
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _is_live(place: Path) -> bool:
    try:
        ask(place, "status")
    except ConfigError:
        return False
    return True


def _require_ours(place: Path) -> None:
    """Raise ConfigError for anything that no lab of this user has left."""
    found = place.lstat()
    known = {"control", "ssh_config", "known_hosts", "key", "cluster.yaml"}
    is_ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    if not is_ours or not {one.name for one in place.iterdir()} <= known:
        raise ConfigError(
            f"{place}: expected nothing there, or what a lab has left: choose another --at"
        )


def _write(place: Path, cluster: Cluster, address: Mapping[str, Any]) -> None:
    """Write what OpenSSH and a run of pytest need to reach the lab."""
    key = place / "key"
    key.touch(mode=0o600)
    key.write_text(address["client_key"])
    ports: Mapping[str, int] = address["nodes"]
    known = [f"[127.0.0.1]:{port} {address['host_key']}" for port in ports.values()]
    (place / "known_hosts").write_text("\n".join([*known, ""]))
    addresses = {name: switch.address for name, switch in cluster.switches.items()}
    addresses |= {name: node.address for name, node in cluster.nodes.items()}
    hosts = [
        f"Host {' '.join(dict.fromkeys((name, addresses[name])))}\n"
        f"  HostName 127.0.0.1\n  Port {port}\n  User {address['user']}\n"
        f'  IdentityFile "{key}"\n  IdentitiesOnly yes\n'
        f'  UserKnownHostsFile "{place / "known_hosts"}"\n  StrictHostKeyChecking yes\n'
        for name, port in ports.items()
    ]
    (place / "ssh_config").write_text("\n".join(hosts))
    document = yaml.safe_load(Path(cluster.source).read_text())
    document["transport"] = "ssh"
    document["ssh"] = {"config": str(place / "ssh_config")}
    if "cables" in document:
        document["cables"] = str(Path(cluster.source).resolve().parent / document["cables"])
    (place / "cluster.yaml").write_text(yaml.safe_dump(document, sort_keys=False))


def _greeting(place: Path, cluster: Cluster) -> Iterator[str]:
    for name in cluster.nodes:
        yield f"ssh -F {place / 'ssh_config'} {name}"
    yield f"pytest suites/ --fabric-cluster {place / 'cluster.yaml'}"
    at = "" if place == usual_place() else f" --at {place}"
    yield f"pytest-fabric lab fault NAME@TARGET{at}    (mend NAME@TARGET, status)"
    yield "Ctrl-C ends the lab"


@contextlib.contextmanager
def _control(place: Path, lab: endpoints.Lab) -> Iterator[None]:
    """Take the questions of other terminals while the lab runs."""
    with socket.socket(socket.AF_UNIX) as taking:
        taking.bind(str(place / "control"))
        taking.listen()
        threading.Thread(target=_serve, args=(taking, lab), daemon=True).start()
        yield


def _serve(taking: socket.socket, lab: endpoints.Lab) -> None:
    while True:
        try:
            asking, _ = taking.accept()
        except OSError:
            return  # the lab has ended
        with asking, contextlib.suppress(OSError):  # who asked has gone
            asking.settimeout(ANSWER_S)
            with asking.makefile("rw") as stream:
                stream.write(json.dumps(lab.told(stream.readline())) + "\n")


def ask(place: Path, line: str) -> list[str]:
    """Return the faults that are on in a running lab, after what was asked. Raises ConfigError."""
    try:
        with socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(ANSWER_S)
            asking.connect(str(place / "control"))
            with asking.makefile("rw") as stream:
                stream.write(f"{line}\n")
                stream.flush()
                answer = stream.readline()
        told = json.loads(answer)
    except (OSError, ValueError):
        raise ConfigError(
            f"{place}: expected a lab that runs, found none: start it with `pytest-fabric lab up`"
        ) from None
    if "error" in told:
        raise ConfigError(clean_line(told["error"]))
    return [clean_line(fault) for fault in told["faults"]]
