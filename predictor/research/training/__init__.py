"""Training of the network that the engine ships, on the whole corpus: ``ctm train``.

``examples``, ``inputs`` and ``loss`` are of one block of measurements, ``loop`` draws blocks and
learns. ``calibrate`` widens intervals until they cover what they say on held-out targets,
``signatures`` makes what ships of each target, ``build`` writes the checkpoint.
"""
