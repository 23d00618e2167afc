"""Who holds RDMA devices and GPUs: the tools' texts are read whole, or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_fabric.cli.parse import parse_text
from pytest_fabric.errors import NotRecognisedError, ToolError
from pytest_fabric.tools import nvidia_smi, rdma_resource

DATA = Path(__file__).parents[1] / "data"
TOOLS = ("rdma-resource", "nvidia-smi")
CASES = [(tool, path.stem) for tool in TOOLS for path in sorted((DATA / tool).glob("*.txt"))]

ROW = st.from_regex(
    r"(dev|link) mlx5_0/[0-9] ([a-z-]{1,6} [a-z0-9\[]{1,5} ){1,9}(comm .{1,9})?\n", fullmatch=True
)


@pytest.mark.parametrize(("tool", "case"), CASES)
def test_every_capture_gives_its_document(tool: str, case: str) -> None:
    wanted = json.loads((DATA / tool / f"{case}.json").read_text())

    document, status = parse_text(tool, (DATA / tool / f"{case}.txt").read_text())

    assert document["results"] == wanted["results"]
    assert ((document["error"] or {}).get("kind"), status) == (wanted["error"], wanted["status"])


@given(st.one_of(st.text(max_size=80), ROW))
def test_any_text_is_read_or_refused_by_name(text: str) -> None:
    for parse in (rdma_resource.parse, nvidia_smi.parse):
        try:
            parse(text)
        except (NotRecognisedError, ToolError):
            continue


@given(st.integers(0, 300))
def test_a_cut_text_never_looks_idle(length: int) -> None:
    """Nothing is read out of half a line; an empty text is for the exit status to judge."""
    text = (DATA / "rdma-resource" / "port-forgotten.txt").read_text()
    whole = rdma_resource.parse(text)

    try:
        part = rdma_resource.parse(text[:length])
    except NotRecognisedError:
        return
    assert part == whole[: len(part)]
    assert len(part) == text[:length].count("\n")


def test_a_long_line_is_refused_at_once() -> None:
    with pytest.raises(NotRecognisedError):
        rdma_resource.parse("link mlx5_0/1" + " a b" * 20_000 + " [\n")


def test_a_name_cannot_play_with_the_terminal() -> None:
    (held,) = rdma_resource.parse("dev mlx5_0 ctxn 1 pid 5 comm a\x1b[2Jb\n")
    (process,) = nvidia_smi.parse("pid, process_name\n5, a\x1b[2Jb\n")

    assert (held.comm, process.name) == ("a?[2Jb", "a?[2Jb")


def test_a_name_cannot_pass_for_the_kernel() -> None:
    (held,) = rdma_resource.parse("dev mlx5_0 ctxn 1 pid 5 comm [mlx5_ib] pid 0\n")

    assert (held.pid, held.comm) == (5, "[mlx5_ib] pid 0")


def test_the_commands_only_show() -> None:
    assert rdma_resource.command("ctx") == ("rdma", "resource", "show", "ctx")
    assert nvidia_smi.command()[1:] == ("--query-compute-apps=pid,process_name", "--format=csv")
    with pytest.raises(ValueError, match="kind"):
        rdma_resource.command("qp link x")
