"""`pytest-fabric init`: a first cluster.yaml from what the nodes show, and the suites beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pytest_fabric.cli.refusals import EXIT_NO, refusals, refuse

EPILOG = """\
Examples:\n
  pytest-fabric init --lab                              # the embedded lab, for a first try\n
  pytest-fabric init 'gpu[001-064]' --user ops --jump bastion\n
  pytest-fabric init --ansible hosts.yml --group gpu\n
  salloc -N 16 pytest-fabric init --slurm\n
Exit status: 0 written, 1 no node answered, 4 the call is wrong or the file is there already.
"""


def init(
    nodes: Annotated[
        list[str] | None, typer.Argument(help="Nodes, as node sets such as gpu[001-064]")
    ] = None,
    ansible: Annotated[
        Path | None, typer.Option(help="Take the nodes of an Ansible inventory (INI or YAML)")
    ] = None,
    group: Annotated[str, typer.Option(help="The group of the Ansible inventory")] = "all",
    slurm: Annotated[
        bool, typer.Option("--slurm", help="Take the nodes of SLURM_JOB_NODELIST")
    ] = False,
    lab: Annotated[
        bool, typer.Option("--lab", help="Describe the embedded lab, which needs no hardware")
    ] = False,
    user: Annotated[str | None, typer.Option(help="Who logs in")] = None,
    jump: Annotated[str | None, typer.Option(help="The host to go through (ProxyJump)")] = None,
    ssh_config: Annotated[
        Path | None, typer.Option(help="An ssh_config file instead of ~/.ssh/config")
    ] = None,
    address: Annotated[
        str | None, typer.Option(help="Where SSH goes, as in {node}.mgmt; default: the name")
    ] = None,
    output: Annotated[Path, typer.Option(help="The file to write")] = Path("cluster.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Write over an existing file")] = False,
) -> None:
    """Write a first cluster.yaml from what the nodes show, and copy the suites beside it.

    Logs in to every node as the tests would, runs read-only commands, and leaves nothing there:
    ports, PCI addresses, speeds, firmware, networks, and leaves where the switches speak LLDP.
    Files that exist are left as they are.
    """
    from pytest_fabric.cli import drafting
    from pytest_fabric.draft import survey

    with refusals():
        asked = drafting.Asked(
            nodes=tuple(nodes or ()),
            ansible=ansible,
            group=group,
            is_slurm=slurm,
            is_lab=lab,
            user=user,
            jump=jump,
            config=ssh_config,
            address=address,
        )
        if output.exists() and not force:
            raise refuse(f"{output}: expected no file there, found one: --force writes over it")
        try:
            text, said = drafting.draft(asked, output, typer.echo)
        except survey.NobodyError as error:
            raise refuse(str(error), EXIT_NO) from None
        try:
            written = drafting.put(text, output, asked)
        except OSError as error:
            raise refuse(f"{error.filename or output}: cannot write: {error.strerror}") from None
    for line in (*said, *written):
        typer.echo(line)
