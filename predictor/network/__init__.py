"""What predictions need of the CloserToMe network: features of operators and targets, its runtime.

No module imports torch, but those of ``film_tuning``, which run in a child process. The definition
of the network and its training are research.
"""
