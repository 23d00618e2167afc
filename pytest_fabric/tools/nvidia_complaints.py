"""What nvidia-smi says, mostly on stdout, in place of its output."""

from __future__ import annotations

import re

from pytest_fabric.tools.complaints import Known

KNOWN: Known = (
    ("no_driver", re.compile(r"couldn't communicate with the NVIDIA driver")),
    ("no_devices", re.compile(r"No devices were found")),
    ("driver_mismatch", re.compile(r"Driver/library version mismatch")),
    ("failed", re.compile(r"Failed to initialize NVML|Unable to determine the device handle")),
    ("failed", re.compile(r"Failed to (?:process|run) (?:topology|command)|^Unknown Error$")),
    ("not_supported", re.compile(r'^Field ".*" is not a valid field|Invalid combination of input')),
    (
        "not_supported",
        re.compile(r"^Option .* is not recognized|not supported on this (?:platf|sys)"),
    ),
)
