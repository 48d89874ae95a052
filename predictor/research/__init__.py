"""The laboratory, in a checkout only and not in the wheel. Each package uses those before it.

- ``sources``: published measurements, one declared module a source.
- ``paper``: the network as printed, with its FiLM fine-tuning.
- ``corpus``: the measurements of all sources in one form (``python -m predictor.research.corpus``).
- ``published``: the latencies that ship (``python -m predictor.research.published``).
- ``training``: of the network that ships.
- ``nas``: methods on search spaces and their benchmark (``ctm evaluate nas``).
- ``bridge``: the same networks measured under every CPU runtime
  (``python -m predictor.research.bridge``).
- ``cards``: networks and operators timed on a CUDA card, read by evaluations alone
  (``python -m predictor.research.cards``).
- ``evaluation``: ``bound``, sources against the physical bound (``ctm evaluate bound``),
  ``engine``, the shipped network trained and held against unseen silicon (``ctm train``), and
  ``judge``, engines by runtime and kind of device (``ctm evaluate classes``).
"""
