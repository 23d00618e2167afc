"""A thousand nodes of eight rails are read at once."""

from __future__ import annotations

import time
from pathlib import Path

from pytest_fabric.config import load_text

RAILS = "".join(
    f'  rail{rail}: {{pci: "0000:1{rail}:00.0", network: 10.{rail}.0.0/16}}\n' for rail in range(8)
)
TEXT = (
    "profiles: {cx7: {extends: builtin/cx7-400g-roce}}\n"
    f"nodes: {{'gpu[0001-1000]': {{profile: cx7}}}}\nrails:\n{RAILS}"
)


def test_a_large_fabric_is_read_quickly() -> None:
    """Usually 60 ms; the bound leaves room for a busy machine."""
    load_text(TEXT, Path("cluster.yaml"))
    started = time.process_time()
    cluster = load_text(TEXT, Path("cluster.yaml"))

    assert time.process_time() - started < 0.5
    assert len(cluster.ports()) == 8000


def test_written_out_nodes_are_read_too() -> None:
    """Inventories that scripts write have no node sets."""
    rails = RAILS.replace("  rail", "      rail")
    nodes = "".join(f"  g{n}:\n    profile: p\n    rails:\n{rails}" for n in range(300))
    text = f"profiles: {{p: {{extends: builtin/cx7-400g-roce}}}}\nnodes:\n{nodes}"

    assert len(load_text(text, Path("cluster.yaml")).ports()) == 2400
