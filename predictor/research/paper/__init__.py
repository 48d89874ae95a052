"""The network as the paper prints it, Eq. (3) to (9): ``nas.methods`` trains it on search spaces.

What it shares with the shipped network stands in ``predictor.network``: graph layers, FiLM, HODM.
"""
