"""The laboratory, in a checkout only and not in the wheel. Each package uses those before it.

- ``network``: the definition of the networks, in torch.
- ``sources``: published measurements, one declared module a source.
- ``paper``: the network as printed, with its FiLM fine-tuning.
- ``corpus``: the measurements of all sources in one form (``python -m ctm_research.corpus``).
- ``published``: the latencies that ship (``python -m ctm_research.published``).
- ``training``: of the network that ships.
- ``nas``: methods on search spaces and their benchmark (``ctm evaluate nas``).
- ``bridge``: the same networks measured under every CPU runtime
  (``python -m ctm_research.bridge``).
- ``cards``: networks and operators timed on a CUDA card, read by evaluations alone
  (``python -m ctm_research.cards``).
- ``evaluation``: ``bound``, sources against the physical bound (``ctm evaluate bound``),
  ``engine``, the shipped network trained and held against unseen silicon (``ctm train``), and
  ``judge``, engines by runtime and kind of device (``ctm evaluate classes``).
- ``commands``: subjects of ``ctm evaluate``, and ``ctm train``; ``predictor.cli`` finds them here.
"""
