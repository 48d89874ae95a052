"""Streams of items through pipelines of models on a box: what holds, and what binds."""
