"""Measurements against the bound and the estimate of the roofline: ``ctm evaluate bound``."""
