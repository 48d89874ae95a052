"""Language models: published rates, the fit of the engine's coefficients, its figures."""
