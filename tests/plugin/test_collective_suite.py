"""A collective against the lab: the slowest port decides, and nobody is disturbed."""

from __future__ import annotations

import pytest

from .runs import ended, run, told, verdicts

DECLARED = """
collectives: {launcher: gpu002, gpus_per_node: 2}
"""


def declare(site: pytest.Pytester, declared: str = DECLARED) -> None:
    text = (site.path / "cluster.yaml").read_text()
    text = text.replace("    limits:\n", '    limits:\n      collective.busbw: ">= 80 GB/s"\n', 1)
    (site.path / "cluster.yaml").write_text(text + declared)


def test_a_slow_port_and_wrong_values_are_caught(site: pytest.Pytester) -> None:
    """Slurm starts it here; the proof starts it with mpirun."""
    declare(site, DECLARED.replace("}", ", launch_with: srun}"))
    faults = ("link_speed@gpu003:rail1", "wrong_values@gpu004")
    done = run(site, "-m", "collective", "--fabric-load=disruptive", faults=faults)

    assert done.ret == 1
    assert ended(site) == {
        ("test_bus_bandwidth", "fabric"): "failed",
        ("test_no_wrong_values", "fabric"): "failed",
    }
    assert "8192 MiB: 4" in told(site, "failed")["test_bus_bandwidth", "fabric"]
    assert "Traceback" not in done.stdout.str() + done.stderr.str()


def test_a_run_of_usual_load_skips_it(site: pytest.Pytester) -> None:
    declare(site)
    inventory = site.path / "cluster.yaml"
    inventory.write_text(inventory.read_text().replace("dedicated: true", "dedicated: false"))
    run(site, "-m", "collective")

    assert {v.outcome for v in verdicts(site)} == {"skipped"}
    reason = "collective is disruptive load, this run may only be full: it needs fabric.dedicated"
    assert all((v.message or "").startswith(reason) for v in verdicts(site))


def test_gpus_in_use_are_left_alone(site: pytest.Pytester) -> None:
    declare(site)
    run(site, "-m", "collective", "--fabric-load=disruptive", faults=("gpu_job@gpu001",))

    assert set(ended(site).values()) == {"error"}
    assert all("computes on a GPU" in text for text in told(site, "error").values())
