"""Analytic engines: what an operator graph costs on a target, from facts alone."""
