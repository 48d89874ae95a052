"""Facts of a run beside its latency: its memory, operators that are not run, and slow runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

PERCENTILES: Final = (50, 90, 99)
MEDIAN, P90, P99 = PERCENTILES
ON_PROCESSOR: Final = "on the CPU instead"
"""Consequence for operators that the CPU runs because the runtime has no kernel of its own."""


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Memory that a run needs at its peak, without what the runtime takes for itself.

    Attributes:
        weights_bytes: distinct weights, in the precision of the run.
        activations_bytes: the largest set of live activations, operator by operator in order.
        device_bytes: memory of the device; None where it is not known.
    """

    weights_bytes: int
    activations_bytes: int
    device_bytes: int | None = None

    @property
    def peak_bytes(self) -> int:
        """Weights and activations together."""
        return self.weights_bytes + self.activations_bytes


@dataclass(frozen=True, slots=True)
class Unsupported:
    """Operators that a runtime does not run on a unit, by its own published list.

    Attributes:
        operators: their names.
        types: their ONNX types, the most frequent first.
        runtime: the runtime's part, for people.
        consequence: what happens to them, in words.
        source: of the list, with its version.
    """

    operators: tuple[str, ...]
    types: tuple[str, ...]
    runtime: str
    consequence: str
    source: str

    @property
    def falls_back(self) -> bool:
        """Whether the processor runs them instead; else the model does not run."""
        return self.consequence == ON_PROCESSOR


@dataclass(frozen=True, slots=True)
class Tail:
    """A high percentile of runs: over their P50, and the deviation of ln of it upwards."""

    ratio: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Spread:
    """The high percentiles of runs like these on other devices."""

    p90: Tail
    p99: Tail

    def tail(self, percentile: int) -> Tail:
        """Return P90 or P99."""
        return {P90: self.p90, P99: self.p99}[percentile]
