"""Our methods on search spaces. Three things bear the name of the paper, and only one is here.

- ``closertome`` of the benchmark's tables is :class:`kernel_posterior.KernelPosterior`: features of
  kernel networks, its own probes, a Bayesian regression. No FiLM, no HODM.
- The network as printed, Eq. (3) to (9), is ``ctm_research.paper.network.PaperNetwork``; ``paper``,
  ``ablation`` and (without a signature) ``graph_network`` train it here.
- The engine that ships is ``predictor.engine.closertome`` with the network of
  ``ctm_research.network.term_network``; ``ctm_research.training`` trains it.
"""
