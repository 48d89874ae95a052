"""Latency predictors on neural architecture search spaces: ``ctm evaluate nas``.

- ``spaces``: architectures with their graphs and latencies, and the view of them that a method has.
- ``method``, ``scores``, ``additive``: the protocol of a method, its figures, and the additive
  model that several methods and the noise of devices rest on.
- ``baselines``: predictors of other papers, and ``hand-bayes``, hand features with a posterior.
- ``methods``: ours; its docstring says which of them is ``closertome``.
- ``benchmark``: partitions, protocol, suites, finished units, document, page and plots.
"""
