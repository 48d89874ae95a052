"""Rates that this machine sustains, measured in a child process: copies, FP32 matrix products.

Measured values are lower than a datasheet's peaks and stay apart from them: their source says
"measured on this machine" and the day. A child process (:mod:`.sustained_rates`), so that its
memory and threads go with it.
"""

from __future__ import annotations

import json
import subprocess
import time
from dataclasses import replace
from datetime import UTC, datetime

from predictor.core.child_start import child_command, child_environment
from predictor.core.errors import HostError
from predictor.core.metrics import (
    COMPUTED_HERE,
    CORE_FP32,
    MEASURED_HERE,
    MEASURED_PRODUCT,
    NO_BANDWIDTH,
)
from predictor.core.progress import CancelToken, Progress, ProgressCallback, no_progress
from predictor.core.records import Device, MeasuredRate, SustainedRates
from predictor.devices.peaks import fastest_cores

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
_RATES = ("copy_gbps", "product_tflops", "all_cores_tflops")
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
    times the cores, which all of them together do not pass. All cores multiply no slower than one
    of them: where they did, other programs had them, and the rate of the one stands for both.
    """

    def rate(value: float, what: str) -> MeasuredRate:
        source = f"{MEASURED_HERE}, {result.day}: {what}, sustained"
        return MeasuredRate(float(f"{value:.{_DIGITS}g}"), source)

    copy = rate(result.copy_gbps, "copy of a large array")
    of_core = rate(result.product_tflops, f"{MEASURED_PRODUCT}, one core")
    together = result.product_tflops * fastest_cores(device)
    of_all = max(result.all_cores_tflops, result.product_tflops)
    measured = {
        "dram_bw_gbps": copy,
        "fp32_tflops": rate(of_all, f"{MEASURED_PRODUCT}, all cores"),
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
