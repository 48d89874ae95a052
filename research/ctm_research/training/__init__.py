"""Training of the network that the engine ships, on the whole corpus: ``ctm train``.

``examples``, ``inputs`` and ``loss`` are of one block of measurements, ``loop`` draws blocks and
learns. ``calibrate`` widens intervals to their nominal coverage on held-out targets,
``signatures`` makes the shipped signature of each target, ``build`` writes the checkpoint.
"""
