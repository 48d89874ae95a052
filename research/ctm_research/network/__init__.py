"""The networks of CloserToMe in torch: from operator graphs and targets to log-latency."""
