"""`lspci` is read in linear time, whatever a device calls itself."""

from __future__ import annotations

import time

from pytest_fabric.tools import lspci


def test_a_long_word_among_the_flags_costs_no_time() -> None:
    text = f"0000:c1:00.0 Bridge: B\n\tCESta:\tRxErr+ {'9' * 200_000} BadTLP-\n\n"
    start = time.process_time()

    (device,) = lspci.parse(text)

    assert device.aer_correctable == ("RxErr",)
    assert time.process_time() - start < 2
