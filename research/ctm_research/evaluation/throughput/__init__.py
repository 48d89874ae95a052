"""Published rates of several runs at once beside latencies of the same systems.

``pairs`` reads them, ``forms`` fits what several runs bring, ``check`` judges it on systems left
out, ``batches`` judges predicted batches, ``turns`` runs of one thread side by side, ``page``
writes the figures.
"""
