"""The ``ctm`` command: the engine without a window, for scripts and CI."""

from predictor.cli.program import main

__all__ = ["main"]
