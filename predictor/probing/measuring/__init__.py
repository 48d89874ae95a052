"""Measuring a plan: the interface of runners, and the runner of this machine."""
