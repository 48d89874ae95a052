"""The CloserToMe network: from operator graphs, device vectors and signatures to log-latency.

The modules that prepare its inputs and run the shipped network import no torch: ``config``,
``features``, ``graph_table``, ``reference_rates``, ``scaling``, ``target_facts``, ``term_runtime``
and ``work_terms``. All other files are the networks themselves.
"""
