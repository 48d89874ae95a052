"""Predictions of models on targets, their explanations and comparisons."""
