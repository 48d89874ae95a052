"""The probing wizard: target, plan, measurement, result."""
