"""Which networks of a pool to run on a device so that a few latencies say most about it."""
