"""A network under one runtime: files, precision and threads, as an adapter sees them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

Operators = list[list[Any]]
"""``[name, kind, time_ns]`` of each operator, as the runner gives them."""

CALIBRATION_RUNS = 4
PROFILED_RUNS = 4


class ConversionError(Exception):
    """A network has no form for a runtime; its text says why."""


@dataclass(frozen=True, slots=True)
class Job:
    """A network under one runtime.

    Attributes:
        source: ONNX file with weights; ``inputs.npz`` lies beside it.
        folder: of the converted files, which belong to runtime and precision.
        precision: fp32 or int8.
        threads: of the runtime.
        module: where PyTorch's own definition comes from; empty for the ONNX file.
    """

    source: Path
    folder: Path
    precision: str
    threads: int = 1
    module: str = ""

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Job:
        """Return the job in a JSON object."""
        return cls(
            Path(fields["source"]),
            Path(fields["folder"]),
            fields["precision"],
            fields["threads"],
            fields["module"],
        )

    def inputs(self) -> dict[str, NDArray[Any]]:
        """Return the inputs by name, in the graph's order."""
        with np.load(self.source.with_name("inputs.npz")) as arrays:
            return {name: arrays[name] for name in arrays.files}

    def calibration(self) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield inputs whose real values are drawn anew each time."""
        generator = np.random.default_rng(1)
        inputs = self.inputs()
        for _ in range(CALIBRATION_RUNS):
            yield {
                name: generator.uniform(-1, 1, array.shape).astype(array.dtype)
                if array.dtype.kind == "f"
                else array
                for name, array in inputs.items()
            }


def medians(runs: Sequence[Sequence[tuple[str, str, float]]]) -> Operators:
    """Return the median time of each operator over runs; equal names are summed in a run.

    Args:
        runs: ``(name, kind, time_ns)`` of each operator in each run.
    """
    totals: dict[tuple[str, str], list[float]] = {}
    for place, run in enumerate(runs):
        for name, kind, time_ns in run:
            totals.setdefault((name, kind), [0.0] * len(runs))[place] += time_ns
    return [[name, kind, round(median(times))] for (name, kind), times in totals.items()]
