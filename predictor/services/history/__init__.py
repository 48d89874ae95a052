"""Stored predictions and measurements, and the store that holds them."""
