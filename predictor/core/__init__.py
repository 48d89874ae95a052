"""Foundations of all other packages: errors, units, records, HCV metrics, progress, resources."""
