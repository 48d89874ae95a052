"""What starting one operator costs, by family of device and by runtime: the one table of it.

The reasons and sources of each figure are in docs/decisions/0001-launch-overheads.md.
"""

from __future__ import annotations

from predictor.core.metrics import Family

# Microseconds for one operator, whatever the runtime.
_BY_FAMILY: dict[Family, float] = {
    # The floor of an empty timing on seven server GPUs (NeuSight's measurements, ASPLOS 2025).
    Family.GPU: 6.0,
    # No measured floor is at hand: the command path is that of a GPU, so its figure is taken.
    Family.MOBILE_GPU: 6.0,
    # An empty operator of a graph executor with one thread, see the decision record.
    Family.CPU: 2.0,
    Family.MOBILE_CPU: 2.0,
    # Their compilers turn a graph into one program: nothing is started operator by operator.
    Family.NPU: 0.0,
    Family.FPGA: 0.0,
    Family.ASIC: 0.0,
    # Generated code calls its kernels directly.
    Family.MCU: 0.0,
}

# Microseconds for one operator where the runtime decides.
_BY_RUNTIME: dict[tuple[Family, str], float] = {}


def launch_us(family: Family, runtime: str) -> float:
    """Return the overhead of starting one operator, in microseconds."""
    return _BY_RUNTIME.get((family, runtime), _BY_FAMILY[family])
