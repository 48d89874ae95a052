"""Targets before any graph: models of their latencies, one a target, and which of them it has."""
