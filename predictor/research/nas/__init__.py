"""Latency predictors on neural architecture search spaces: ``ctm evaluate nas``.

- ``spaces``: architectures with their graphs and latencies, and what of them a method may see.
- ``method``, ``scores``, ``additive``: the protocol of a method, its figures, and the additive
  model that several methods and the noise of devices rest on.
- ``baselines``: predictors of other papers, and ``hand-bayes``, hand features with a posterior.
- ``methods``: ours; its docstring says which of them is ``closertome``.
- ``benchmark``: partitions, protocol, suites, what is finished, document, page and plots.
"""
