"""The read-only allow-list: what may be run on a node, arguments included.

Nodes are production machines. A command that is not described here is refused before it is sent;
options that change or clear something are not described.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Sequence
from functools import lru_cache

from pytest_fabric.errors import RefusedCommandError

READABLE = (
    r"/sys/\S+|/dev/infiniband/\S+|/etc/os-release|"
    r"/proc/(uptime|cmdline|self/limits|self/status|net/tcp6?|net/route|"
    r"irq/\*/effective_affinity_list|sys/kernel/numa_balancing|"
    r"sys/net/core/([rw]mem_max|netdev_max_backlog)|"
    r"sys/net/ipv4/(tcp_[rw]mem|conf/\*/(arp_ignore|arp_announce|rp_filter)))"
)
NAME = r"[A-Za-z0-9_.:@-]+"
HOST = r"[A-Za-z0-9:][A-Za-z0-9_.:%-]*"

#: Each pattern must match the whole command line, words joined by single blanks.
PATTERNS = (
    rf"grep -s(vx)?H \S+( ({READABLE}))+",
    rf"grep -E PATTERN( ({READABLE}))+",
    rf"cat( ({READABLE}))+",
    r"readlink -f( /sys/bus/pci/devices/[0-9a-f:.]+)+",
    r"uname -r",
    r"id -un",
    rf"have( {NAME})+",
    rf"usable( ({READABLE}))+",
    rf"ethtool (-[Saim]|(-I )?--show-fec) {NAME}",
    r"(mlxlink|mstlink) -d [0-9a-f:.]+ -m -c --json",
    r"lspci -vvv -D( -s [0-9a-f:.]+)?",
    rf"mlnx_qos -i {NAME}",
    rf"dcb -N -j (pfc|app) show dev {NAME}",
    r"devlink -j dev info",
    r"dmesg",
    r"journalctl -k -b --no-pager -o short-monotonic --since=-1h",
    r"ibv_devinfo",
    r"lldpcli show neighbors -f json0",
    rf"lldptool -t -n -i {NAME}",
    rf"sminfo( -C {NAME} -P \d+)?",
    rf"iblinkinfo --line( -C {NAME} -P \d+)?( -D 0)?",
    r"rdma resource show (ctx|qp)",
    r"show (version|interfaces (status|counters fec-stats)|pfc counters|lldp neighbors)",
    r"show queue watermark unicast",
    r"(portstat|queuestat|wredstat) -j",
    r"sonic-cfggen -d --var-json (PORT_QOS_MAP|QUEUE|WRED_PROFILE)",
    r"nvidia-smi --query-compute-apps=pid,process_name --format=csv",
    r"stat -c %U:%n( /proc/[0-9]+)+",
    rf"ping -n -c \d{{1,5}} -i \d+(\.\d{{1,3}})? -s \d{{1,5}}( -W \d{{1,2}})?( -M do)?"
    rf"( -I {HOST}){{0,2}} {HOST}",
    rf"iperf3 -J -s -1 -B {HOST} -p \d{{1,5}}",
    rf"iperf3 -J -c {HOST} -B {HOST} -p \d{{1,5}} -t \d{{1,4}} -P \d{{1,3}}",
    r"ss -tinH dst ([0-9.]+|\[[0-9a-f:.]+\]):\d{1,5}",
    rf"mpirun -np \d{{1,5}} -H {NAME}:\d+(,{NAME}:\d+)* --bind-to numa"
    r"( -x [A-Z][A-Z0-9_]*=[\w.,:=^/+-]+)* (/[\w./-]+/)?all_reduce_perf"
    r" -b \d+ -e \d+ -f 2 -g 1 -n \d{1,5}",
    r"srun (--immediate=60|--jobid=\d{1,10} --overlap) --nodes=\d{1,5} --ntasks=\d{1,6}"
    rf" --ntasks-per-node=\d{{1,3}} --gpus-per-node=\d{{1,3}} --nodelist={NAME}(,{NAME})*"
    r" --kill-on-bad-exit=1 env( [A-Z][A-Z0-9_]*=[\w.,:=^/+-]+)* (/[\w./-]+/)?all_reduce_perf"
    r" -b \d+ -e \d+ -f 2 -g 1 -n \d{1,5}",
    r"sleep ([1-9](\.[0-9]{1,3})?|0\.[0-9]{1,3})",
    rf"sudo -n -l {NAME}",
    r"ib_(write|read|send)_lat -V",
    r"ib_(write|read|send)_(lat|bw)"
    r"( (-F|-b|-c SRD|--disable_numa|--tclass=\d+|--use_cuda_bus_id=[0-9a-f:.]+|--use_rocm=\d+"
    r"|--use_(cuda|rocm)_dmabuf|--ipv6-addr|-[dipsnDqxS] [\w.:/-]+))*( [A-Za-z0-9_.:-]+)?",
)

#: What keeps the deadline of a tool behind the site's prefix; its seconds follow.
BOUND = ("timeout", "-k", "5")

#: Any of them, as one pattern: a command is looked up among all at once.
ALLOWED = "|".join(f"(?:{pattern})" for pattern in PATTERNS)


def require(argv: Sequence[str], prefix: Sequence[str] = ()) -> None:
    """Raise RefusedCommandError unless the command, without the site's prefix, is allowed."""
    if not _is_allowed(tuple(argv), tuple(prefix)):
        raise RefusedCommandError(
            f"refused to run {shlex.join(_bare(argv, prefix))!r}: it is not on the read-only "
            "allow-list (pytest_fabric/tools/allowed.py)"
        )


@lru_cache(maxsize=4096)  # the counters of a port are read with the same words again and again
def _is_allowed(argv: tuple[str, ...], prefix: tuple[str, ...]) -> bool:
    words = _bare(argv, prefix)
    if words[:2] == ["grep", "-E"] and not "".join(words[2:3]).startswith("-"):
        words[2:3] = ["PATTERN"]  # it may hold blanks
    return not _climbs(words) and re.fullmatch(ALLOWED, " ".join(words)) is not None


def _bare(argv: Sequence[str], prefix: Sequence[str]) -> list[str]:
    """Return a command without what starts it: the site's prefix, its bound, its core, sudo."""
    words = list(argv)
    if prefix and words[: len(prefix)] == list(prefix):
        words = words[len(prefix) :]
        words = words[len(BOUND) + 1 :] if words[: len(BOUND)] == list(BOUND) else words
    if words[:2] == ["taskset", "-c"] and re.fullmatch(r"\d+(,\d+)*", "".join(words[2:3])):
        words = words[3:]
    if words[:2] == ["sudo", "-n"] and (words[2:3] != ["-l"] or len(words) > 4):
        # `sudo -n -l` asks whether a command may be run: one of these, too.
        words = words[3:] if words[2] == "-l" else words[2:]
    return words


def _climbs(words: Sequence[str]) -> bool:
    """Return whether a path leaves the tree that it starts in: `..` may only climb inside it."""
    paths = [word for word in words if word.startswith("/")]
    return any(path.split("/")[1] != posixpath.normpath(path).split("/")[1] for path in paths)
