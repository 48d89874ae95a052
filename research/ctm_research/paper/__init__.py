"""The network as the paper prints it, Eq. (3) to (9): ``nas.methods`` trains it on search spaces.

The parts shared with the shipped network are in ``predictor.network``: graph layers, FiLM, HODM.
"""
