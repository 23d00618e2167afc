"""The small commands answer as the real ones do, to the letter."""

from __future__ import annotations

import pytest

from pytest_fabric.lab.process import Result

from .clusters import INFINIBAND, ROCE, run

CARD = "/sys/class/infiniband/mlx5_0"
ONLY = "ethtool: the lab answers only: " + ", ".join(
    f"ethtool {form} DEVNAME" for form in ("-S", "--show-fec", "-I --show-fec", "-m", "-a")
)
ZERO_GID = "0000:0000:0000:0000:0000:0000:0000:0000"


@pytest.mark.parametrize(
    ("line", "status", "stdout", "stderr"),
    [
        ("uname -r", 0, "6.8.0-71-generic\n", ""),
        ("uname -n", 0, "gpu001\n", ""),
        ("hostname", 0, "gpu001\n", ""),
        ("id -un", 0, "lab\n", ""),
        ("echo a 'b  c'", 0, "a b  c\n", ""),
        ("cat /etc/hostname /none", 1, "gpu001\n", "cat: /none: No such file or directory\n"),
        ("have ethtool none ib_write_lat", 0, "/usr/sbin/ethtool\n/usr/bin/ib_write_lat\n", ""),
        (
            "usable /dev/infiniband/uverbs* /none",
            0,
            "rw /dev/infiniband/uverbs0\nrw /dev/infiniband/uverbs1\n-- /none\n",
            "",
        ),
        ("usable /etc/hostname", 0, "r- /etc/hostname\n", ""),
        ("sudo -n -l ethtool", 0, "/usr/sbin/ethtool\n", ""),
        ("sudo -n -l cat", 1, "", "sudo: a password is required\n"),
        ("/usr/bin/hostname", 0, "gpu001\n", ""),
        ("nosuch", 127, "", "sh: 1: nosuch: not found\n"),
        ("ib_write_lat -V", 1, "Version: 6.24\n", ""),
        (f"grep -sH . {CARD}/ports/*/state", 0, f"{CARD}/ports/1/state:4: ACTIVE\n", ""),
        (f"grep -sH . {CARD}/none {CARD}/fw_ver", 2, f"{CARD}/fw_ver:28.39.1002\n", ""),
        ("grep x /none", 2, "", "grep: /none: No such file or directory\n"),
        ("grep nothing /etc/hostname", 1, "", ""),
        ("grep gpu /etc/hostname", 0, "gpu001\n", ""),
        ("grep -c gpu /etc/hostname", 0, "1\n", ""),
        ("grep -i GPU /etc/hostname", 0, "gpu001\n", ""),
        ("grep -F g.u /etc/hostname", 1, "", ""),
        ("grep 'gpu+' /etc/hostname", 1, "", ""),
        (r"grep 'gpu0\+1' /etc/hostname", 0, "gpu001\n", ""),
        (
            "grep -E 'Max locked memory|Cpus_allowed_list' /proc/self/limits /proc/self/status",
            0,
            "/proc/self/limits:Max locked memory         unlimited            unlimited"
            "            bytes\n/proc/self/status:Cpus_allowed_list:\t0-127\n",
            "",
        ),
    ],
)
def test_answers(line: str, status: int, stdout: str, stderr: str) -> None:
    assert run(line) == Result(status, stdout, stderr)


def test_all_gids_but_the_empty_ones() -> None:
    result = run(f"grep -svxH {ZERO_GID} /sys/class/infiniband/*/ports/*/gids/*")

    assert result.status == 0
    paths = [line.partition(":")[0] for line in result.stdout.splitlines()]
    assert paths == [
        f"/sys/class/infiniband/mlx5_{card}/ports/1/gids/{index}"
        for card in (0, 1)
        for index in range(4)
    ]


def test_a_missing_package_takes_its_programs_away() -> None:
    fault = (ROCE, "gpu001", "tool_missing@gpu001")

    assert run("have ib_write_lat ib_read_bw ethtool", *fault).stdout == "/usr/sbin/ethtool\n"
    assert run("ib_read_bw -V", *fault).status == 127
    assert run("have ib_write_lat", ROCE, "gpu002", "tool_missing@gpu001").stdout


def test_ethtool_prints_statistics_as_the_driver_lists_them() -> None:
    lines = run("ethtool -S enp26s0np0").stdout.splitlines()

    assert lines[0] == "NIC statistics:"
    assert "     rx_discards_phy: 17" in lines
    assert all(line.startswith("     ") and ": " in line for line in lines[1:])


@pytest.mark.parametrize(
    ("line", "status", "stderr"),
    [
        ("ethtool -S none", 96, "Cannot get stats strings information: No such device\n"),
        ("ethtool -S lo", 94, "no stats available\n"),
        ("ethtool -i lo", 71, "Cannot get driver information: Operation not supported\n"),
    ],
)
def test_ethtool_says_why_not(line: str, status: int, stderr: str) -> None:
    assert run(line) == Result(status, "", stderr)


