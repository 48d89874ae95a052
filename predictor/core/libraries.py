"""Environment variables that libraries read once, at their first import."""

from __future__ import annotations

import os


def settle_libraries() -> None:
    """Keep onnxruntime silent and NumPy's products on the calling thread.

    To be called before anything imports either. onnxruntime would write a device id and report its
    use. A product that OpenBLAS shares out waits, with the interpreter held, until each of its
    threads had a processor: 60 ms instead of 2 where another program has them, and the window
    stands still.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
