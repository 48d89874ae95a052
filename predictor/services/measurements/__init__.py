"""An engine against the measured latencies of a user's own table."""
