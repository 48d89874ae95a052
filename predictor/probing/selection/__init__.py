"""Selectors of networks whose few latencies say most about a device."""
