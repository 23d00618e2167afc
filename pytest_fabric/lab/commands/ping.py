"""`ping`, as iputils 20221126 has it (Debian 12): echo requests from one port to another."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, replace

from pytest_fabric.lab import echoes, netdevs
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.model import Port
from pytest_fabric.lab.process import Process, Result

#: The smallest interval of ordinary users, in seconds.
SHORTEST_S = 0.002

SHOWN = "ping: cannot flood, minimal interval for user must be >= 2 ms, use -i 0.002 (or higher)\n"


@dataclass(frozen=True)
class Options:
    """What a command line asks for; `whole` is `-M do`, `-I` may name a netdev and an address."""

    host: str
    count: int = 10
    interval_s: float = 1.0
    payload: int = 56
    linger_s: float = 10.0
    whole: bool = False
    device: str | None = None
    source: str | None = None


class UsageError(Exception):
    """A command line that ping refuses; its text is what it prints."""


def run(call: Call) -> Result | Process:
    """Send the packets, and print what came back when the last one has been waited for."""
    try:
        options = _options(call.argv[1:])
        sender = _sender(call, options)
    except UsageError as error:
        return Result(2, stderr=str(error))
    if options.interval_s < SHORTEST_S:
        return Result(2, _header(options, sender), SHOWN)
    if not _is_address(options.host):
        return Result(2, stderr=f"ping: {options.host}: Name or service not known\n")
    return _Ping(call, options, sender)


def _options(words: tuple[str, ...]) -> Options:
    options, left = Options(""), list(words)
    try:
        while left and left[0].startswith("-"):
            flag = left.pop(0)
            options = options if flag == "-n" else _with(options, flag, left.pop(0))
    except (IndexError, ValueError):
        raise UsageError("ping: invalid argument\n") from None
    if len(left) != 1:
        raise UsageError("ping: usage error: Destination address required\n")
    return replace(options, host=left[0])


def _with(options: Options, flag: str, value: str) -> Options:
    match flag:
        case "-c":
            return replace(options, count=int(value))
        case "-i":
            return replace(options, interval_s=float(value))
        case "-s":
            return replace(options, payload=int(value))
        case "-W":
            return replace(options, linger_s=float(value))
        case "-M" if value == "do":
            return replace(options, whole=True)
        case "-I" if _is_address(value):
            return replace(options, source=value)
        case "-I":
            return replace(options, device=value)
    raise UsageError(f"ping: invalid option -- '{flag.lstrip('-')}'\n")


def _is_address(word: str) -> bool:
    try:
        ipaddress.ip_address(word)
    except ValueError:
        return False
    return True


def _sender(call: Call, options: Options) -> Port:
    """Return the port that packets leave by: the named one, else the one in the host's network."""
    ports = [port for port in call.node.ports if port.is_ethernet]
    if options.device is not None:
        ports = [port for port in ports if options.device in _netdevs(port)]
        if not ports:
            raise UsageError(f"ping: unknown iface: {options.device}\n")
    if options.source is not None:
        ports = [port for port in ports if str(port.address) == options.source]
        if not ports:
            raise UsageError("ping: bind: Cannot assign requested address\n")
    if not ports or ports[0].state != "ACTIVE":
        raise UsageError("ping: connect: Network is unreachable\n")
    return ports[0]


def _netdevs(port: Port) -> tuple[str, ...]:
    """Return the netdevs that carry a port, a bond of them included."""
    return (*port.netdevs, netdevs.bond(port)) if port.is_bond else port.netdevs


def _header(options: Options, sender: Port) -> str:
    place = f" from {options.source or sender.address} {options.device or ''}".rstrip()
    place = f"{place}:" if options.source or options.device else ""
    headers = 28 if sender.address.version == 4 else 48
    size = f"{options.payload}({options.payload + headers})" if headers == 28 else options.payload
    ending = " bytes of data." if headers == 28 else " data bytes"
    return f"PING {options.host} ({options.host}){place} {size}{ending}\n"


class _Ping(Process):
    """A ping that runs: it prints all when it ends, as through a pipe."""

    def __init__(self, call: Call, options: Options, sender: Port) -> None:
        super().__init__()
        self._options = options
        chance = call.fabric.chance(f"ping {sender.id} {options.host} {options.payload}")
        packets = echoes.Packets(
            options.host, options.count, options.payload, options.whole, options.interval_s
        )
        self._echoes = echoes.send(call.fabric, sender, packets, chance)
        self._text = _header(options, sender)
        clock = call.fabric.clock
        seconds = (options.count - 1) * options.interval_s
        seconds += 0.001 if self._echoes.times_s else options.linger_s

        def over() -> None:
            with call.fabric.lock:
                self._finish()

        timer = clock.after(clock.real(seconds), over)
        self.when_ended(lambda _: timer.cancel())

    def _finish(self) -> None:
        options, found = self._options, self._echoes
        if found.mtu is not None:
            lines = f"ping: local error: message too long, mtu={found.mtu}\n" * options.count
            statistics = _statistics(options, {}, options.count)
            self.end(Result(1, self._text + statistics, lines))
            return
        replies = "".join(_reply(options, seq, time) for seq, time in found.times_s.items())
        refused = "".join(
            f"From {found.refused_by} icmp_seq={seq} Destination Host Unreachable\n"
            for seq in (range(1, options.count + 1) if found.refused_by else ())
        )
        errors = options.count if refused else 0
        text = self._text + replies + refused + _statistics(options, found.times_s, errors)
        self.end(Result(0 if found.times_s else 1, text))


def _reply(options: Options, seq: int, seconds: float) -> str:
    return (
        f"{options.payload + 8} bytes from {options.host}: icmp_seq={seq} ttl=64 "
        f"time={_time(seconds)} ms\n"
    )


def _time(seconds: float) -> str:
    """Return a time in milliseconds with three digits at most behind the point, as ping does."""
    whole = seconds * 1e6
    digits = 3 if whole < 1e3 else 2 if whole < 1e4 else 1 if whole < 1e5 else 0
    return f"{seconds * 1e3:.{digits}f}"


def _statistics(options: Options, times_s: dict[int, float], errors: int) -> str:
    sent, received = options.count, len(times_s)
    told = f", +{errors} errors" if errors else ""
    loss = f"{100 * (sent - received) / sent:g}% packet loss"
    spent = int((sent - 1) * options.interval_s * 1000)
    lines = [
        "",
        f"--- {options.host} ping statistics ---",
        f"{sent} packets transmitted, {received} received{told}, {loss}, time {spent}ms",
    ]
    if times_s:
        all_times = [time * 1e3 for time in times_s.values()]
        mean = sum(all_times) / received
        deviation = (sum((time - mean) ** 2 for time in all_times) / received) ** 0.5
        shown = (min(all_times), mean, max(all_times), deviation)
        lines.append(f"rtt min/avg/max/mdev = {'/'.join(f'{one:.3f}' for one in shown)} ms")
    else:
        lines.append("")
    return "".join(f"{line}\n" for line in lines)
