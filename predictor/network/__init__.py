"""Features of operators and targets that the CloserToMe network reads, and its runtime.

No module imports torch, but those of ``film_tuning``, which run in a child process. The definition
of the network and its training are research.
"""
