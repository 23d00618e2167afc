"""Perftest as the lab plays it: its options, its handshake and run, and what it prints."""
