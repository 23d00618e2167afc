"""The companion command `pytest-fabric`."""
