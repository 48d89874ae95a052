"""What starting one operator costs, by family of device and by runtime: the one table of it.

The reasons and sources of each figure are in docs/decisions/0001-roofline-choices.md.
"""

from __future__ import annotations

from predictor.core.metrics import Family

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

# Microseconds for one operator where the runtime decides: PyTorch comes back to Python each time.
_BY_RUNTIME: dict[tuple[Family, str], float] = {
    (Family.CPU, "pytorch"): 0.8,
    (Family.MOBILE_CPU, "pytorch"): 0.8,
}


def launch_us(family: Family, runtime: str) -> float:
    """Return the overhead of starting one operator, in microseconds."""
    return _BY_RUNTIME.get((family, runtime), _BY_FAMILY[family])
