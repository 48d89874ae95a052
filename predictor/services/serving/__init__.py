"""Language models as they are served: latency under a load, the largest load, cards needed."""
