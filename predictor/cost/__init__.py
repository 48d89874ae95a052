"""Analytic engines: the cost of an operator graph on a target, from facts alone."""
