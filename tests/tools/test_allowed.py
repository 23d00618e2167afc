"""The allow-list: reading is allowed, everything else is refused before it is sent."""

from __future__ import annotations

import shlex

import pytest

from pytest_fabric.errors import RefusedCommandError
from pytest_fabric.tools import allowed

READS = (
    "grep -sH . /sys/class/infiniband/*/fw_ver /proc/irq/*/effective_affinity_list",
    "grep -svxH 0000:0000 /sys/class/infiniband/*/ports/*/gids/*",
    "ethtool -S ens1f0np0",
    "ethtool -a ens1f0np0",
    "mlnx_qos -i ens1f0np0",
    "sudo -n mlnx_qos -i ens1f0np0",
    "dcb -N -j pfc show dev ens1f0np0",
    "dcb -N -j app show dev ens1f0np0",
    "cat /proc/net/route",
    "grep -sH . /proc/sys/net/ipv4/conf/*/arp_ignore /proc/sys/net/ipv4/conf/*/arp_announce",
    "ethtool -i ens1f0np0",
    "devlink -j dev info",
    "lspci -vvv -D",
    "sudo -n lspci -vvv -D",
    "dmesg",
    "sudo -n dmesg",
    "journalctl -k -b --no-pager -o short-monotonic --since=-1h",
    "readlink -f /sys/bus/pci/devices/0000:1a:00.0 /sys/bus/pci/devices/0000:1b:00.0",
    "grep -sH . /proc/sys/net/core/rmem_max /proc/sys/net/ipv4/conf/*/arp_ignore",
    "cat /proc/cmdline",
    "cat /proc/uptime",
    "grep -sH . /sys/class/infiniband/*/device/../../../current_link_speed",
    "grep -E ':4853 02 ' /proc/net/tcp /proc/net/tcp6",
    "grep -E 'Max locked memory|Cpus_allowed_list' /proc/self/limits /proc/self/status",
    "ib_write_lat -d mlx5_0 -i 1 -p 18515 -s 4 -n 20000 -F -x 3 --tclass=106 10.1.0.2",
    "ib_write_bw -d mlx5_0 -i 1 -p 18515 -s 65536 -D 5 -q 4 -F -x 3 --tclass=106",
    "ib_write_lat -V",
    "rdma resource show ctx",
    "rdma resource show qp",
    "nvidia-smi --query-compute-apps=pid,process_name --format=csv",
    "stat -c %U:%n /proc/4711 /proc/12",
    "sleep 2",
    "sleep 1.02",
    "ping -n -c 3000 -i 0.002 -s 8972 -W 2 -M do -I ens1 -I 10.1.0.1 10.1.0.2",
    "ping -n -c 20 -i 0.2 -s 56 fe80::1%ens1",
    "sudo -n ethtool -S ens1f0np0",
    "ethtool --show-fec ens1f0np0",
    "ethtool -I --show-fec ens1f0np0",
    "sudo -n ethtool -m ens1f0np0",
    "sudo -n mlxlink -d 0000:1a:00.0 -m -c --json",
    "mstlink -d 0000:1a:00.0 -m -c --json",
    "lspci -vvv -D -s 0000:1a:00.0",
    "lldpcli show neighbors -f json0",
    "lldptool -t -n -i ens1f0np0",
    "sminfo -C mlx5_0 -P 1",
    "iblinkinfo --line",
    "sudo -n iblinkinfo --line -C mlx5_0 -P 1 -D 0",
    "podman exec perf ib_write_bw -d mlx5_0 -p 1 -F",
)

