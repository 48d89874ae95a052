"""Search spaces as training material: graphs, latencies that may be seen, what a method is."""
