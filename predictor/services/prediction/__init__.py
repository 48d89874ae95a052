"""Predictions of models on targets, and what explains and compares them."""
