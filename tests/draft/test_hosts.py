"""Where names come from: node sets and Ansible inventories, with how to log in."""

from __future__ import annotations

import pytest

from pytest_fabric.draft.hosts import Host, from_ansible, from_sets
from pytest_fabric.errors import ConfigError

INI = """\
# a comment
bastion ansible_host=192.0.2.1   ; not a node

[gpu]
gpu[001:003] ansible_port=2222
gpu010 ansible_host=10.0.0.10

[storage]
st1

[all:vars]
ansible_user=ops

[gpu:vars]
ansible_user="root"

[cluster:children]
gpu
storage
"""

YAML = """\
all:
  vars: {ansible_user: ops}
  children:
    gpu:
      hosts:
        gpu[001:002]:
        gpu010: {ansible_host: 10.0.0.10, ansible_port: 2222}
    storage: {hosts: {st1: }}
    cluster:
      children: {gpu: , storage: }
"""


def test_node_sets_name_each_machine_once() -> None:
    """Two sets may overlap."""
    found = from_sets(["gpu[001-002]", "gpu[002-003]"])
    assert found == [Host("gpu001"), Host("gpu002"), Host("gpu003")]


def test_an_ini_inventory_has_groups_ranges_and_variables() -> None:
    """What a group says of its members holds, and what a machine says of itself wins."""
    gpu = from_ansible(INI, "hosts", "gpu")

    assert gpu[0] == Host("gpu001", "", 2222, "root")
    assert gpu[3] == Host("gpu010", "10.0.0.10", None, "root")
    assert [host.name for host in from_ansible(INI, "hosts", "cluster")][-1] == "st1"
    assert len(from_ansible(INI, "hosts", "all")) == 6


def test_a_yaml_inventory_says_the_same() -> None:
    """Groups nest, and may be named again where they are empty."""
    gpu = from_ansible(YAML, "hosts.yml", "gpu")

    assert gpu == [
        Host("gpu001", "", None, "ops"),
        Host("gpu002", "", None, "ops"),
        Host("gpu010", "10.0.0.10", 2222, "ops"),
    ]
    assert len(from_ansible(YAML, "hosts.yml", "cluster")) == 4


@pytest.mark.parametrize(
    ("text", "group", "said"),
    [
        (INI, "gpus", "expected a group of all, cluster, gpu, storage"),
        ("[empty]\n", "empty", "expected machines in group empty, found none"),
        ("", "all", "expected machines in group all, found none"),
        ("all:\n  hosts: [a, b]\n", "all", "expected a mapping"),
        ("all:\n  hosts: {a: {\n", "all", "expected a YAML inventory"),
        ("[gpu]\n$(reboot)\n", "gpu", "hosts:2: expected a node set"),
        ("[gpu]\na ansible_port=x\n", "gpu", "expected ansible_port from 1 to 65535"),
        ("[gpu]\na ansible_port=\u00b2\n", "gpu", "expected ansible_port from 1 to 65535"),
        ("[gpu]\na ansible_port=0\n", "gpu", "expected ansible_port from 1 to 65535"),
        ("all:\n  " + "{a: " * 3000, "all", "nested without end"),
        ("all: &a\n  children:\n    b: *a\n", "all", "nested without end"),
    ],
)
def test_what_is_no_inventory_is_one_line(text: str, group: str, said: str) -> None:
    """A wrong inventory must not end as an empty one."""
    with pytest.raises(ConfigError, match=said.replace("(", r"\(")) as caught:
        from_ansible(text, "hosts", group)
    assert "\n" not in str(caught.value)


def test_addresses_are_written_as_cluster_files_have_them() -> None:
    """A name that is its own address needs none."""
    assert Host("a").written() == ""
    assert Host("a", port=22).written() == "a:22"
    assert Host("a", "::1", 22).written() == "[::1]:22"
