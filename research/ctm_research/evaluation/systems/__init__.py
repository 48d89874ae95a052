"""The systems of published papers side by side on the same measurements: ``ctm evaluate systems``.

- ``field``: the measurements, folds and tables that every system reads; ``registry`` the systems by
  name, each a short file that fits on the training rows of a fold, reads k networks of a target and
  predicts; ``pairs`` trains those that are networks.
- ``run`` asks them, and keeps each finished fold; ``transformers`` is NeuSight's own field;
  ``spaces`` reads search spaces.
- ``precision`` leaves out INT8 of a class, ``words`` asks what a device's text adds, ``lengths``
  how long to train; ``groupings`` takes errors apart by family and kind.
- ``document``, ``page`` and ``plot`` write the result.
"""
