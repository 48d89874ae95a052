"""The latencies of whole networks that ship: ``python -m ctm_research.published``."""
