"""`python -m pytest_fabric.lab CLUSTER.yaml`: run a lab until standard input closes."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from pytest_fabric import config
from pytest_fabric.errors import ConfigError
from pytest_fabric.lab import build, faults
from pytest_fabric.lab.commands.id import USER
from pytest_fabric.lab.fabric import Fabric
from pytest_fabric.lab.faults import sources
from pytest_fabric.lab.server import Server
from pytest_fabric.lab.switches import Switches

#: Exit status of a wrong command line, cluster or fault, as pytest's for usage errors.
USAGE = 4


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a lab; print one line of JSON when it takes connections."""
    options = _parser().parse_args(arguments)
    try:
        cluster = config.load(options.cluster)
        known = sources.known(options.faults)
        nodes = faults.inject(build.nodes(cluster), options.fault, known)
    except ConfigError as error:
        print("\n".join(error.lines), file=sys.stderr)
        return USAGE
    seed = cluster.lab.seed if options.seed is None else options.seed
    scale = cluster.lab.time if options.time is None else options.time
    fabric = Fabric((*nodes, *build.switches(cluster)), seed, scale, cluster.lab.start)
    server = Server(fabric)
    broken = _stop_when_broken(server)
    switches = Switches(build.nodes(cluster), fabric, server, options.fault, known)
    _stop_when_told(server, switches)
    ready = {
        "nodes": dict(server.ports),
        "user": USER,
        "host_key": server.host_key,
        "client_key": server.client_key,
    }
    print(json.dumps(ready), flush=True)
    server.serve()
    return 1 if broken else 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        self.exit(USAGE, f"{self.prog}: {message}\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m pytest_fabric.lab", description=__doc__)
    parser.add_argument("cluster", type=Path, help="the cluster file")
    parser.add_argument(
        "--fault", action="append", default=[], metavar="NAME@TARGET", help="inject a fault"
    )
    parser.add_argument(
        "--faults",
        action="append",
        default=[],
        type=Path,
        metavar="FILE",
        help="a file with a function pytest_fabric_faults, whose faults are known too",
    )
    parser.add_argument("--seed", type=int, help="choose other random values")
    parser.add_argument(
        "--time", type=_scale, metavar="SCALE", help="real seconds per simulated second"
    )
    return parser


def _scale(text: str) -> float:
    try:
        scale = float(text)
    except ValueError:
        scale = -1
    if not 0 <= scale <= 10:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 10, got {text!r}")
    return scale


def _stop_when_broken(server: Server) -> list[str]:
    """Stop when a thread fails: a lab that is wrong must not go on; return what failed, later."""
    broken: list[str] = []

    def fail(failure: threading.ExceptHookArgs) -> None:
        broken.append(str(failure.exc_value))
        threading.__excepthook__(failure)
        server.stop()

    threading.excepthook = fail
    return broken


def _stop_when_told(server: Server, switches: Switches) -> None:
    """Stop at the end of standard input and at SIGTERM; Ctrl-C is for whoever started us.

    A line of standard input switches a fault; it is answered with a line of JSON.
    """
    signal.signal(signal.SIGTERM, lambda number, frame: server.stop())
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        rest = b""
        while data := os.read(0, 4096):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                print(json.dumps(switches.told(line.decode(errors="replace"))), flush=True)
        server.stop()

    threading.Thread(target=watch, name="lab-stdin", daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())
