"""The comparison of latency predictors on neural architecture search spaces."""
