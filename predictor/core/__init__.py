"""What every room stands on: errors, units, records, HCV metrics, progress, resources."""
