"""Rates that this machine sustains, measured in a child process: copies, FP32 matrix products.

Measured values are lower than a datasheet's peaks and stay apart from them: their source says
"measured on this machine" and the day. The product is ONNX Runtime's, whose speed is that of
networks. A child process, so that its memory and threads go with it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from predictor.core.child_start import child_command, child_environment
from predictor.core.errors import HostError
from predictor.core.metrics import (
    COMPUTED_HERE,
    CORE_FP32,
    MEASURED_HERE,
    MEASURED_PRODUCT,
    PRODUCT_SIZE,
)
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.records import Device, MeasuredRate, SustainedRates
from predictor.devices.detection import NO_BANDWIDTH
from predictor.devices.peaks import fastest_cores

COPY_MIB = 256
SECONDS_PER_RATE = 0.4
_TIME_LIMIT_S = 60.0
_USUAL_S = 2  # both rates, and the start of their process
_MEASURING = "seconds of measuring memory and arithmetic"
_POLL_S = 0.05
_DIGITS = 4  # more change from run to run
# One thread: threads of a product wait for one another where other programs run too.
_THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
_FATAL = 4
_RATES = ("copy_gbps", "product_tflops", "all_cores_tflops")
# Coarser clocks do not resolve the time of one product.
_FINE_S = 1e-3
_ACTION = "try again when the machine is less busy"


def run_self_test(
    cores: int = 1,
    seconds_per_rate: float = SECONDS_PER_RATE,
    cancel: CancelToken | None = None,
    progress: ProgressCallback = no_progress,
) -> SustainedRates:
    """Measure copy bandwidth and FP32 matrix products in a child process, about two seconds.

    Args:
        cores: that multiply together, after one alone.
        seconds_per_rate: time for which each measurement is repeated.
        cancel: ends the child within a tenth of a second.
        progress: gets each second that went by, and at the end that all of them have.

    Raises:
        HostError: when the child fails or takes over a minute.
        CancelledError: when it was cancelled.
    """
    with subprocess.Popen(
        child_command("--self-test", repr(seconds_per_rate), str(cores)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**child_environment(), **dict.fromkeys(_THREADS, "1")},
    ) as child:
        try:
            output = _output(child, cancel or CancelToken(), progress)
        finally:
            child.kill()
        progress(Progress(_USUAL_S, _USUAL_S, _MEASURING))
    if child.returncode != 0:
        raise HostError("self-test", f"its process ended with code {child.returncode}", _ACTION)
    return _parsed(output)


def with_measured_rates(device: Device, result: SustainedRates) -> Device:
    """Return ``device`` with the measured rates, as metrics too where it states none of its own.

    A bandwidth or FP32 rate that the device has from a datasheet is not replaced; one that was
    computed from its cores is, since a virtual machine may hide their clock: by that of one core
    times the cores, which all of them together do not pass.
    """

    def rate(value: float, what: str) -> MeasuredRate:
        source = f"{MEASURED_HERE}, {result.day}: {what}, sustained"
        return MeasuredRate(float(f"{value:.{_DIGITS}g}"), source)

    copy = rate(result.copy_gbps, "copy of a large array")
    of_core = rate(result.product_tflops, f"{MEASURED_PRODUCT}, one core")
    together = result.product_tflops * fastest_cores(device)
    measured = {
        "dram_bw_gbps": copy,
        "fp32_tflops": rate(result.all_cores_tflops, f"{MEASURED_PRODUCT}, all cores"),
        CORE_FP32.name: of_core,
    }
    peaks = {
        "dram_bw_gbps": copy,
        "fp32_tflops": rate(together, f"{MEASURED_PRODUCT}, one core, times cores"),
    }
    added = {
        name: rate
        for name, rate in peaks.items()
        if name not in device.metrics or device.sources.get(name) == COMPUTED_HERE
    }
    return replace(
        device,
        metrics={**device.metrics, **{name: rate.value for name, rate in added.items()}},
        sources={**device.sources, **{name: rate.source for name, rate in added.items()}},
        measured={**device.measured, **measured},
        notes=device.notes.replace(NO_BANDWIDTH, "").strip(),
    )


def measure_copy_bandwidth(seconds: float = SECONDS_PER_RATE) -> float:
    """Return the bandwidth of the fastest copy of an array far larger than most caches, in GB/s.

    One thread copies, as numpy does; many cores together may reach more.
    """
    # MiB to float32 elements: 2**20 / 4.
    source = np.ones(COPY_MIB << 18, dtype=np.float32)
    target = np.empty_like(source)
    best = _fastest(lambda: np.copyto(target, source), seconds)
    # Every byte is read once and written once.
    return 2 * source.nbytes / best / 1e9


def measure_product(seconds: float = SECONDS_PER_RATE, threads: int = 1) -> float:
    """Return the FP32 rate of ONNX Runtime's fastest product of two matrices, in TFLOP/s.

    A constant matrix is multiplied by, as in the layers of networks.

    Args:
        seconds: for which it is repeated.
        threads: that multiply together.
    """
    # Not above: the parent needs neither.
    import onnxruntime  # noqa: PLC0415

    from predictor.probing.networks.product import product_model  # noqa: PLC0415

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.log_severity_level = _FATAL
    session = onnxruntime.InferenceSession(
        product_model(PRODUCT_SIZE), options, providers=["CPUExecutionProvider"]
    )
    inputs = {"left": np.ones((1, PRODUCT_SIZE, PRODUCT_SIZE), np.float32)}
    best = _fastest(lambda: session.run(None, inputs), seconds, is_alone=threads == 1)
    return 2 * PRODUCT_SIZE**3 / best / 1e12


def _output(child: subprocess.Popen[str], cancel: CancelToken, progress: ProgressCallback) -> str:
    """Wait for the child's output, looking at ``cancel`` meanwhile."""
    start, seconds = time.monotonic(), -1
    while (elapsed := time.monotonic() - start) < _TIME_LIMIT_S:
        cancel.check()
        if seconds < int(elapsed) < _USUAL_S:
            seconds = int(elapsed)
            progress(Progress(seconds, _USUAL_S, _MEASURING))
        try:
            return child.communicate(timeout=_POLL_S)[0]
        except subprocess.TimeoutExpired:
            continue
    raise HostError("self-test", f"it took over {_TIME_LIMIT_S:.0f} seconds", _ACTION)


def _parsed(output: str) -> SustainedRates:
    """Read the child's last line; libraries may have printed others before it."""
    try:
        values = json.loads(output.splitlines()[-1])
        day = datetime.now(tz=UTC).date().isoformat()
        return SustainedRates(**{name: float(values[name]) for name in _RATES}, day=day)
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise HostError("self-test", "its process gave no result", _ACTION) from error


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
