"""The targets that are chosen."""