def test_ibv_devinfo_prints_its_usual_form() -> None:
    assert run("ibv_devinfo -d mlx5_0").stdout == (
        "hca_id:\tmlx5_0\n"
        "\ttransport:\t\t\tInfiniBand (0)\n"
        "\tfw_ver:\t\t\t\t28.39.1002\n"
        "\tnode_guid:\t\t\t0c42:a103:0000:0000\n"
        "\tsys_image_guid:\t\t\t0c42:a103:0000:0000\n"
        "\tvendor_id:\t\t\t0x02c9\n"
        "\tvendor_part_id:\t\t\t4129\n"
        "\thw_ver:\t\t\t\t0x0\n"
        "\tboard_id:\t\t\tMT_0000000838\n"
        "\tphys_port_cnt:\t\t\t1\n"
        "\t\tport:\t1\n"
        "\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n"
        "\t\t\tmax_mtu:\t\t4096 (5)\n"
        "\t\t\tactive_mtu:\t\t4096 (5)\n"
        "\t\t\tsm_lid:\t\t\t0\n"
        "\t\t\tport_lid:\t\t0\n"
        "\t\t\tport_lmc:\t\t0x00\n"
        "\t\t\tlink_layer:\t\tEthernet\n"
        "\n"
    )


@pytest.mark.parametrize(
    ("text", "node", "fault", "line"),
    [
        (ROCE, "gpu001", "mtu_low@gpu001:rail0", "active_mtu:\t\t1024 (3)"),
        (ROCE, "gpu001", "port_down@gpu001:rail0", "state:\t\t\tPORT_DOWN (1)"),
        (INFINIBAND, "ib1", "mtu_low@ib1:rail0", "link_layer:\t\tInfiniBand"),
        (INFINIBAND, "ib1", "mtu_low@ib1:rail0", "port_lid:\t\t2"),
    ],
)
def test_ibv_devinfo_shows_faults_and_layers(text: str, node: str, fault: str, line: str) -> None:
    assert line in run("ibv_devinfo", text, node, fault).stdout


def test_ibv_devinfo_without_the_device() -> None:
    assert run("ibv_devinfo -d mlx5_9") == Result(255, "", "No IB devices found\n")


@pytest.mark.parametrize(
    ("line", "fault", "stdout"),
    [
        ("rdma resource show ctx", "gpu_job@gpu001", ""),
        ("rdma -j resource show ctx", "gpu_job@gpu001", "[]\n"),
        (
            "rdma resource show ctx",
            "rdma_context@gpu001:rail1",
            "dev mlx5_1 ctxn 6 pid 4711 comm python \n",
        ),
        (
            "rdma resource show qp",
            "rdma_context@gpu001:rail1",
            "link mlx5_0/1 lqpn 0 type SMI state RTS sq-psn 0 comm [ib_core] \n"
            "link mlx5_0/1 lqpn 1 type GSI state RTS sq-psn 0 comm [ib_core] \n"
            "link mlx5_0/1 lqpn 7 type UD state RTS sq-psn 0 comm [mlx5_ib] \n"
            "link mlx5_1/1 lqpn 0 type SMI state RTS sq-psn 0 comm [ib_core] \n"
            "link mlx5_1/1 lqpn 1 type GSI state RTS sq-psn 0 comm [ib_core] \n"
            "link mlx5_1/1 lqpn 7 type UD state RTS sq-psn 0 comm [mlx5_ib] \n"
            "link mlx5_1/1 lqpn 391 pdn 9 rqpn 391 type RC state RTS rq-psn 1 sq-psn 1 "
            "path-mig-state MIGRATED pid 4711 comm python \n",
        ),
        (
            "rdma -j resource show ctx",
            "rdma_context@gpu001:rail0",
            '[{"ifindex":0,"ifname":"mlx5_0","ctxn":5,"pid":4711,"comm":"python"}]\n',
        ),
        (
            "nvidia-smi --query-compute-apps=pid,process_name --format=csv",
            "rdma_context@gpu001",
            "pid, process_name\n",
        ),
        (
            "nvidia-smi --query-compute-apps=pid,process_name --format=csv",
            "gpu_job@gpu001",
            "pid, process_name\n" + 8 * "4711, python\n",
        ),
        ("stat -c %U:%n /proc/4711", "gpu_job@gpu001", "alice:/proc/4711\n"),
    ],
)
def test_a_job_shows_where_it_is_and_nowhere_else(line: str, fault: str, stdout: str) -> None:
    assert run(line, ROCE, "gpu001", fault) == Result(0, stdout, "")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("rdma resource show cq", "Unknown parameter"),
        ("rdma dev", "Unknown parameter"),
        ("stat /proc/4711", "the lab answers only: stat"),
        ("stat -c %U:%n /proc/4711", "stat: cannot statx '/proc/4711': No such file or directory"),
    ],
)
def test_what_is_not_there_is_an_error(line: str, words: str) -> None:
    result = run(line)

    assert (result.status, result.stdout) == (1, "")
    assert words in result.stderr


def test_nvidia_smi_complains_on_its_standard_output() -> None:
    assert run("nvidia-smi -L").stdout.startswith("nvidia-smi: the lab answers only: ")
