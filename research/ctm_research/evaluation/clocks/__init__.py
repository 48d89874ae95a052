"""Latency at other clocks against published measurements: data, forms, figures and their page."""
