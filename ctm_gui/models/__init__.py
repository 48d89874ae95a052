"""The models that are open."""
