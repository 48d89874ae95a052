"""Background work: operation, progress, cancel."""
