"""The search spaces: graphs, kernels, latencies, and the part of them that training may see."""
