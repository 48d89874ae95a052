"""The benchmark of ``ctm evaluate nas``: every method on the same splits with the same probes."""
