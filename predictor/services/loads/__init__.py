"""Loads on boxes: streams of items through pipelines of models on shared units."""
