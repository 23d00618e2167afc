"""Tests of the draft of a cluster file."""
