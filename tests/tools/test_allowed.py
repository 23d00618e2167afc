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
    "cat /proc/uptime",
    "grep -sH . /sys/class/infiniband/*/device/../../../current_link_speed",
    "grep -E ':4853 02 ' /proc/net/tcp /proc/net/tcp6",
    "grep -E 'Max locked memory|Cpus_allowed_list' /proc/self/limits /proc/self/status",
    "ib_write_lat -d mlx5_0 -i 1 -p 18515 -s 4 -n 20000 -F -x 3 --tclass=106 10.1.0.2",
    "ib_write_bw -d mlx5_0 -i 1 -p 18515 -s 65536 -D 5 -q 4 -F -x 3 --tclass=106",
    "ib_write_lat -V",
    "sudo -n ethtool -S ens1f0np0",
    "podman exec perf ib_write_bw -d mlx5_0 -p 1 -F",
)

WRITES = (
    "ethtool -s ens1f0np0 speed 100000",
    "ethtool -K ens1f0np0 gro off",
    "rm -rf /",
    "cat /etc/shadow",
    "cat /sys/../etc/shadow",
    "cat /sys/class/../../etc/shadow",
    "cat /proc/self/root/etc/shadow",
    "cat /proc/1/environ",
    "grep -sH . /etc/passwd",
    "perfquery -x",
    "ib_write_bw --out_json_file=/tmp/x",
    "ib_write_bw -d mlx5_0 ; reboot",
    "sudo -n reboot",
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
