"""The latencies of whole networks that ship: ``python -m predictor.research.published``."""
