"""The commands of a lab node, one module each; `start` runs one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_fabric.lab.commands import (
    cat,
    date,
    dcb,
    devlink,
    dmesg,
    echo,
    ethtool,
    filters,
    grep,
    have,
    hostname,
    iblinkinfo,
    ibnetdiscover,
    ibstat,
    ibv_devinfo,
    id,
    installed,
    ip,
    iperf3,
    journalctl,
    lldpcli,
    ls,
    lspci,
    mlnx_qos,
    mlxlink,
    mpirun,
    names,
    nvidia_smi,
    perfquery,
    perftest,
    ping,
    portstat,
    rdma,
    readlink,
    show,
    sleep,
    sminfo,
    sonic_cfggen,
    srun,
    ss,
    stat,
    sudo,
    taskset,
    uname,
    usable,
)
from pytest_fabric.lab.commands.call import Call
from pytest_fabric.lab.process import Process, Result, ended

Command = Callable[[Call], Result | Process]


def start(call: Call) -> Process:
    """Start a command by the last part of its path; an unknown one ends with status 127."""
    name = call.argv[0].rpartition("/")[2]
    command = (SONIC if call.node.os == "sonic" else COMMANDS).get(name)
    if command is None or not installed.is_reached(call.node, call.argv[0], call.path):
        return ended(Result(127, stderr=f"sh: 1: {call.argv[0]}: not found\n"))
    outcome = command(call)
    return outcome if isinstance(outcome, Process) else ended(outcome)


COMMANDS: Mapping[str, Command] = {
    "cat": cat.run,
    "dcb": dcb.run,
    "devlink": devlink.run,
    "dmesg": dmesg.run,
    "echo": echo.run,
    "ethtool": ethtool.run,
    "grep": grep.run,
    "have": have.run,
    "hostname": hostname.run,
    "iblinkinfo": iblinkinfo.run,
    "ibv_devinfo": ibv_devinfo.run,
    "id": id.run,
    "iperf3": iperf3.run,
    "lspci": lspci.run,
    "mlxlink": mlxlink.run,
    "lldpcli": lldpcli.run,
    "mlnx_qos": mlnx_qos.run,
    "journalctl": journalctl.run,
    "mpirun": mpirun.run,
    "srun": srun.run,
    "nvidia-smi": nvidia_smi.run,
    "ping": ping.run,
    "rdma": rdma.run,
    "readlink": readlink.run,
    "sleep": sleep.run,
    "sminfo": sminfo.run,
    "ss": ss.run,
    "stat": stat.run,
    "sudo": lambda call: sudo.run(call, start),
    "taskset": lambda call: taskset.run(call, start),
    "uname": uname.run,
    "usable": usable.run,
    "date": date.date,
    "head": filters.head,
    "help": lambda call: Result(0, names.told(call.known)),
    "ibdev2netdev": names.ibdev2netdev,
    "ibnetdiscover": ibnetdiscover.run,
    "ibstat": ibstat.run,
    "ibv_devices": names.ibv_devices,
    "ip": ip.run,
    "less": cat.run,
    "ls": ls.run,
    "more": cat.run,
    "nproc": names.nproc,
    "perfquery": perfquery.run,
    "sort": filters.sort,
    "tail": filters.tail,
    "uniq": filters.uniq,
    "uptime": date.uptime,
    "wc": filters.wc,
    "which": names.which,
    "whoami": names.whoami,
    **dict.fromkeys(perftest.PROGRAMS, perftest.run),
}

#: What a switch answers to, beside what each system has.
SONIC: Mapping[str, Command] = {
    "portstat": portstat.ports,
    "queuestat": portstat.queues,
    "wredstat": portstat.marks,
    "show": show.run,
    "sonic-cfggen": sonic_cfggen.run,
    **{name: COMMANDS[name] for name in ("cat", "echo", "hostname", "id", "sleep", "uname")},
    **{name: COMMANDS[name] for name in ("grep", "head", "tail", "wc", "sort", "uniq", "help")},
}
