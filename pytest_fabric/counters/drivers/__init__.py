"""The counters of each driver: one module each, with the public source of names and widths."""

from __future__ import annotations

from pytest_fabric.counters.drivers import (
    bnxt,
    cxgb4,
    ena,
    hns3,
    i40e,
    ice,
    ionic,
    irdma,
    mlx4,
    mlx5,
    qede,
    rxe,
)

DRIVERS = (
    mlx5.DRIVER,
    rxe.DRIVER,
    bnxt.DRIVER,
    ice.DRIVER,
    ice.RDMA_DRIVER,
    irdma.DRIVER,
    ionic.DRIVER,
    ena.DRIVER,
    i40e.DRIVER,
    hns3.DRIVER,
    cxgb4.DRIVER,
    qede.DRIVER,
    mlx4.DRIVER,
)
