"""Measures copies and FP32 matrix products in a process of its own, and prints their rates.

The product is one of ONNX Runtime, whose speed is that of networks.

    in   arguments: seconds for each measurement, and number of cores
    out  one JSON object with the rates of :class:`~predictor.core.records.SustainedRates`
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
import onnxruntime

from predictor.core.metrics import PRODUCT_SIZE
from predictor.probing.networks.product import product_model

COPY_MIB = 256
_FATAL = 4
# Coarser clocks do not resolve the time of one product.
_FINE_S = 1e-3


def measure_copy_bandwidth(seconds: float) -> float:
    """Return the bandwidth of the fastest copy of an array far larger than most caches, in GB/s.

    One thread copies, as numpy does; many cores together may reach more.
    """
    # MiB to float32 elements: 2**20 / 4.
    source = np.ones(COPY_MIB << 18, dtype=np.float32)
    target = np.empty_like(source)
    best = _fastest(lambda: np.copyto(target, source), seconds)
    # Every byte is read once and written once.
    return 2 * source.nbytes / best / 1e9


def measure_product(seconds: float, threads: int = 1) -> float:
    """Return the FP32 rate of ONNX Runtime's fastest product of two matrices, in TFLOP/s.

    A constant matrix is multiplied by, as in the layers of networks.

    Args:
        seconds: for which it is repeated.
        threads: that multiply together.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = _FATAL
    session = onnxruntime.InferenceSession(
        product_model(PRODUCT_SIZE), options, providers=["CPUExecutionProvider"]
    )
    inputs = {"left": np.ones((1, PRODUCT_SIZE, PRODUCT_SIZE), np.float32)}
    best = _fastest(lambda: session.run(None, inputs), seconds, is_alone=threads == 1)
    return 2 * PRODUCT_SIZE**3 / best / 1e12


def _fastest(work: Callable[[], object], seconds: float, *, is_alone: bool = True) -> float:
    """Repeat ``work`` for so long and at least three times; return its shortest time in seconds.

    The time of a thread alone is the processor's, so that other programs count as little as can
    be; the clock's where the resolution of the other one is too coarse, and of several threads.
    """
    fine = time.get_clock_info("process_time").resolution < _FINE_S
    clock = time.process_time if fine and is_alone else time.perf_counter
    work()  # touches the memory
    best = float("inf")
    end = time.perf_counter() + seconds
    runs = 0
    while runs < 3 or time.perf_counter() < end:
        start = clock()
        work()
        best = min(best, clock() - start)
        runs += 1
    return best


def main(arguments: Sequence[str]) -> int:
    """Measure each rate for the seconds in the arguments, with so many cores, and print JSON."""
    seconds, cores = float(arguments[0]), int(arguments[1])
    of_core = measure_product(seconds)
    rates = {
        "copy_gbps": measure_copy_bandwidth(seconds),
        "product_tflops": of_core,
        "all_cores_tflops": measure_product(seconds, cores) if cores > 1 else of_core,
    }
    sys.stdout.write(json.dumps(rates) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
