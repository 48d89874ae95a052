"""The CloserToMe network: from operator graphs, device vectors and signatures to log-latency.

What prepares its inputs and what runs the shipped network import no torch: ``config``,
``features``, ``graph_table``, ``reference_rates``, ``scaling``, ``target_facts``, ``term_runtime``
and ``work_terms``. All other files are the networks themselves.
"""
