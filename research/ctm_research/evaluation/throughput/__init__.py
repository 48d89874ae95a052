"""Published rates of several runs at once beside latencies of the same systems.

``pairs`` reads them, ``forms`` fits what several runs bring, ``check`` judges it on systems left
out, ``batches`` judges predicted batches, ``page`` writes the figures.
"""
