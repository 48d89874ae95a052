"""Hardware for models and a budget: ranked options, and the measurement that would settle it."""
