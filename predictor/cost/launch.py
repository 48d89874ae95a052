"""Time to start one operator, by family of device, where the runtime does not say otherwise.

The reasons and sources of each figure are in docs/decisions/0001-roofline-choices.md.
"""

from __future__ import annotations

from predictor.core.metrics import Family
from predictor.core.runtimes import CPUS, runtime_of

# Microseconds for one operator, whatever the runtime.
_BY_FAMILY: dict[Family, float] = {
    # The floor of an empty timing on server GPUs (measurements of NeuSight, ASPLOS 2025).
    Family.GPU: 6.0,
    # No measured floor is at hand; commands take at least the path that they take on a GPU.
    Family.MOBILE_GPU: 6.0,
    # An empty operator of a graph executor on one thread: benchmarks/launch_overhead.py.
    Family.CPU: 0.2,
    Family.MOBILE_CPU: 0.2,
    # Their compilers turn a graph into one program: nothing is started operator by operator.
    Family.NPU: 0.0,
    Family.FPGA: 0.0,
    Family.ASIC: 0.0,
    # Generated code calls its kernels directly.
    Family.MCU: 0.0,
}


def launch_us(family: Family, runtime: str) -> float:
    """Return the overhead of starting one operator, in microseconds."""
    of_runtime = runtime_of(runtime).cpu_launch_us if family in CPUS else None
    return _BY_FAMILY[family] if of_runtime is None else of_runtime
