"""Benches: what the product costs, measured against the embedded lab."""
