"""Latency over the clocks and power modes of a target."""
