"""Widgets and plots: no decisions."""
