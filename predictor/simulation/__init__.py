"""Queues as they run: arrivals, servers and batches on a clock of events, seeded."""