WRITES = (
    "ethtool -s ens1f0np0 speed 100000",
    "ethtool -K ens1f0np0 gro off",
    "ethtool --set-fec ens1f0np0 encoding off",
    "ethtool -m ens1f0np0 raw on",
    "mlxlink -d 0000:1a:00.0 -m -c --json --pc",
    "mlxlink -d 0000:1a:00.0 -a DN",
    "lspci -vvv -D -s 0000:1a:00.0 -i /etc/shadow",
    "lspci -A dump -O dump.name=/etc/shadow",
    "sminfo -s 2 -p 15",
    "sminfo 1 4",
    "iblinkinfo --line --node-name-map /etc/shadow",
    "lldpcli configure lldp status disabled",
    "lldptool -T -i ens1f0np0 -V PFC enabled=none",
    "perfquery -R 3 9",
    "ibqueryerrors -k",
    "ethtool -A ens1f0np0 rx off tx off",
    "mlnx_qos -i ens1f0np0 --trust dscp",
    "mlnx_qos -i ens1f0np0 -f 0,0,0,1,0,0,0,0",
    "dcb -N -j pfc set dev ens1f0np0 prio-pfc all:off",
    "dcb app flush dev ens1f0np0",
    "cat /proc/sys/net/ipv4/conf/all/../../../../kernel/core_pattern",
    "rm -rf /",
    "cat /etc/shadow",
    "ethtool -i",
    "devlink dev reload pci/0000:1a:00.0",
    "devlink -j dev info show ; reboot",
    "dmesg -C",
    "dmesg --clear",
    "sudo -n dmesg -n 1",
    "journalctl --vacuum-size=1",
    "journalctl -k",
    "lspci -vvv -D -A dump",
    "readlink -f /etc/shadow",
    "readlink -f /sys/bus/pci/devices/../../../etc/shadow",
    "cat /proc/sys/kernel/core_pattern",
    "cat /sys/../etc/shadow",
    "cat /sys/class/../../etc/shadow",
    "cat /proc/self/root/etc/shadow",
    "cat /proc/1/environ",
    "grep -sH . /etc/passwd",
    "perfquery -x",
    "ib_write_bw --out_json_file=/tmp/x",
    "ib_write_bw -d mlx5_0 ; reboot",
    "sudo -n reboot",
    "rdma resource delete qp",
    "rdma resource show qp ; reboot",
    "rdma resource",
    "rdma dev set mlx5_0 name x",
    "rdma link delete rxe0",
    "rdma link add rxe0 type rxe netdev eth0",
    "rdma system set netns exclusive",
    "rdma statistic qp set link mlx5_0/1 auto on",
    "rdma statistic mode supported",
    "rdma -b /tmp/batch resource show qp",
    "nvidia-smi",
    "nvidia-smi -r",
    "nvidia-smi --gpu-reset",
    "nvidia-smi -pm 1",
    "nvidia-smi --clear-accounted-apps",
    "nvidia-smi --query-compute-apps=pid,process_name --format=csv -f /tmp/x",
    "nvidia-smi --query-compute-apps=pid,process_name --format=csv -l 1",
    "stat -c %U:%n /etc/shadow",
    "stat -c %U:%n /proc/4711/root/etc",
    "sleep 1000",
    "sleep infinity",
    "ping -f 10.1.0.2",
    "ping 10.1.0.2",
    "ping -n -c 100 -i 0.2 -s 56 -f 10.1.0.2",
    "ping -n -c 100 -i 0.2 -s 56 -I -f 10.1.0.2",
    "ping -n -c 100 -i 0.2 -s 56 10.1.0.2 ; reboot",
    "sysctl -w net.ipv4.ip_forward=1",
    "",
)


@pytest.mark.parametrize("line", READS)
def test_what_only_reads_is_allowed(line: str) -> None:
    """Every command of ours is on the list, with the site's prefix or with sudo."""
    allowed.require(shlex.split(line), prefix=("podman", "exec", "perf"))


@pytest.mark.parametrize("line", WRITES)
def test_what_could_change_a_node_is_refused(line: str) -> None:
    """Nodes are production machines."""
    with pytest.raises(RefusedCommandError, match="allow-list"):
        allowed.require(shlex.split(line))
