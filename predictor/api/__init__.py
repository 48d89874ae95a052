"""The Python API: what the command line does, as functions with tables for results.

``import predictor as ctm`` has the names of this package; each is loaded where it is first used.
"""
