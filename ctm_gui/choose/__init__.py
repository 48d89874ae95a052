"""Hardware for the open models and a budget, ranked by its chance."""
