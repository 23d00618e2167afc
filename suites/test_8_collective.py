"""A collective of all GPUs, where `collectives` in the cluster file says which: nccl-tests."""

from pytest_fabric import catches, measure, nccl_tests


@catches("link_speed", "pcie_width")
@measure(nccl_tests())
def test_bus_bandwidth(result, limits):
    assert result.busbw in limits["collective.busbw"]


@catches("wrong_values")
@measure(nccl_tests())
def test_no_wrong_values(result):
    assert result.wrong == 0


@catches("tclass_override")
@measure(nccl_tests())
def test_class_of_training(result):
    assert result.other_class == 0
