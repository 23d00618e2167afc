"""`ss -tinH dst ADDRESS:PORT`: connections of TCP to there, as iproute2 6.15 tells of them."""

from __future__ import annotations

from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Result
from pytest_fabric.lab.tcp import Stream

USAGE = "Usage: ss [ OPTIONS ]\n       ss [ OPTIONS ] [ FILTER ]\n"


def run(call: Call) -> Result:
    """Print two lines for each connection; nothing where there is none."""
    if call.argv[1:3] != ("-tinH", "dst") or len(call.argv) != 4:
        return Result(255, stderr=USAGE)
    now = call.fabric.clock.uptime()
    streams = call.fabric.sockets.get(call.node.name, [])
    shown = [_told(one, now) for one in streams if one.peer == call.argv[3]]
    return Result(0, "".join(shown))


def _told(stream: Stream, now: float) -> str:
    passed = max(0.0, min(stream.seconds, now - stream.begun))
    sent = int(passed * stream.bps / 8)
    segments = sent // stream.mss
    lost = int(segments * stream.loss)
    busy = int(passed * 1000)
    held = int(busy * stream.limited)
    again = f" bytes_retrans:{lost * stream.mss}" if lost else ""
    retrans = f" retrans:0/{lost}" if lost else ""
    limited = f" rwnd_limited:{held}ms({100 * stream.limited:.1f}%)" if held else ""
    ms = stream.rtt_s * 1000
    rate = int(stream.bps)
    return (
        f"ESTAB 0      {stream.cwnd:<7} {stream.local} {stream.peer}\n"
        f"\t cubic wscale:14,14 rto:201 rtt:{ms:.3f}/{ms / 20:.3f} ato:40 mss:{stream.mss} "
        f"pmtu:{stream.mss + 52} rcvmss:536 advmss:{stream.mss} cwnd:{stream.cwnd // stream.mss} "
        f"bytes_sent:{sent}{again} bytes_acked:{sent} segs_out:{segments} segs_in:{segments // 2} "
        f"data_segs_out:{segments} send {rate}bps pacing_rate {rate}bps delivery_rate {rate}bps "
        f"delivered:{segments} busy:{busy}ms{limited}{retrans} rcv_space:62636 "
        f"rcv_ssthresh:62636 minrtt:{ms * 0.8:.3f} snd_wnd:{stream.window}\n"
    )
